// `kerf optimize` as a user runs it: real verdicts, models from a script or behind an endpoint on
// the loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/subprocess.h"
#include "live_process.h"
#include "llm/llm_server_process.h"
#include "loop_command.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
namespace stdfs = std::filesystem;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kGoldens = kSource + "/test/golden/optimize";

#ifdef KERF_SLOW_BUILD
constexpr int kKills = 6;
#else
constexpr int kKills = 24;
#endif

std::string Task(int rows) {
  return "import numpy as np\nclass Model:\n    def __call__(self, x):\n"
         "        return np.maximum(x, 0)\n"
         "def get_inputs():\n    return [np.random.randn(" +
         std::to_string(rows) +
         ", 64).astype(np.float32)]\n"
         "def get_init_inputs():\n    return []\n";
}

class OptimizeCommand : public LoopCommand {
 protected:
  std::string Pairs(const std::string& root, int iterations) {
    std::string text;
    for (int i = 0; i < iterations; ++i) {
      text += ReadAll(Path(root + "_" + std::to_string(i) + ".jsonl"));
      text += ReadAll(Path(root + "_mem_" + std::to_string(i) + ".json")) + "\n";
    }
    return text;
  }
  // What is against the rules of GEAK's loader in the pairs 0 to iterations - 1.
  std::string BrokenRules(const std::string& root, int iterations) {
    std::vector<std::string> argv = {Python(), kSource + "/test/e2e/geak_rules.py", root};
    for (int i = 0; i < iterations; ++i) argv.push_back(std::to_string(i));
    const auto outcome =
        RunProcess({.argv = argv,
                    .cwd = dir_.path(),
                    .environment = {{"LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0"}}});
    EXPECT_TRUE(outcome.ok());
    return outcome->exit_code == 0 ? "" : outcome->stdout_text + outcome->stderr_text;
  }
};

TEST_F(OptimizeCommand, WritesThePairsOfTheGoldens) {
  const ProcessOutcome outcome = Kerf(
      "", {"optimize", kGoldens + "/data_0.jsonl", "--out", "runs/X", "--model",
           "scripted:" + kGoldens + "/script.json", "--no-measure", "--iterations", "4", "--json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;  // one case cannot be judged
  const bool update = std::getenv("KERF_UPDATE_GOLDENS") != nullptr;
  for (int i = 0; i < 4; ++i) {
    for (const std::string& name :
         {"X_" + std::to_string(i) + ".jsonl", "X_mem_" + std::to_string(i) + ".json"}) {
      const std::string written = ReadAll(Path("runs/" + name));
      if (update) std::ofstream(kGoldens + "/" + name, std::ios::binary) << written;
      EXPECT_EQ(written, ReadAll(kGoldens + "/" + name)) << name;
    }
  }
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_TRUE(report["cases"][0]["solved"].get<bool>());
  EXPECT_TRUE(report["cases"][1]["solved"].get<bool>());
  EXPECT_THAT(report["cases"][2]["because"].get<std::string>(), HasSubstr("no test_code"));
  // Everybody's readers, ours first.
  const ProcessOutcome history = Kerf("", {"debug", "history", "runs/X"});
  EXPECT_EQ(history.exit_code, 0);
  EXPECT_THAT(history.stdout_text, HasSubstr("pass_exe false → true"));
  EXPECT_EQ(Kerf("", {"debug", "classify", "runs/X_3.jsonl"}).exit_code, 0);
  EXPECT_EQ(Kerf("", {"debug", "extract", "runs/X_0.jsonl", "-o", "ws"}).exit_code, 0);
  EXPECT_EQ(Kerf("", {"debug", "check", "ws"}).exit_code, 0);
  EXPECT_EQ(Kerf("", {"trace", "check", "runs/X_trace"}).exit_code, 0);
  EXPECT_EQ(BrokenRules("runs/X", 4), "");
}

// The goldens are ASCII all through; these are not.
TEST_F(OptimizeCommand, GeaksLoaderCanReadWhateverTheTexts) {
  Write("data.jsonl",
        Json{{"instruction", "größer als 0 \xE2\x80\xA8 \xF0\x9F\x98\x80"},
             {"label", Task(8)},
             {"filename", "größe.py"}}
                .dump() +
            "\n" + Json{{"instruction", "x"}, {"label", "\u00e9"}, {"filename", "b.py"}}.dump() +
            "\n");
  Write("script.json",
        Json{{"replies",
              {{{"agent", "optimize_generate"}, {"text", CodeReply("// é\n" + Kernel("x[i]"))}},
               {{"agent", "optimize_debug"}, {"text", CodeReply(Kernel("x[i] > 0 ? x[i] : 0"))}},
               {{"agent", "optimize_reflect"}, {"text", "größer"}, {"repeat", true}}}}}
            .dump());
  const ProcessOutcome outcome =
      Kerf("", {"optimize", "data.jsonl", "--out", "X", "--model", "scripted:script.json",
                "--no-measure", "--iterations", "2"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  EXPECT_EQ(BrokenRules("X", 2), "");
  const Json mem = Json::parse(ReadAll(Path("X_mem_0.json")));
  EXPECT_THAT(mem["größe.py"]["call_candidate"].get<std::string>(), HasSubstr("// é"));
}

TEST_F(OptimizeCommand, ItsTracesAreNoneOfTraceReplay) {
  ASSERT_EQ(Kerf("", {"optimize", kGoldens + "/data_0.jsonl", "--out", "X", "--model",
                      "scripted:" + kGoldens + "/script.json", "--no-measure", "--iterations", "2"})
                .exit_code,
            1);
  for (const char* address : {"X_trace", "X_trace/relu:0", "X_trace/relu:0:2"}) {
    const ProcessOutcome replay = Kerf("", {"trace", "replay", address});
    EXPECT_EQ(replay.exit_code, 2) << address;
    EXPECT_THAT(replay.stderr_text, HasSubstr("is a trace of kerf optimize")) << address;
    EXPECT_THAT(replay.stderr_text, HasSubstr("--model recorded:")) << address;
  }
}

TEST_F(OptimizeCommand, RefusesWhatCannotBeMeant) {
  const std::string data = kGoldens + "/data_0.jsonl";
  const std::string model = "scripted:" + kGoldens + "/script.json";
  EXPECT_EQ(Kerf("", {"optimize", data, "--model", model}).exit_code, 2);
  EXPECT_EQ(Kerf("", {"optimize", data, "--out", "runs/", "--model", model}).exit_code, 2);
  EXPECT_EQ(
      Kerf("", {"optimize", data, "--out", "X", "--iterations", "0", "--model", model}).exit_code,
      2);
  EXPECT_NE(Kerf("", {"optimize", "none.jsonl", "--out", "X"}).exit_code, 0);
  Write("empty.jsonl", "");
  EXPECT_EQ(Kerf("", {"optimize", "empty.jsonl", "--out", "X"}).exit_code, 4);
  EXPECT_THAT(Kerf("", {"optimize", data, "--out", "X", "--resume"}).stderr_text,
              HasSubstr("no run to resume"));
  const std::vector<std::string> words = {
      "optimize", data, "--out", "X", "--model", model, "--no-measure", "--iterations", "1"};
  EXPECT_EQ(Kerf("", words).exit_code, 1);
  EXPECT_THAT(Kerf("", words).stderr_text, HasSubstr("--resume"));
  std::vector<std::string> other = words;
  other.insert(other.end(), {"--resume", "--population", "2"});
  EXPECT_THAT(Kerf("", other).stderr_text, HasSubstr("--population 2 differs from the run's 5"));
  Write("other.jsonl", ReadAll(data) + "\n");
  other = words;
  other[1] = "other.jsonl";
  other.emplace_back("--resume");
  EXPECT_THAT(Kerf("", other).stderr_text, HasSubstr("not the data the run was begun with"));
}

Json Rules(int delay_ms) {
  Json rules = Json::array(
      {{{"when", "Reflect on this kernel"}, {"text", "```reflection\nthoughts\n```"}},
       {{"when", "You write kernels"}, {"text", "```cpp\n" + Kernel("x[i]") + "```\nDone."}},
       {{"when", "You repair a kernel"}, {"text", CodeReply(Kernel("x[i] > 0 ? x[i] : 0"))}},
       {{"when", "These kernels are right"}, {"text", CodeReply(Kernel("x[i] < 0 ? 0 : x[i]"))}},
       {{"status", 400}, {"body", "nobody expected this prompt"}}});
  for (Json& rule : rules) {
    rule["delay_ms"] = delay_ms;
    rule["usage"] = Json::array({100, 10});
  }
  return rules;
}

// Two cases with two lines each, three iterations, code and reflection each time.
constexpr int kLines = 4;
constexpr int kIterations = 3;
constexpr int kCalls = kLines * kIterations * 2;

std::string TwoCases() {
  std::string data;
  for (const int rows : {8, 24}) {
    data += Json{{"instruction", "clamp"},
                 {"label", Task(rows)},
                 {"filename", "relu" + std::to_string(rows) + ".py"}}
                .dump() +
            "\n";
  }
  return data;
}

TEST_F(OptimizeCommand, ComesToTheSameEndAfterKillsAndAsksNothingTwice) {
  const LlmServerProcess server(Rules(15));
  Write("data.jsonl", TwoCases());
  const std::vector<std::string> words = {"optimize",      Path("data.jsonl"),
                                          "--out",         Path("runs/X"),
                                          "--model",       "openai:gpt-5",
                                          "--iterations",  std::to_string(kIterations),
                                          "--descendants", "2",
                                          "--no-measure",  "--json"};
  ASSERT_EQ(Kerf(server.url(), words).exit_code, 0);
  const std::string pairs = Pairs("runs/X", kIterations);
  EXPECT_EQ(server.Log().size(), static_cast<size_t>(kCalls));
  std::vector<std::string> resume = words;
  resume.emplace_back("--resume");
  std::mt19937 random(11);
  int kills = 0;
  int rounds = 0;
  for (; kills < kKills && rounds < 3 * kKills; ++rounds) {
    stdfs::remove_all(Path("runs"));
    const size_t asked_before = server.Log().size();
    int kills_here = 0;
    for (bool ended = false; !ended;) {
      const bool begun = stdfs::exists(Path("runs/X_trace/.kerf/optimize.json"));
      LiveProcess run(LiveWords(server.url(), begun ? resume : words));
      const auto lines = run.ReadFor(std::chrono::microseconds(random() % 600'000));
      ended = !lines.empty() || kills_here >= 6;
      if (ended) {
        run.Wait();
      } else {
        run.Kill();
        ++kills_here;
      }
    }
    kills += kills_here;
    const ProcessOutcome last = Kerf(server.url(), resume);
    ASSERT_EQ(last.exit_code, 0) << last.stderr_text;
    ASSERT_EQ(Pairs("runs/X", kIterations), pairs) << "after " << kills_here << " kills";
    EXPECT_EQ(Kerf("", {"trace", "check", "runs/X_trace"}).exit_code, 0);
    // A kill loses at most the answers that were on their way, one for each line.
    const size_t asked = server.Log().size() - asked_before;
    EXPECT_GE(asked, static_cast<size_t>(kCalls));
    EXPECT_LE(asked, static_cast<size_t>(kCalls + kLines * kills_here));
    const Json ledger = Json::parse(last.stdout_text)["ledger"]["total"];
    EXPECT_EQ(ledger["calls"], kCalls);  // what is recorded, and nothing twice
  }
  EXPECT_GE(kills, kKills);
  std::cout << kills << " kills in " << rounds << " runs\n";
}

TEST_F(OptimizeCommand, InterruptAndBudgetKeepWhatWasDone) {
  const LlmServerProcess server(Rules(200));
  Write("data.jsonl", TwoCases());
  const std::vector<std::string> words = {
      "optimize",     Path("data.jsonl"), "--out", Path("runs/X"), "--model",
      "openai:gpt-5", "--iterations",     "2",     "--no-measure", "--json"};
  {
    LiveProcess run(LiveWords(server.url(), words));
    while (server.Log().size() < 3) run.ReadFor(std::chrono::milliseconds(20));
    run.Signal(SIGINT);
    const auto line = run.ReadLine();
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(run.Wait(), 130);
    EXPECT_TRUE(Json::parse(*line)["interrupted"].get<bool>());
  }
  std::vector<std::string> resume = words;
  resume.insert(resume.end(), {"--resume", "--max-tokens-total", "10"});
  const ProcessOutcome broke = Kerf(server.url(), resume);
  EXPECT_EQ(broke.exit_code, 1) << broke.stderr_text;
  const Json report = Json::parse(broke.stdout_text);
  EXPECT_FALSE(report["complete"].get<bool>());
  EXPECT_THAT(report["because"].get<std::string>(), HasSubstr("tokens"));
  resume.resize(resume.size() - 2);
  EXPECT_EQ(Kerf(server.url(), resume).exit_code, 0);
  EXPECT_LE(server.Log().size(), 8U + 2U);
}

TEST_F(OptimizeCommand, RecordedRepliesAnswerAgain) {
  Write("data.jsonl", TwoCases());
  {
    const LlmServerProcess server(Rules(0));
    ASSERT_EQ(Kerf(server.url(), {"optimize", "data.jsonl", "--out", "X", "--model", "openai:gpt-5",
                                  "--no-measure", "--iterations", "2"})
                  .exit_code,
              0);
  }
  const ProcessOutcome again = Kerf("", {"optimize", "data.jsonl", "--out", "Y", "--model",
                                         "recorded:X_trace", "--no-measure", "--iterations", "2"});
  EXPECT_EQ(again.exit_code, 0) << again.stderr_text << again.stdout_text;
  EXPECT_EQ(Pairs("X", 2), Pairs("Y", 2));
}

TEST_F(OptimizeCommand, SynthesizesAndMeasuresWhereTheLabelCanBeCaptured) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitized kerf measures a floor that is too slow";
#endif
  Write(
      "data.jsonl",
      Json{{"instruction", "clamp"}, {"label", Task(256)}, {"filename", "relu.py"}}.dump() + "\n");
  const ProcessOutcome outcome =
      Kerf("", {"optimize", "data.jsonl", "--out", "X", "--iterations", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text << outcome.stdout_text;
  const Json one = Json::parse(outcome.stdout_text)["cases"][0];
  EXPECT_TRUE(one["solved"].get<bool>());
  // A noisy machine measures nothing; then nothing is claimed.
  const Json mem = Json::parse(ReadAll(Path("X_mem_0.json")))["relu.py"];
  EXPECT_TRUE(mem["pass_exe"].get<bool>());
  EXPECT_EQ(mem["pass_perf"].get<bool>(), !one["speedup"].is_null());
  EXPECT_EQ(mem["perf_candidates"].size(), one["speedup"].is_null() ? 0U : 1U);
  EXPECT_EQ(BrokenRules("X", 1), "");
}

constexpr char kTritonLabel[] = R"py(
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def scale(x):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y
)py";

TEST_F(OptimizeCommand, JudgesTritonCodeByTheTestAndTheLabel) {
  if (!CanImport("triton, torch")) GTEST_SKIP() << Python() << " has no triton and torch";
  const std::string right = kTritonLabel;
  std::string wrong = right;
  wrong.replace(wrong.find("* 2"), 3, "* 3");
  Write("data.jsonl", Json{{"instruction", "Write a Triton kernel that doubles."},
                           {"label", kTritonLabel},
                           {"filename", "scale.py"},
                           {"test_code",
                            "import torch\nresult_gold = {'a': scale(torch.randn(200, "
                            "device='cuda'))}\n"}}
                              .dump() +
                          "\n");
  Write("script.json",
        Json{{"replies",
              {{{"agent", "optimize_generate"}, {"text", CodeReply(wrong)}},
               {{"agent", "optimize_debug"}, {"text", CodeReply(right)}},
               {{"agent", "optimize_reflect"}, {"text", "the factor"}, {"repeat", true}}}}}
            .dump());
  const ProcessOutcome outcome =
      Kerf("", {"optimize", "data.jsonl", "--out", "X", "--model", "scripted:script.json",
                "--backend", "cpu", "--iterations", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text << outcome.stdout_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("not measured"));
  const Json first = Json::parse(ReadAll(Path("X_mem_0.json")))["scale.py"];
  EXPECT_TRUE(first["pass_call"].get<bool>());
  EXPECT_FALSE(first["pass_exe"].get<bool>());
  EXPECT_THAT(first["exe_err_msg"].get<std::string>(), HasSubstr("result_gold['a']"));
  const Json second = Json::parse(ReadAll(Path("X_mem_1.json")))["scale.py"];
  EXPECT_TRUE(second["pass_exe"].get<bool>());
  EXPECT_FALSE(second["pass_perf"].get<bool>());  // the interpreter's speed says nothing
  EXPECT_EQ(second["exe_candidate"], right);
  EXPECT_EQ(second["temp_strategy"], "a loop");
}

}  // namespace
}  // namespace kerf::e2e
