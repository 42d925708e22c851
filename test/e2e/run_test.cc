// `kerf run` with a model behind a real endpoint on the loopback, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "base/subprocess.h"
#include "live_process.h"
#include "llm/llm_server_process.h"
#include "loop_command.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace stdfs = std::filesystem;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kRelu = kSource + "/examples/tasks/relu_numpy.py";

#ifdef KERF_SLOW_BUILD
constexpr int kKills = 10;
constexpr int kManyTasks = 20;
#else
constexpr int kKills = 60;
constexpr int kManyTasks = 200;
#endif

// A designer, a checker that agrees, a coder that is wrong first and right when it repairs.
Json Rules(int delay_ms) {
  const std::string agreed = R"({"result": 1, "reason": "right", "suggestions": ""})";
  const Json usage = Json::array({100, 10});
  Json rules = Json::array(
      {{{"when", "You design kernels"}, {"text", CodeReply("import aul as U")}},
       {{"when", "Check the"}, {"text", "I looked at it.\n" + agreed}},
       {{"when", "You write kernels"}, {"text", "```cpp\n" + Kernel("x[i]") + "```\nDone."}},
       {{"when", "A kernel failed"},
        {"text", R"({"result": 2, "reason": "no max", "suggestions": "max"})"}},
       {{"when", "You repair a kernel"}, {"text", CodeReply(Kernel("x[i] > 0 ? x[i] : 0"))}},
       {{"status", 400}, {"body", "nobody expected this prompt"}}});
  for (Json& rule : rules) {
    rule["delay_ms"] = delay_ms;
    rule["usage"] = usage;
  }
  return rules;
}
// Of a run with these rules: design, check, code, check, analysis, repair, check.
constexpr int kCalls = 7;

class RunCommand : public LoopCommand {};

TEST_F(RunCommand, MakesAKernelWithAModelAndShowsTheKeyNowhere) {
  const LlmServerProcess server(Rules(0));
  const ProcessOutcome outcome =
      Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5", "--log-dir", "logs", "--output",
                          "best.cc", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_TRUE(report["tasks"][0]["success"].get<bool>());
  EXPECT_EQ(report["tasks"][0]["steps"], 5);
  EXPECT_EQ(report["ledger"]["total"]["calls"], kCalls);
  EXPECT_EQ(ReadAll(Path("best.cc")), Kernel("x[i] > 0 ? x[i] : 0"));
  EXPECT_EQ(server.Log().size(), static_cast<size_t>(kCalls));
  EXPECT_THAT(outcome.stdout_text + outcome.stderr_text, Not(HasSubstr(kModelKey)));
  for (const auto& entry : stdfs::recursive_directory_iterator(dir_.path())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(ReadAll(entry.path()), Not(HasSubstr(kModelKey))) << entry.path();
  }
  EXPECT_EQ(Kerf("", {"trace", "check", "logs"}).exit_code, 0);
  const ProcessOutcome replay = Kerf("", {"trace", "replay", "logs"});
  EXPECT_EQ(replay.exit_code, 0) << replay.stdout_text << replay.stderr_text;
  EXPECT_THAT(replay.stdout_text, HasSubstr("same"));
}

TEST_F(RunCommand, SurvivesKillsAtAnyMomentAndAsksNothingTwice) {
  const LlmServerProcess server(Rules(15));
  const std::vector<std::string> words = {"run",       kRelu,        "--model",  "openai:gpt-5",
                                          "--log-dir", Path("logs"), "--resume", "--json"};
  std::mt19937 random(7);
  int kills = 0;
  int rounds = 0;
  for (; kills < kKills && rounds < 3 * kKills; ++rounds) {
    std::error_code ignored;
    stdfs::remove_all(Path("logs"), ignored);
    const size_t asked_before = server.Log().size();
    int kills_here = 0;
    for (;;) {
      LiveProcess run(LiveWords(server.url(), words));
      const auto lines = run.ReadFor(std::chrono::microseconds(random() % 400'000));
      if (!lines.empty() || kills_here >= 6) {
        run.Wait();
        break;
      }
      run.Kill();
      ++kills_here;
    }
    kills += kills_here;
    const ProcessOutcome last = Kerf(server.url(), words);
    ASSERT_EQ(last.exit_code, 0) << last.stderr_text;
    const Json task = Json::parse(last.stdout_text)["tasks"][0];
    EXPECT_TRUE(task["success"].get<bool>());
    EXPECT_EQ(task["steps"], 5);
    const ProcessOutcome check = Kerf("", {"trace", "check", "logs"});
    EXPECT_EQ(check.exit_code, 0) << check.stdout_text << check.stderr_text;
    // A kill loses at most the one answer that was on its way.
    const size_t asked = server.Log().size() - asked_before;
    EXPECT_GE(asked, static_cast<size_t>(kCalls));
    EXPECT_LE(asked, static_cast<size_t>(kCalls + kills_here));
    EXPECT_EQ(Kerf("", {"trace", "replay", "logs"}).exit_code, 0);
  }
  EXPECT_GE(kills, kKills);
  std::cout << kills << " kills in " << rounds << " runs\n";
}

int Threads(int pid) {
  int threads = 0;
  for (const auto& entry : stdfs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    threads += entry.is_directory() ? 1 : 0;
  }
  return threads;
}

int64_t PeakKib(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  }
  return 0;
}

TEST_F(RunCommand, ManyTasksAtOnceNeedFewThreadsAndCountExactly) {
  const LlmServerProcess server(Rules(400));
  stdfs::create_directory(Path("tasks"));
  for (int i = 0; i < kManyTasks; ++i) {
    stdfs::copy_file(kRelu, Path("tasks/relu" + std::to_string(i) + "_numpy.py"));
  }
  LiveProcess run(LiveWords(server.url(), {"run", Path("tasks"), "--model", "openai:gpt-5",
                                           "--log-dir", Path("logs"), "--json"}));
  int most_threads = 0;
  int64_t peak_kib = 0;
  std::string output;
  for (;;) {
    const auto line = run.ReadLine(std::chrono::milliseconds(50));
    if (line.has_value()) {
      output = *line;
      break;
    }
    if (stdfs::exists("/proc/" + std::to_string(run.pid()) + "/task")) {
      most_threads = std::max(most_threads, Threads(run.pid()));
      peak_kib = std::max(peak_kib, PeakKib(run.pid()));
    }
  }
  EXPECT_EQ(run.Wait(), 0);
  const Json report = Json::parse(output);
  for (const Json& task : report["tasks"]) {
    EXPECT_TRUE(task["success"].get<bool>()) << task["because"];
  }
  // The loop, the network, a few judges and what they start for one comparison.
  EXPECT_LE(most_threads, 24);
#ifndef KERF_SLOW_BUILD
  // A task costs its texts, not a copy of the machine; sanitized builds need several times as much.
  EXPECT_LE(peak_kib, 160 * 1024);
#endif
  RecordProperty("peak_kib", std::to_string(peak_kib));
  const int64_t calls = int64_t{kCalls} * kManyTasks;
  EXPECT_EQ(server.Log().size(), static_cast<size_t>(calls));
  const Json total = report["ledger"]["total"];
  EXPECT_EQ(total["calls"], calls);
  EXPECT_EQ(total["input_tokens"], calls * 100);
  EXPECT_EQ(total["output_tokens"], calls * 10);
}

TEST_F(RunCommand, InterruptKeepsWhatWasDone) {
  const LlmServerProcess server(Rules(300));
  const std::vector<std::string> words = {"run",       kRelu,        "--model",  "openai:gpt-5",
                                          "--log-dir", Path("logs"), "--resume", "--json"};
  LiveProcess run(LiveWords(server.url(), words));
  while (server.Log().size() < 3) run.ReadFor(std::chrono::milliseconds(20));
  run.Signal(SIGINT);
  const auto line = run.ReadLine();
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(run.Wait(), 130);
  EXPECT_TRUE(Json::parse(*line)["interrupted"].get<bool>());
  const ProcessOutcome last = Kerf(server.url(), words);
  EXPECT_EQ(last.exit_code, 0) << last.stderr_text;
  EXPECT_LE(server.Log().size(), static_cast<size_t>(kCalls + 1));
}

TEST_F(RunCommand, InterruptDoesNotWaitForAReferenceThatHangs) {
  const LlmServerProcess server(Rules(0));
  std::ofstream(Path("hang_numpy.py"))
      << "import time\nimport numpy as np\n\n\nclass Model:\n    def forward(self, x):\n"
         "        time.sleep(1000)\n        return x\n\n\n"
         "def get_inputs():\n    return [np.ones(4, np.float32)]\n\n\n"
         "def get_init_inputs():\n    return []\n";
  for (const std::string model : {"openai:gpt-5", "synth"}) {
    LiveProcess run(LiveWords(server.url(), {"run", Path("hang_numpy.py"), "--model", model,
                                             "--log-dir", Path("logs_" + model), "--json"}));
    run.ReadFor(std::chrono::seconds(3));
    const auto begin = std::chrono::steady_clock::now();
    run.Signal(SIGINT);
    const auto line = run.ReadLine(std::chrono::seconds(60));
    ASSERT_TRUE(line.has_value()) << model;
    EXPECT_EQ(run.Wait(), 130) << model;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << model;
    const Json report = Json::parse(*line);
    EXPECT_TRUE(report["interrupted"].get<bool>()) << model;
    EXPECT_FALSE(report["tasks"][0].contains("error")) << *line;
  }
  EXPECT_TRUE(server.Log().empty());
}

// Whatever order they come in, and when one of them is new.
TEST_F(RunCommand, TasksOfOneNameAreFoundAgainByTheirText) {
  const LlmServerProcess server(Rules(0));
  const auto words = [&](const std::vector<std::string>& folders) {
    std::vector<std::string> all = {"run", "--model", "openai:gpt-5", "--log-dir", Path("logs")};
    for (const std::string& folder : folders) all.push_back(Path(folder + "/relu_numpy.py"));
    all.insert(all.end(), {"--resume", "--json"});
    return all;
  };
  for (const std::string name : {"one", "two", "three"}) {
    stdfs::create_directory(Path(name));
    std::ofstream(Path(name + "/relu_numpy.py")) << "# " + name + "\n" << ReadAll(kRelu);
  }
  ASSERT_EQ(Kerf(server.url(), words({"one", "two"})).exit_code, 0);
  ASSERT_EQ(server.Log().size(), size_t{2 * kCalls});
  const ProcessOutcome again = Kerf(server.url(), words({"three", "two", "one"}));
  ASSERT_EQ(again.exit_code, 0) << again.stdout_text << again.stderr_text;
  EXPECT_EQ(server.Log().size(), size_t{3 * kCalls});
  const Json tasks = Json::parse(again.stdout_text)["tasks"];
  EXPECT_EQ(tasks[0]["task_id"], "2");
  EXPECT_EQ(tasks[1]["task_id"], "1");
  EXPECT_EQ(tasks[2]["task_id"], "0");
}

// The synthesizer writes the first candidate, but the model that was wanted never answers.
TEST_F(RunCommand, AWrongKeyIsAFailure) {
  const LlmServerProcess server(
      Json::array({{{"status", 401}, {"body", R"({"error":{"message":"wrong key"}})"}}}));
  const ProcessOutcome outcome =
      Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5", "--task-type", "profile",
                          "--log-dir", "logs", "--json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.stdout_text;
  const Json task = Json::parse(outcome.stdout_text)["tasks"][0];
  EXPECT_THAT(task["error"]["message"].get<std::string>(), HasSubstr("wrong key"));
}

TEST_F(RunCommand, StopsBeforeTheCallThatWouldExceedTheBudget) {
  const LlmServerProcess server(Rules(0));
  const ProcessOutcome outcome =
      Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5", "--log-dir", "logs",
                          "--max-tokens-total", "10", "--json"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_TRUE(server.Log().empty());
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_THAT(report["tasks"][0]["because"].get<std::string>(), HasSubstr("tokens"));
}

TEST_F(RunCommand, ShowsTheServersOwnWords) {
  const LlmServerProcess server(Json::array(
      {{{"status", 404},
        {"body", R"({"error":{"message":"no model of that name","code":"model_not_found"}})"}}}));
  const ProcessOutcome outcome =
      Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-none", "--log-dir", "logs"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.stdout_text, HasSubstr("no model of that name"));
  EXPECT_EQ(server.Log().size(), 1U);
  std::ifstream file(Path("logs/failed_calls.jsonl"));
  const Json failed = Json::parse(file);
  EXPECT_EQ(failed["agent"], "aul_designer");
  EXPECT_EQ(failed["attempts"][0]["http_status"], 404);
}

TEST_F(RunCommand, ForkGoesOnFromAStepOfAnotherRun) {
  const LlmServerProcess server(Rules(0));
  ASSERT_EQ(
      Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5", "--log-dir", "logs"}).exit_code,
      0);
  const size_t before = server.Log().size();
  const ProcessOutcome fork =
      Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5", "--log-dir", "fork", "--fork",
                          "logs::2", "--json"});
  ASSERT_EQ(fork.exit_code, 0) << fork.stderr_text;
  EXPECT_EQ(server.Log().size() - before, 3U);  // analysis, repair, check
  EXPECT_EQ(ReadAll(Path("fork/relu/I0_S02_relu_DO_CODER_result.txt")),
            ReadAll(Path("logs/relu/I0_S02_relu_DO_CODER_result.txt")));
}

TEST_F(RunCommand, StartsWithGivenCode) {
  std::ofstream(Path("mine.cc")) << Kernel("x[i] > 0 ? x[i] : 0");
  const LlmServerProcess server(Rules(0));
  const ProcessOutcome outcome = Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5",
                                                     "--log-dir", "logs", "--code", "mine.cc"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_TRUE(server.Log().empty());
  EXPECT_TRUE(stdfs::exists(Path("logs/relu/I0_S02_relu_DO_CODER_result.txt")));
}

TEST_F(RunCommand, RecordedRepliesAnswerAgain) {
  {
    const LlmServerProcess server(Rules(0));
    ASSERT_EQ(Kerf(server.url(), {"run", kRelu, "--model", "openai:gpt-5", "--log-dir", "logs"})
                  .exit_code,
              0);
  }
  const ProcessOutcome again =
      Kerf("", {"run", kRelu, "--model", "recorded:logs", "--log-dir", "again", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.stderr_text << again.stdout_text;
  const Json report = Json::parse(again.stdout_text);
  EXPECT_EQ(report["ledger"]["total"]["input_tokens"], kCalls * 100);
  // Another prompt is another request: strictly there is no reply to it.
  const std::vector<std::string> other = {"run",       kRelu,     "--model",   "recorded:logs",
                                          "--op-name", "rectify", "--log-dir", "other"};
  const ProcessOutcome strict = Kerf("", other);
  EXPECT_NE(strict.exit_code, 0);
  EXPECT_THAT(strict.stdout_text, HasSubstr("no recorded reply"));
  std::vector<std::string> loose = other;
  loose.back() = "loose";
  loose.emplace_back("--loose");
  const ProcessOutcome by_order = Kerf("", loose);
  EXPECT_EQ(by_order.exit_code, 0) << by_order.stdout_text;
}

TEST_F(RunCommand, SynthesizesWithoutAModel) {
  const ProcessOutcome outcome =
      Kerf("", {"run", kRelu, "--log-dir", "logs", "--output", "relu.cc", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_EQ(report["tasks"][0]["steps"], 3);
  EXPECT_THAT(ReadAll(Path("relu.cc")), HasSubstr("KERF_KERNEL"));
  EXPECT_THAT(ReadAll(Path("logs/relu/I0_S01_relu_DO_DESIGNER_result.txt")),
              HasSubstr("import aul as U"));
  const ProcessOutcome replay = Kerf("", {"trace", "replay", "logs"});
  EXPECT_EQ(replay.exit_code, 0) << replay.stdout_text << replay.stderr_text;
}

TEST_F(RunCommand, SynthesizersKernelIsTheFirstOfAModelsRun) {
  const LlmServerProcess server(Rules(0));
  const ProcessOutcome outcome = Kerf(
      server.url(),
      {"run", kRelu, "--model", "openai:gpt-5", "--first", "synth", "--log-dir", "logs", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_TRUE(report["tasks"][0]["success"].get<bool>());
  EXPECT_EQ(report["tasks"][0]["steps"], 3);
  EXPECT_EQ(server.Log().size(), 0U) << "the model was paid for what the synthesizer does";
  EXPECT_EQ(Kerf("", {"trace", "replay", "logs"}).exit_code, 0);
}

TEST_F(RunCommand, OneUnusableTaskCostsNothingAndStopsNoOther) {
  const LlmServerProcess server(Rules(0));
  stdfs::create_directory(Path("tasks"));
  stdfs::copy_file(kRelu, Path("tasks/good_numpy.py"));
  std::ofstream(Path("tasks/broken_numpy.py"))
      << "import numpy as np\n\n\nclass Model:\n    def __call__(self, x):\n        raise "
         "ValueError('boom')\n\n\ndef get_inputs():\n    return [np.ones(4, "
         "np.float32)]\n\n\ndef get_init_inputs():\n    return []\n";
  std::ofstream(Path("tasks/half_numpy.py")) << "import numpy as np\n\n\nclass Model:\n    pass\n";
  const ProcessOutcome outcome = Kerf(
      server.url(), {"run", "tasks", "--model", "openai:gpt-5", "--log-dir", "logs", "--json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  ASSERT_EQ(report["tasks"].size(), 2U);
  EXPECT_EQ(report["skipped"].size(), 1U);
  EXPECT_THAT(report["tasks"][0]["because"].get<std::string>(), HasSubstr("boom"));
  EXPECT_TRUE(report["tasks"][1]["success"].get<bool>());
  EXPECT_EQ(server.Log().size(), static_cast<size_t>(kCalls));
}

TEST_F(RunCommand, ADamagedTaskDoesNotKeepTheOthersFromGoingOn) {
  const std::vector<std::string> words = {
      "run",     kRelu,   kSource + "/examples/tasks/layernorm_numpy.py",
      "--model", "synth", "--log-dir",
      "logs",    "--json"};
  ASSERT_EQ(Kerf("", words).exit_code, 0);
  stdfs::remove(Path("logs/relu/I0_S01_relu_DO_DESIGNER_result.txt"));
  std::vector<std::string> resume = words;
  resume.emplace_back("--resume");
  const ProcessOutcome outcome = Kerf("", resume);
  EXPECT_EQ(outcome.exit_code, 4) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  ASSERT_EQ(report["tasks"].size(), 2U) << outcome.stdout_text;
  for (const Json& task : report["tasks"]) {
    const bool damaged = task["op_name"] == "relu";
    EXPECT_NE(task["success"].get<bool>(), damaged) << task.dump();
    if (damaged) {
      EXPECT_THAT(task["error"]["message"].get<std::string>(), HasSubstr("kerf trace check"));
    }
  }
}

TEST_F(RunCommand, RefusesByNameWhatCannotBeSynthesized) {
  std::ofstream(Path("wave_numpy.py"))
      << "import numpy as np\n\n\nclass Model:\n    def __call__(self, x):\n        return "
         "np.abs(np.fft.fft(x))\n\n\ndef get_inputs():\n    return "
         "[np.random.randn(64)]\n\n\ndef get_init_inputs():\n    return []\n";
  const ProcessOutcome outcome = Kerf("", {"run", "wave_numpy.py", "--log-dir", "logs"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("fft"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("line 6"));
}

TEST_F(RunCommand, WritesATaskFileForASentence) {
  Json rules = Rules(0);
  const std::string file =
      "import numpy as np\n\n\nclass Model:\n    def __call__(self, x):\n        return "
      "np.maximum(x, "
      "0)\n\n\ndef get_inputs():\n    return [np.random.randn(64, 64).astype(np.float32)]\n\n\ndef "
      "get_init_inputs():\n    return []\n";
  Json all = Json::array();
  all.push_back(Json{{"when", "The last version did not do"}, {"text", CodeReply(file)}});
  all.push_back(Json{{"when", "Write a task file"}, {"text", CodeReply("class Model: pass\n")}});
  for (const Json& rule : rules) all.push_back(rule);
  const LlmServerProcess server(all);
  const ProcessOutcome outcome =
      Kerf(server.url(), {"run", "ReLU: max of x and 0", "--framework", "numpy", "--op-name",
                          "relu", "--model", "openai:gpt-5", "--log-dir", "logs"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text << outcome.stdout_text;
  EXPECT_THAT(ReadAll(Path("logs/relu/I0-reference_S02_relu_VERIFY_error_log.txt")),
              HasSubstr("get_inputs"));
  EXPECT_TRUE(stdfs::exists(Path("logs/relu/I0-reference_S04_relu_VERIFY_verify_res.txt")));

  // Its text is found again without asking; another sentence is another task.
  const size_t asked = server.Log().size();
  const auto resumed = [&](const std::string& sentence) {
    return Kerf(server.url(), {"run", sentence, "--op-name", "relu", "--model", "openai:gpt-5",
                               "--log-dir", "logs", "--resume"});
  };
  EXPECT_EQ(resumed("ReLU: max of x and 0").exit_code, 0);
  EXPECT_EQ(server.Log().size(), asked);
  const ProcessOutcome other = resumed("Softmax over the rows of a matrix");
  EXPECT_EQ(other.exit_code, 2) << other.stdout_text;
  EXPECT_THAT(other.stderr_text, HasSubstr("another sentence: 'ReLU: max of x and 0'"));

  const ProcessOutcome without = Kerf(server.url(), {"run", "ReLU: max of x and 0"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.stderr_text, HasSubstr("a model can write one from a sentence"));
}

TEST_F(RunCommand, InterruptWhileATaskFileIsWritten) {
  const LlmServerProcess server(
      Json::array({{{"when", "Write a task file"}, {"text", "x"}, {"delay_ms", 60000}}}));
  LiveProcess run(
      LiveWords(server.url(), {"run", "ReLU: max of x and 0", "--framework", "numpy", "--model",
                               "openai:gpt-5", "--log-dir", Path("logs"), "--json"}));
  while (server.Log().empty()) run.ReadFor(std::chrono::milliseconds(20));
  run.Signal(SIGINT);
  const auto line = run.ReadLine(std::chrono::seconds(30));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(run.Wait(), 130);
  EXPECT_TRUE(Json::parse(*line)["interrupted"].get<bool>()) << *line;
}

// Whoever goes on with the run goes on with what it was asked to do, not with what was refused.
TEST_F(RunCommand, ARefusedRunChangesNothing) {
  const LlmServerProcess server(Rules(0));
  const std::vector<std::string> begin = {"run",           kRelu,  "--model", "openai:gpt-5",
                                          "--log-dir",     "logs", "--json",  "--coder-only",
                                          "--limit-steps", "2"};
  (void)Kerf(server.url(), begin);
  const auto record = [&] {
    std::string all;
    for (const auto& entry : stdfs::directory_iterator(Path("logs/.kerf/tasks"))) {
      all += ReadAll(entry.path());
    }
    return all;
  };
  const std::string before = record();
  EXPECT_THAT(before, HasSubstr("openai:gpt-5"));
  EXPECT_EQ(Kerf(server.url(), {"run", kRelu, "--log-dir", "logs"}).exit_code, 2);
  EXPECT_EQ(record(), before);
}

TEST_F(RunCommand, SecretsAndSpecialFilesAreRefusedBeforeAnythingIsWritten) {
  const LlmServerProcess server(Rules(0));
  std::ofstream(Path("key.cc")) << "// " << kModelKey << "\n";
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  stdfs::copy_file(kRelu, Path("relu_numpy.py"));
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"run", "relu_numpy.py", "--log-dir", "logs"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessOutcome outcome = Kerf(server.url(), std::move(words));
    EXPECT_THAT(outcome.exit_code, AnyOf(2, 3)) << outcome.stdout_text << outcome.stderr_text;
    return outcome.stderr_text;
  };
  EXPECT_THAT(run({"--model", "openai:gpt-5", "--op-name", kModelKey}),
              HasSubstr("OPENAI_API_KEY"));
  EXPECT_THAT(run({"--model", std::string("openai:") + kModelKey}), HasSubstr("OPENAI_API_KEY"));
  EXPECT_THAT(run({"--model", "openai:gpt-5", "--code", "key.cc"}), HasSubstr("OPENAI_API_KEY"));
  EXPECT_THAT(run({"--model", "openai:gpt-5", "--output", "pipe"}), HasSubstr("no regular file"));
  EXPECT_THAT(run({"--model", "openai:gpt-5", "--output", "relu_numpy.py"}),
              HasSubstr("the task itself"));
  EXPECT_TRUE(server.Log().empty());
  EXPECT_FALSE(stdfs::exists(Path("logs/.kerf/tasks")));
}

TEST_F(RunCommand, RefusesWhatCannotBeMeant) {
  const auto refusal = [&](std::vector<std::string> words) {
    const ProcessOutcome outcome = Kerf("http://127.0.0.1:1", std::move(words));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.stderr_text;
    return outcome.stderr_text;
  };
  EXPECT_THAT(refusal({"run", "nowhere.py"}), HasSubstr("nowhere.py"));
  EXPECT_THAT(refusal({"run", kRelu, "--model", "opnai:x"}), HasSubstr("openai"));
  EXPECT_THAT(refusal({"run", kRelu, "--arch", "h200"}), HasSubstr("does not support arch: h200"));
  EXPECT_THAT(refusal({"run", kRelu, "--impl", "swft"}),
              HasSubstr("does not support impl_type: swft"));
  EXPECT_THAT(refusal({"run", kRelu, "--start", "VERIFY"}), HasSubstr("needs --code"));
  EXPECT_THAT(refusal({"run", kRelu, "--max-cost", "much"}), HasSubstr("--max-cost takes dollars"));
  EXPECT_THAT(refusal({"run", kRelu, "--resume"}), HasSubstr("to resume"));
  std::ofstream(Path("c.yaml")) << "limit_stps: 3\n";
  EXPECT_THAT(refusal({"run", kRelu, "--config", "c.yaml"}),
              HasSubstr("did you mean limit_steps?"));
}

}  // namespace
}  // namespace kerf::e2e
