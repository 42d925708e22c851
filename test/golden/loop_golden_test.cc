// Whole runs of the loop: what they leave on the disk, byte for byte. Each folder of loop/ is a
// case:
//
//   case.json   the task's options; "verdicts", what the judge says in order
//   script.json what the models say (src/llm/scripted_provider.h)
//   expected/   the log directory afterwards, without kerf's own folder; of verify folders only the
//               names of the files, in a text
//   events.txt  actions and the reasons for them, and the outcome
//
// Clock and ids are fake. With KERF_UPDATE_GOLDENS=1 the program rewrites expected/ and events.txt
// and prints what changed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/fake_file_system.h"
#include "llm/scripted_provider.h"
#include "loop/conduct/driver.h"
#include "loop/conduct/fake_judge.h"
#include "tree.h"

namespace kerf::conduct {
namespace {

namespace stdfs = std::filesystem;
using golden::ReadAll;
using golden::Tree;
using Json = nlohmann::json;

constexpr char kTask[] =
    "import numpy as np\n\n\nclass Model:\n    def __call__(self, x):\n        return "
    "np.maximum(x, 0)\n";

class EventLog : public Observer {
 public:
  void Asked(size_t, const Task& task, const std::string& agent) override { Note(task, agent); }
  void Answered(size_t, const Task&, const llm::Reply&) override {}
  void Judging(size_t, const Task& task) override { Note(task, "verifier"); }
  void Judged(size_t, const Task&, const Judgement&) override {}
  void Preparing(size_t, const Task&) override {}
  void Waiting(size_t, const Task&, const std::string&) override {}
  void Ended(size_t, const Task&, const TaskOutcome& outcome) override {
    text += std::string(outcome.success ? "success" : "no kernel") + ": " + outcome.because + "\n";
    if (outcome.best.has_value()) text += "best: step " + std::to_string(outcome.best->step) + "\n";
  }
  void Idle() override {}

  std::string text;

 private:
  void Note(const Task& task, const std::string& who) {
    const Need& need = task.conductor().need();
    text += std::to_string(task.conductor().steps()) + " " + ActionName(need.action) + " " + who +
            ": " + need.because + "\n";
  }
};

std::vector<FakeVerdict> FakeVerdicts(const Json& verdicts) {
  std::vector<FakeVerdict> said;
  for (const Json& one : verdicts) {
    said.push_back({*ParseVerdictStatus(one.at("status").get<std::string>()),
                    one.value("reason", ""), one.value("summary", ""), one.value("log", ""),
                    one.value("speedup", 0.0)});
  }
  return said;
}

Tree FilesBelow(FileSystem& fs, const std::string& dir, const std::string& prefix) {
  Tree tree;
  for (const DirEntry& entry : fs.List(dir).value()) {
    const std::string path = JoinPath(dir, entry.name);
    if (entry.name == trace::kPrivateFolder) continue;
    if (entry.kind == FileKind::kDirectory) {
      Tree below = FilesBelow(fs, path, prefix + entry.name + "/");
      if (entry.name.ends_with("_verify")) {
        for (const auto& [name, bytes] : below) {
          tree[prefix + entry.name + ".txt"] += name.substr(prefix.size()) + "\n";
        }
      } else {
        tree.merge(below);
      }
      continue;
    }
    tree[prefix + entry.name] = fs.ReadFile(path).value();
  }
  return tree;
}

TaskOptions Options(const Json& wanted) {
  TaskOptions options;
  options.spec.op_name = "relu";
  options.spec.task_desc = kTask;
  options.spec.framework = "numpy";
  options.spec.arch = "x86_64";
  options.spec.task_type = wanted.value("task_type", "precision_only");
  options.spec.limit_steps = wanted.value("limit_steps", 10);
  options.rules.limit_steps = options.spec.limit_steps;
  options.rules.coder_only = wanted.value("coder_only", false);
  options.rules.improve = options.spec.task_type == "profile";
  options.start.action = *ParseAction(wanted.value("start", "DO_DESIGNER"));
  options.start.design = wanted.value("design", "");
  options.start.code = wanted.value("code", "");
  options.log_dir = "logs";
  options.hardware = "a machine of two processors";
  options.model = "scripted:script.json";
  return options;
}

class LoopGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(LoopGolden, RunLeavesTheSameTree) {
  const stdfs::path dir = stdfs::path(KERF_GOLDENS) / GetParam();
  const Json wanted = Json::parse(ReadAll(dir / "case.json"));
  FakeFileSystem fs;
  FakeClock clock{1'763'177'371'123'456'000};
  FakeIds ids;
  const trace::Redactor redactor;
  const auto prompts = llm::PromptLibrary::Open(fs, {});
  ASSERT_TRUE(prompts.ok());
  auto models = llm::ScriptedProvider::Parse(ReadAll(dir / "script.json"), "script.json");
  ASSERT_TRUE(models.ok()) << models.error().message;
  FakeJudge judge(FakeVerdicts(wanted.at("verdicts")));
  EventLog log;
  std::vector<std::unique_ptr<Task>> tasks(1);
  auto task = Task::Open(Options(wanted), {fs, clock, ids, *prompts, redactor});
  ASSERT_TRUE(task.ok()) << task.error().message;
  tasks[0] = std::move(*task);
  Driver driver([&](const std::string&) -> llm::Provider& { return **models; }, judge, log, {});
  const auto outcomes = driver.Run(tasks, [] { return false; });
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].success, wanted.at("success").get<bool>()) << outcomes[0].because;

  Tree is = FilesBelow(fs, "logs", "expected/");
  is["events.txt"] = log.text;
  Tree was = {{"events.txt", ReadAll(dir / "events.txt")}};
  for (auto& [name, bytes] : golden::ReadTree(dir / "expected")) was["expected/" + name] = bytes;
  const std::string diff = golden::TreeDiff(was, is);
  const char* update = std::getenv("KERF_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) == "1") {
    is["case.json"] = ReadAll(dir / "case.json");
    is["script.json"] = ReadAll(dir / "script.json");
    golden::WriteTree(dir, is);
    std::cout << GetParam() << ":\n" << (diff.empty() ? "  no change\n" : diff);
    return;
  }
  EXPECT_EQ(diff, "") << "KERF_UPDATE_GOLDENS=1 rewrites what is expected";
}

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : stdfs::directory_iterator(KERF_GOLDENS)) {
    if (entry.is_directory()) cases.push_back(entry.path().filename().string());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, LoopGolden, ::testing::ValuesIn(Cases()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kerf::conduct
