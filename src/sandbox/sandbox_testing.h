// What the tests of the sandbox share: a folder of its own for each test, and one way to run a
// program of testcases/ in it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace kerf::sandbox {

// KERF_SANDBOX_PROGRAMS is set by CMake.
inline std::string ProgramFolder() { return KERF_SANDBOX_PROGRAMS; }

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void WriteAll(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// outside/secret is a file of the caller's; work/ is the work folder.
class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<SandboxLevel> level = ChooseLevel(Mode::kRequired, Probe());
    if (!level.ok()) GTEST_SKIP() << level.error().message;
    char name[] = "/tmp/kerf-sandbox-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
    ASSERT_EQ(::mkdir(work().c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((root_ + "/outside").c_str(), 0755), 0);
    WriteAll(secret(), "secret");
    limits_.wall_time = std::chrono::seconds(10);
    limits_.cpu_time = std::chrono::seconds(10);
    limits_.memory_bytes = uint64_t{256} << 20;
    limits_.processes = 32;
    limits_.output_bytes = 100'000;
    limits_.tmp_bytes = 8 << 20;
    limits_.file_bytes = 16 << 20;
    limits_.work_bytes = 32 << 20;
    limits_.work_files = 800;
    limits_.open_files = 256;
    policy_ = Policy::ForSystemPrograms();
    policy_.Read(ProgramFolder(), "/program").WorkFolder(work());
  }

  void TearDown() override {
    if (root_.empty()) return;
    EXPECT_EQ(ReadAll(secret()), "secret");
    const Status removed = RemoveTree(root_);
    EXPECT_TRUE(removed.ok()) << removed.error().message;
  }

  [[nodiscard]] std::string work() const { return root_ + "/work"; }
  [[nodiscard]] std::string secret() const { return root_ + "/outside/secret"; }

  // As on a machine that lacks these.
  void TakeAway(const std::vector<Layer>& layers) {
    mode_ = Mode::kBest;
    for (const Layer layer : layers) available_.Set(layer, false, "taken away by the test");
  }

  Outcome RunCommand(const std::vector<std::string>& argv, const std::string& input = "") {
    const Result<Outcome> outcome = Sandbox(policy_, limits_, mode_, available_).Run(argv, input);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : Outcome();
  }

  Outcome RunCase(const std::string& name, std::vector<std::string> arguments = {},
                  const std::string& input = "") {
    arguments.insert(arguments.begin(), "/program/" + name);
    return RunCommand(arguments, input);
  }

  std::string root_;
  Policy policy_;
  Limits limits_;
  Mode mode_ = Mode::kRequired;
  SandboxLevel available_ = Probe();
};

// For failed expectations.
inline std::string Describe(const Outcome& outcome) {
  return std::string(OutcomeStatusName(outcome.status)) + "/" + ReasonName(outcome.reason) + " (" +
         outcome.detail + ") exit " + std::to_string(outcome.exit_code) + " signal " +
         std::to_string(outcome.signal) + "\nstdout: " + outcome.stdout_text.substr(0, 2000) +
         "\nstderr: " + outcome.stderr_text.substr(0, 2000);
}

}  // namespace kerf::sandbox
