// `kerf debug`, with the built binary: killed at any moment, refused, and its reproduce.sh run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

namespace stdfs = std::filesystem;
using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kHip = R"cpp(#include <hip/hip_runtime.h>
#include <torch/extension.h>
                                   __global__ void scale(float* x, int n) {
                                     int i = threadIdx.x;
                                     if (i < n) x[i] *= 3.0f;
                                   }
                                   torch::Tensor kernel_function(torch::Tensor x) {
                                     hipLaunchKernelGGL(scale, dim3(1), dim3(64), 0, 0, x.data_ptr<float>(), int(x.numel()));
                                     return x;
                                   }
                                   PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
                                     m.def(
                                         "kernel_"
                                         "function",
                                         &kernel_function);
                                   }
)cpp";
constexpr const char* kLabel = "import torch\n\n\ndef double(x):\n    return x * 2\n";
constexpr const char* kWrong = "import torch\n\n\ndef double(x):\n    return x * 3\n";

Json Mem(const std::string& error) {
  return {{"call_err_msg", "None"},
          {"exe_err_msg", error},
          {"reflection", nullptr},
          {"oneshot", "x"},
          {"perf_candidates", Json::array()},
          {"perf_strategy", nullptr},
          {"call_candidate", nullptr},
          {"exe_candidate", nullptr},
          {"temp_strategy", "s"},
          {"perf_debug_num", 0},
          {"pass_call", false},
          {"pass_exe", false},
          {"pass_perf", false}};
}

class Debug : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_.path() + "/" + name, std::ios::binary) << text;
  }

  [[nodiscard]] ProcessOutcome Run(const std::vector<std::string>& words) const {
    Command command{.argv = {KERF_BINARY}, .cwd = dir_.path()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    auto outcome = RunProcess(command);
    EXPECT_TRUE(outcome.ok());
    return *outcome;
  }

  // A pair of files with so many cases that writing them takes a while.
  void WriteMany(int cases) const {
    std::string jsonl;
    Json mem = Json::object();
    for (int i = 0; i < cases; ++i) {
      const std::string name = "case" + std::to_string(i) + ".py";
      jsonl += Json{{"filename", name},
                    {"predict", kHip + std::to_string(i)},
                    {"label", kLabel},
                    {"test_code", "t"},
                    {"instruction", "i"}}
                   .dump() +
               "\n";
      mem[name] = Mem("Time out");
      mem[name]["call_candidate"] = std::string(kHip) + "// changed\n";
    }
    Write("many_0.jsonl", jsonl);
    Write("many_mem_0.json", mem.dump());
  }

  const TempDir dir_;
};

// Starts the extraction and kills it after `micros`; true when it had ended by itself.
bool KillAfter(const std::string& dir, int64_t micros) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(dir.c_str()) != 0) ::_exit(126);
    std::freopen("/dev/null", "w", stdout);
    std::freopen("/dev/null", "w", stderr);
    ::execl(KERF_BINARY, KERF_BINARY, "debug", "extract", "many_0.jsonl", "-o", "out", nullptr);
    ::_exit(127);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(micros));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status);
}

TEST_F(Debug, LeavesNoHalfFolderWhenKilled) {
  WriteMany(300);
  stdfs::create_directories(dir_.path() + "/out/case7");
  Write("out/case7/mine.txt", "mine");
  bool ended = false;
  int killed = 0;
  for (int64_t micros = 4000; !ended && micros < 4'000'000; micros = micros * 3 / 2) {
    ended = KillAfter(dir_.path(), micros);
    killed += ended ? 0 : 1;
    if (!stdfs::exists(dir_.path() + "/out")) continue;
    for (const auto& entry : stdfs::directory_iterator(dir_.path() + "/out")) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_directory() || name[0] == '.') continue;
      if (name == "case7" && stdfs::exists(entry.path() / "mine.txt") &&
          !stdfs::exists(entry.path() / "case.json")) {
        continue;  // still as the person left it
      }
      ASSERT_TRUE(stdfs::exists(entry.path() / "case.json")) << name;
    }
    const ProcessOutcome checked = Run({"debug", "check", "out"});
    // 0: all that is there is right. Nothing there yet is no workspace.
    ASSERT_TRUE(checked.exit_code == 0 ||
                checked.stderr_text.find("no case folder") != std::string::npos)
        << checked.stdout_text << checked.stderr_text;
  }
  EXPECT_GT(killed, 0);
  ASSERT_EQ(Run({"debug", "extract", "many_0.jsonl", "-o", "out"}).exit_code, 0);
  const Json checked = Json::parse(Run({"debug", "check", "out", "--json"}).stdout_text);
  EXPECT_EQ(checked["cases"], 300);
  EXPECT_EQ(checked["wrong"], 0);
  EXPECT_TRUE(stdfs::exists(dir_.path() + "/out/case7/mine.txt"));
  EXPECT_FALSE(stdfs::exists(dir_.path() + "/out/.kerf-staging"));
}

TEST_F(Debug, SaysWhatItDidAndWithWhichExitCode) {
  Write("x_0.jsonl", Json{{"filename", "a.py"}, {"predict", kHip}}.dump() + "\nbroken\n");
  EXPECT_THAT(Run({"debug", "extract", "x_0.jsonl"}).stderr_text, HasSubstr("x_mem_0.json"));
  Write("x_mem_0.json", Json{{"a.py", Mem("k.hip:1:1: error: no")}}.dump());
  const ProcessOutcome summary = Run({"debug", "extract", "x_0.jsonl", "--summary-only", "--json"});
  EXPECT_EQ(summary.exit_code, 0);
  EXPECT_FALSE(stdfs::exists(dir_.path() + "/debug_workspace"));
  const Json found = Json::parse(summary.stdout_text);
  EXPECT_EQ(found["cases"][0]["diagnosis"], "compile_error");
  EXPECT_EQ(found["schema"]["mem"][0]["variant"], "C");
  EXPECT_EQ(found["problems"]["count"], 1);
  stdfs::create_directories(dir_.path() + "/debug_workspace");
  stdfs::create_symlink(dir_.path(), dir_.path() + "/debug_workspace/a");
  const ProcessOutcome refused = Run({"debug", "extract", "x_0.jsonl"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.stderr_text, HasSubstr("symbolic link"));
  Write("x_mem_0.json", "[]");
  EXPECT_NE(Run({"debug", "extract", "x_0.jsonl"}).exit_code, 0);
  EXPECT_EQ(Run({"debug", "extract", "x_0.jsonl", "--all", "--only", "call"}).exit_code, 2);
}

TEST_F(Debug, ClassifiesAndTellsTheHistory) {
  Json passed = Mem("None");
  for (const char* flag : {"pass_call", "pass_exe", "pass_perf"}) passed[flag] = true;
  passed["perf_candidates"] = {{kHip, 1.5, 0.0, "r", nullptr}};
  const std::string line = Json{
      {"filename", "a.py"},
      {"predict", kHip},
      {"label", kLabel},
      {"test_code", "t"},
      {"speedup", 1.5}}.dump();
  Write("r_0.jsonl", line + "\n");
  Write("r_mem_0.json", Json{{"a.py", Mem("x")}}.dump());
  Write("r_1.jsonl", line + "\n");
  Write("r_mem_1.json", Json{{"a.py", passed}}.dump());
  ASSERT_EQ(Run({"debug", "classify", "r_1.jsonl"}).exit_code, 0);
  std::ifstream file(dir_.path() + "/r_1_success.jsonl");
  const Json kept = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  EXPECT_EQ(kept, (Json{{"filename", "a.py"}, {"label", kLabel}, {"test_code", "t"}}));
  const Json history =
      Json::parse(Run({"debug", "history", "r", "--json", "--plot", "p.svg"}).stdout_text);
  EXPECT_EQ(history["cases"][0]["events"].size(), 4U);  // three flags and the best
  EXPECT_EQ(history["cases"][0]["codes"], 1);
  EXPECT_TRUE(stdfs::exists(dir_.path() + "/p.svg"));
}

// The verdict's line of a case's reproduce.sh; empty when no interpreter here has torch.
std::string Reproduce(const std::string& folder) {
  const auto outcome =
      RunProcess({.argv = {"sh", "reproduce.sh"}, .cwd = folder, .environment = std::nullopt});
  EXPECT_TRUE(outcome.ok());
  if (outcome->exit_code == 3) return "";
  return outcome->stdout_text + outcome->stderr_text;
}

TEST_F(Debug, ReproducesTheRecordedFailure) {
  const std::string test =
      "import torch\nresult_gold = call_kernel(torch.ones(8, device='cuda'))\n";
  const std::string test_double = "import torch\nresult_gold = {'one': double(torch.ones(8))}\n";
  Write("x_0.jsonl", Json{{"filename", "names.py"}, {"predict", kHip}, {"test_code", test}}.dump() +
                         "\n" +
                         Json{{"filename", "values.py"},
                              {"predict", kWrong},
                              {"label", kLabel},
                              {"test_code", test_double}}
                             .dump());
  Write("x_mem_0.json",
        Json{{"names.py", Mem("AttributeError: module 'm' has no attribute 'call_kernel'")},
             {"values.py",
              Mem("Generated output does not match reference output for file: values.py")}}
            .dump());
  ASSERT_EQ(Run({"debug", "extract", "x_0.jsonl"}).exit_code, 0);
  ::setenv("KERF", KERF_BINARY, 1);
  const std::string names = Reproduce(dir_.path() + "/debug_workspace/names");
  if (names.empty()) GTEST_SKIP() << "no interpreter here has torch";
  EXPECT_THAT(names, HasSubstr("recorded: symbol_error: AttributeError: module 'm'"));
  EXPECT_THAT(names,
              HasSubstr("call_error (symbol_mismatch): the test calls call_kernel (line 2)"));
  const std::string values = Reproduce(dir_.path() + "/debug_workspace/values");
  EXPECT_THAT(values, HasSubstr("recorded: wrong_result: Generated output does not match"));
  EXPECT_THAT(values, HasSubstr("wrong_value (value): result_gold['one']: wrong_value: 8 of 8"));
}

}  // namespace
}  // namespace kerf::e2e
