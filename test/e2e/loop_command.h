// What the tests of `kerf run` and `kerf optimize` share: the binary as a user starts it, with a
// model behind an endpoint on the loopback, and the replies such a model gives.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {

// The key that no output may show.
inline constexpr char kModelKey[] = "sk-e2e-do-not-show-4711";

// The interpreter tasks run in: $KERF_PYTHON, else the one of this tree.
std::string Python();
bool CanImport(const std::string& packages);

std::string ReadAll(const std::filesystem::path& path);

// A cpp candidate over one float tensor: y[i] = `value`.
std::string Kernel(const std::string& value);
// As a model answers that was asked for code.
std::string CodeReply(const std::string& code);

// Runs in a folder of its own. The suite has one cache, so that references are made once. Skipped
// without numpy.
class LoopCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  // `url` is the model's endpoint; empty: there is none.
  ProcessOutcome Kerf(const std::string& url, std::vector<std::string> words);
  // The same for a LiveProcess: env puts the variables in place and becomes kerf.
  [[nodiscard]] std::vector<std::string> LiveWords(const std::string& url,
                                                   const std::vector<std::string>& words) const;
  [[nodiscard]] std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) const;

  TempDir dir_;

 private:
  [[nodiscard]] std::vector<std::string> Environment(const std::string& url) const;
};

}  // namespace kerf::e2e
