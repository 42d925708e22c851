// `kerf bench` as a user runs it, without a model: one task that works, one that is refused, one
// that has to become smaller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
namespace stdfs = std::filesystem;

constexpr char kRest[] = R"(

def get_inputs():
    return [np.random.randn(ROWS, 64).astype(np.float32)]


def get_init_inputs():
    return []
)";

std::string TaskText(const std::string& rows, const std::string& body) {
  return "import numpy as np\n\nROWS = " + rows +
         "\n\n\nclass Model:\n    def __call__(self, x):\n" + body + kRest;
}

std::string ReadAll(const stdfs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class BenchCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* own = std::getenv("KERF_PYTHON");
    python_ = own != nullptr ? own : std::string(KERF_SOURCE_DIR) + "/.venv/bin/python";
    const auto outcome = RunProcess({.argv = {python_, "-c", "import numpy"}});
    if (!outcome.ok() || outcome->exit_code != 0) GTEST_SKIP() << python_ << " has no numpy";
    stdfs::create_directories(Path("tasks"));
    Write("1_relu_numpy.py", TaskText("32", "        return np.maximum(x, 0)\n"));
    Write("2_branch_numpy.py",
          TaskText("32",
                   "        if x.sum() > 0:\n            return x + 1\n        return x * 2\n"));
    Write("10_twice_numpy.py", TaskText("4096", "        return x + x\n"));
    Write("helpers.py", "x = 1\n");
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path("tasks/" + name)) << text;
  }
  [[nodiscard]] std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  ProcessOutcome Bench(std::vector<std::string> words) {
    words.insert(words.begin(), {KERF_BINARY, "bench"});
    const char* path = std::getenv("PATH");
    const auto outcome = RunProcess(
        {.argv = std::move(words),
         .cwd = dir_.path(),
         .environment = {{std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin"),
                          "KERF_PYTHON=" + python_, "KERF_CACHE_DIR=" + Path("cache"),
                          "HOME=" + dir_.path()}},
         .timeout = std::chrono::seconds(250)});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  TempDir dir_;
  std::string python_;
};

TEST_F(BenchCommand, MakesATableThatCanBeResumed) {
  const std::vector<std::string> words = {"tasks",     "--backend",   "cpu",    "--log-dir",
                                          "logs",      "--max-bytes", "131072", "--report",
                                          "page.html", "--json"};
  const ProcessOutcome outcome = Bench(words);
  ASSERT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  ASSERT_EQ(report["tasks"].size(), 3) << outcome.stdout_text;
  const Json& relu = report["tasks"][0];
  EXPECT_EQ(relu["name"], "1_relu_numpy");
  EXPECT_EQ(relu["outcome"], "correct") << relu;
  EXPECT_EQ(relu["family"], "pointwise");
  // A noisy machine may fail to measure a kernel; it is correct all the same.
  if (relu["status"] == "passed") {
    EXPECT_EQ(relu["speedups"][0]["baseline"], "eager");
  } else {
    EXPECT_EQ(relu["reason"], "unstable") << relu;
  }
  EXPECT_TRUE(relu["sizes"]["changed"].empty());
  const Json& branch = report["tasks"][1];
  EXPECT_EQ(branch["outcome"], "refused") << branch;
  EXPECT_EQ(branch["refusal"]["line"], 8);
  EXPECT_EQ(branch["refusal"]["text"], "if x.sum() > 0:");
  const Json& twice = report["tasks"][2];
  EXPECT_EQ(twice["outcome"], "correct") << twice;
  EXPECT_EQ(twice["sizes"]["changed"][0]["name"], "ROWS");
  EXPECT_EQ(twice["sizes"]["changed"][0]["to"], 256);
  EXPECT_EQ(report["total"]["correct"], 2);
  EXPECT_THAT(ReadAll(Path("page.html")), HasSubstr("ROWS 4096 → 256"));

  // Nothing is left to do; a torn line is as good as none, and its task is done from its trace.
  std::string lines = ReadAll(Path("logs/bench.jsonl"));
  const Json again = Json::parse([&] {
    std::vector<std::string> resumed = words;
    resumed.emplace_back("--resume");
    return Bench(resumed).stdout_text;
  }());
  EXPECT_EQ(again["tasks"], report["tasks"]);
  EXPECT_EQ(ReadAll(Path("logs/bench.jsonl")), lines);

  lines.resize(lines.size() - 20);
  std::ofstream(Path("logs/bench.jsonl"), std::ios::binary) << lines;
  std::vector<std::string> resumed = words;
  resumed.emplace_back("--resume");
  const Json last = Json::parse(Bench(resumed).stdout_text);
  EXPECT_EQ(last["tasks"][2]["outcome"], "correct");
  EXPECT_EQ(last["tasks"][2]["speedups"], twice["speedups"]);

  const ProcessOutcome other = Bench({"tasks", "--backend", "cpu", "--log-dir", "logs"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.stderr_text, HasSubstr("already holds a bench; --resume continues it"));

  const ProcessOutcome short_of_steps =
      Bench({"tasks", "--backend", "cpu", "--log-dir", "few", "--limit-steps", "2"});
  EXPECT_EQ(short_of_steps.exit_code, 2);
  EXPECT_THAT(short_of_steps.stderr_text, HasSubstr("are 3 steps"));
}

}  // namespace
}  // namespace kerf::e2e
