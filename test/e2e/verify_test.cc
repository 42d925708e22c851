// `kerf verify`, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kRelu = kSource + "/examples/tasks/relu_numpy.py";

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::string Python() { return Variable("KERF_PYTHON", kSource + "/.venv/bin/python"); }

bool CanImport(const std::string& package, const std::string& python = Python()) {
  const auto outcome = RunProcess({.argv = {python, "-c", "import " + package}});
  return outcome.ok() && outcome->exit_code == 0;
}

// MindSpore wants another numpy than torch, and so an environment of its own.
std::string PythonFor(const std::string& framework) {
  if (framework != "mindspore" || CanImport("mindspore")) return Python();
  return Variable("KERF_MINDSPORE_PYTHON", kSource + "/.venv-mindspore/bin/python");
}

std::string Elementwise(const std::string& value) {
  return "#include <kerf/kernel.h>\n"
         "KERF_KERNEL(call) {\n"
         "  const float* x = kerf_data<float>(call->inputs[0]);\n"
         "  float* y = kerf_data<float>(call->outputs[0]);\n"
         "  for (int64_t i = 0; i < kerf_numel(call->inputs[0]); ++i) y[i] = " +
         value + ";\n  return 0;\n}\n";
}

const std::string kRight = Elementwise("x[i] > 0 ? x[i] : 0");
const std::string kWrong = Elementwise("i == 70 ? 5 : x[i] > 0 ? x[i] : 0");

// One cache for all tests: the second verdict on a task need not run its reference.
class VerifyCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cache_ = new TempDir(); }
  static void TearDownTestSuite() {
    delete cache_;
    cache_ = nullptr;
  }

  void SetUp() override {
    if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.path() + "/" + name, std::ios::binary) << text;
    return dir_.path() + "/" + name;
  }

  Command MakeCommand(std::vector<std::string> words, const std::string& cache = "") {
    words.insert(words.begin(), {KERF_BINARY, "verify"});
    return {.argv = std::move(words),
            .cwd = dir_.path(),
            .environment = {{"PATH=" + Variable("PATH", "/usr/bin:/bin"), "KERF_PYTHON=" + python_,
                             "KERF_CACHE_DIR=" + (cache.empty() ? cache_->path() : cache)}},
            .timeout = std::chrono::seconds(100)};
  }

  ProcessOutcome Run(const Command& command) {
    const auto outcome = RunProcess(command);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  ProcessOutcome Verify(std::vector<std::string> words) {
    return Run(MakeCommand(std::move(words)));
  }

  // "passed", "wrong_value/value", or what the command printed when there is no verdict.
  std::string Judge(std::vector<std::string> words) {
    words.emplace_back("--json");
    const ProcessOutcome outcome = Verify(std::move(words));
    const Json verdict = Json::parse(outcome.stdout_text, nullptr, /*allow_exceptions=*/false);
    if (!verdict.contains("status")) return outcome.stdout_text + outcome.stderr_text;
    EXPECT_EQ(outcome.exit_code, verdict.at("passed").get<bool>() ? 0 : 1);
    const std::string reason = verdict.at("reason");
    return verdict.at("status").get<std::string>() + (reason.empty() ? "" : "/" + reason);
  }

  std::vector<Json> Stream(const std::string& input, int exit_code, const char* jobs = "1") {
    Command command = MakeCommand({kRelu, "--stdin", "--impl", "cpp", "--jobs", jobs});
    command.input = input;
    const ProcessOutcome outcome = Run(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.stderr_text;
    std::vector<Json> answers;
    std::istringstream lines(outcome.stdout_text);
    for (std::string line; std::getline(lines, line);) answers.push_back(Json::parse(line));
    return answers;
  }

  static TempDir* cache_;
  TempDir dir_;
  std::string python_ = Python();
};

TempDir* VerifyCommand::cache_ = nullptr;

TEST_F(VerifyCommand, PassesARightCandidate) {
  const ProcessOutcome outcome = Verify({kRelu, Write("relu.cc", kRight)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, StartsWith("passed\n"));
}

TEST_F(VerifyCommand, FailsAWrongOneAndShowsWhere) {
  const ProcessOutcome outcome = Verify({kRelu, Write("relu.cc", kWrong)});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("wrong_value (value)"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("[0, 70]: expected"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("got 5"));
}

TEST_F(VerifyCommand, AnswersInOrderWhenSeveralAreJudgedAtOnce) {
  std::string input;
  for (int i = 0; i < 12; ++i) {
    // Every third is wrong, every fourth is no candidate at all.
    const Json line =
        i % 4 == 3
            ? Json{{"id", i}}
            : Json{{"id", i},
                   {"source", (i % 3 == 2 ? kWrong : kRight) + ("\n// " + std::to_string(i))}};
    input += line.dump() + "\n";
  }
  const std::vector<Json> answers = Stream(input, 1, "3");
  ASSERT_EQ(answers.size(), 12U);
  for (int i = 0; i < 12; ++i) {
    const Json& answer = answers[static_cast<size_t>(i)];
    EXPECT_EQ(answer["id"], i);
    EXPECT_EQ(answer["ok"], i % 4 != 3) << answer.dump().substr(0, 300);
    if (i % 4 == 3) continue;
    EXPECT_EQ(answer["verdict"]["passed"], i % 3 != 2);
  }
}

// docs/formats/verdict.md, "Fields".
TEST_F(VerifyCommand, PrintsTheDocumentedFields) {
  const ProcessOutcome outcome =
      Verify({kRelu, Write("relu.cc", kWrong), "--json", "--compat", "aikg"});
  const Json verdict = Json::parse(outcome.stdout_text);
  for (const char* field :
       {"format",    "version",       "status",    "reason",    "stage",  "passed",
        "pass_call", "pass_exe",      "pass_perf", "op_name",   "impl",   "backend",
        "framework", "summary",       "log",       "candidate", "task",   "build",
        "cases",     "deterministic", "timing",    "sandbox",   "checks", "compat",
        "kerf",      "started",       "ms",        "phases_ms"}) {
    EXPECT_TRUE(verdict.contains(field)) << field;
  }
  EXPECT_EQ(verdict.at("format"), "kerf-verdict");
  EXPECT_EQ(verdict.at("stage"), "execute");
  EXPECT_TRUE(verdict.at("pass_call").get<bool>());
  EXPECT_TRUE(verdict.at("pass_perf").is_null());
  EXPECT_EQ(verdict.at("candidate").at("name"), "relu.cc");
  EXPECT_EQ(verdict.at("candidate").at("bytes"), kWrong.size());
  EXPECT_TRUE(verdict.at("compat").contains("aikg"));
  const Json& output = verdict.at("cases").at(0).at("outputs").at(0);
  for (const char* field : {"name", "spec", "elements", "beyond", "max_error", "rms_error",
                            "max_in_budget", "worst_index", "weak_oracle", "bit_identical"}) {
    EXPECT_TRUE(output.contains(field)) << field;
  }
  EXPECT_EQ(output.at("beyond"), 1);
}

TEST_F(VerifyCommand, RefusesWhatIsNotThere) {
  const std::string candidate = Write("relu.cc", kRight);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"missing.py", candidate}, {kRelu, "missing.cc"}, {kRelu}, {}}) {
    const ProcessOutcome outcome = Verify(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.stdout_text, "");
    EXPECT_NE(outcome.stderr_text, "");
  }
  const ProcessOutcome json = Verify({kRelu, "missing.cc", "--json"});
  EXPECT_EQ(Json::parse(json.stdout_text).at("error").at("code"), "not_found");
}

TEST_F(VerifyCommand, RefusesFoldersAndUnknownKinds) {
  std::filesystem::create_directories(dir_.path() + "/folder.cc");
  EXPECT_THAT(Verify({kRelu, "folder.cc"}).stderr_text, HasSubstr("is not a regular file"));
  EXPECT_EQ(Verify({"folder.cc", Write("relu.cc", kRight)}).exit_code, 2);
  const ProcessOutcome unknown = Verify({kRelu, Write("relu.rs", kRight)});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.stderr_text, HasSubstr("say --impl"));
  EXPECT_EQ(Judge({kRelu, "relu.rs", "--impl", "cpp"}), "passed");
}

TEST_F(VerifyCommand, RefusesImpossibleNumbers) {
  const std::string candidate = Write("relu.cc", kRight);
  for (const char* flag :
       {"--seeds=0", "--seeds=1001", "--seeds=x", "--threads=0", "--timeout=-1"}) {
    EXPECT_EQ(Verify({kRelu, candidate, flag}).exit_code, 2) << flag;
  }
}

TEST_F(VerifyCommand, JudgesAnythingThatIsAFile) {
  EXPECT_EQ(Judge({kRelu, Write("empty.cc", "")}), "compile_error/undefined_symbol");
  EXPECT_THAT(Verify({kRelu, "empty.cc"}).stdout_text, HasSubstr("does not define the function"));
  std::string garbage;
  for (int i = 0; i < 3000; ++i) garbage += static_cast<char>(i * 7919 % 251);
  EXPECT_EQ(Judge({kRelu, Write("garbage.cc", garbage)}), "compile_error/syntax");
  EXPECT_EQ(Judge({kRelu, Write("a \xc3\xbc 'b' $(c).cc", kRight)}), "passed");
}

TEST_F(VerifyCommand, TellsOfATaskThatCannotRun) {
  const std::string candidate = Write("relu.cc", kRight);
  const ProcessOutcome raises = Verify({kSource + "/test/data/tasks/raises_numpy.py", candidate});
  EXPECT_EQ(raises.exit_code, 2);
  EXPECT_THAT(raises.stderr_text, HasSubstr("line 8: ValueError"));
  const ProcessOutcome garbage = Verify({Write("task.py", std::string("a\0b", 3)), candidate});
  EXPECT_EQ(garbage.exit_code, 2);
}

TEST_F(VerifyCommand, TellsOfTheWrongFramework) {
  const ProcessOutcome outcome = Verify({kRelu, Write("relu.cc", kRight), "--framework", "torch"});
  // 3 when no interpreter has torch.
  EXPECT_THAT(outcome.exit_code, AnyOf(2, 3));
  EXPECT_THAT(outcome.stderr_text, AnyOf(HasSubstr("output0 is a ndarray"), HasSubstr("torch")));
}

TEST_F(VerifyCommand, RunsInARequiredSandboxWhereThereIsOne) {
  const ProcessOutcome outcome =
      Verify({kRelu, Write("relu.cc", kRight), "--sandbox", "required", "--json"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_EQ(Json::parse(outcome.stdout_text).at("sandbox").at("mode"), "required");
}

TEST_F(VerifyCommand, NamesACacheItCannotUse) {
  const std::string file = Write("file", "");
  const ProcessOutcome outcome =
      Run(MakeCommand({kRelu, Write("relu.cc", kRight)}, file + "/cache"));
  EXPECT_THAT(outcome.exit_code, AnyOf(2, 3));
  EXPECT_THAT(outcome.stderr_text, HasSubstr(file));
}

TEST_F(VerifyCommand, TwoAtOnceShareAColdCache) {
  const TempDir cold;
  const std::string candidate = Write("relu.cc", kRight);
  ProcessOutcome outcomes[2];
  {
    std::vector<std::jthread> threads;
    for (ProcessOutcome& outcome : outcomes) {
      threads.emplace_back([&] { outcome = Run(MakeCommand({kRelu, candidate}, cold.path())); });
    }
  }
  for (const ProcessOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  }
}

TEST_F(VerifyCommand, CarriesThatTheTaskIsUnfit) {
  const std::string task = kSource + "/test/data/tasks/null_copy_numpy.py";
  const ProcessOutcome outcome = Verify({task, Write("copy.cc", Elementwise("x[i]")), "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json verdict = Json::parse(outcome.stdout_text);
  EXPECT_EQ(verdict.at("status"), "task_unfit");
  EXPECT_EQ(verdict.at("reason"), "null_baseline");
  EXPECT_FALSE(verdict.at("task").at("fit").get<bool>());
  EXPECT_THAT(verdict.at("summary").get<std::string>(), HasSubstr("copy of input0"));
  EXPECT_EQ(Judge({task, Write("wrong.cc", Elementwise("0"))}), "wrong_value/value");
}

TEST_F(VerifyCommand, SaysHowToGetSwft) {
  if (CanImport("swft")) GTEST_SKIP() << "swft is there";
  const ProcessOutcome outcome =
      Verify({kRelu, Write("relu_swft.py", "def relu_swft_numpy(device_id): pass\n"), "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json verdict = Json::parse(outcome.stdout_text);
  EXPECT_EQ(verdict.at("status"), "unsupported");
  EXPECT_EQ(verdict.at("reason"), "package");
  EXPECT_THAT(verdict.at("log").get<std::string>(), HasSubstr("github.com/mindspore-ai/akg"));
  EXPECT_THAT(verdict.at("log").get<std::string>(), HasSubstr("No module named 'swft'"));
}

TEST_F(VerifyCommand, KeepsAProjectThatRunsWithoutKerf) {
  const ProcessOutcome outcome =
      Verify({kRelu, Write("relu.cc", kWrong), "--keep", "kept", "--json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  EXPECT_THAT(outcome.stderr_text, HasSubstr("kept in kept"));
  std::ifstream stored(dir_.path() + "/kept/verdict.json");
  EXPECT_EQ(Json::parse(stored), Json::parse(outcome.stdout_text));
  const ProcessOutcome script =
      Run({.argv = {Python(), dir_.path() + "/kept/verify_relu.py"},
           .environment = {{"PATH=" + Variable("PATH", "/usr/bin:/bin")}}});
  EXPECT_EQ(script.exit_code, 1) << script.stderr_text;
  EXPECT_THAT(script.stdout_text, HasSubstr("[0, 70]: expected"));
  EXPECT_EQ(Verify({kRelu, "relu.cc", "--keep", "."}).exit_code, 2);
  EXPECT_EQ(Verify({kRelu, "--stdin", "--keep", "other"}).exit_code, 2);
}

TEST_F(VerifyCommand, JudgesAStream) {
  const std::string long_one = kRight + "//" + std::string(100'000, 'x') + "\n";
  const std::string input = Json{{"id", 1}, {"source", kRight}}.dump() + "\n\n  \t\r\n" +
                            Json{{"id", {{"a", "b"}}}, {"source", kWrong}}.dump() + "\n" +
                            Json{{"id", "long"}, {"source", long_one}}.dump();  // no end of line
  const std::vector<Json> answers = Stream(input, 1);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].at("id"), 1);
  EXPECT_EQ(answers[0].at("verdict").at("status"), "passed");
  EXPECT_EQ(answers[1].at("id"), Json({{"a", "b"}}));
  EXPECT_EQ(answers[1].at("verdict").at("status"), "wrong_value");
  EXPECT_EQ(answers[2].at("id"), "long");
  EXPECT_EQ(answers[2].at("verdict").at("status"), "passed");
}

TEST_F(VerifyCommand, GoesOnAfterABadLineAndKeepsItsId) {
  const std::vector<Json> answers = Stream(
      "{not json\n[1]\n{\"id\":7}\n{\"id\":8,\"path\":\"missing.cc\"}\n"
      "{\"id\":9,\"source\":\"x\",\"impl\":\"cobol\"}\n{\"id\":10,\"source\":1}\n" +
          Json{{"id", 11}, {"source", kRight}}.dump() + "\n",
      1);
  ASSERT_EQ(answers.size(), 7U);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_FALSE(answers[i].at("ok").get<bool>());
    EXPECT_FALSE(answers[i].at("error").at("message").get<std::string>().empty());
  }
  EXPECT_TRUE(answers[0].at("id").is_null());
  for (int i = 2; i < 7; ++i) EXPECT_EQ(answers[i].at("id"), 5 + i);
  EXPECT_EQ(answers[6].at("verdict").at("status"), "passed");
}

TEST_F(VerifyCommand, TakesAStreamWithoutCandidates) {
  EXPECT_TRUE(Stream("", 0).empty());
  Command closed = MakeCommand({});
  closed.argv = {"bash", "-c", "exec \"$0\" verify \"$1\" --stdin <&-", KERF_BINARY, kRelu};
  const ProcessOutcome outcome = Run(closed);
  EXPECT_THAT(outcome.exit_code, AnyOf(0, 3));
  EXPECT_EQ(outcome.stdout_text, "");
}

std::string Softmax(const std::string& divisor) {
  return R"(#include <kerf/kernel.h>
#include <cmath>
KERF_KERNEL(call) {
  const DLTensor& t = call->inputs[0];
  const float* x = kerf_data<float>(t);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = t.shape[1];
  for (int64_t r = 0; r < t.shape[0]; ++r, x += n, y += n) {
    double most = x[0], sum = 0;
    for (int64_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - most);
    for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - most) / ()" +
         divisor + R"();
  }
  return 0;
}
)";
}

class EveryFramework : public VerifyCommand, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryFramework, GivesTheSameVerdicts) {
  python_ = PythonFor(GetParam());
  if (!CanImport(GetParam(), python_)) GTEST_SKIP() << python_ << " has no " << GetParam();
  const std::string task = kSource + "/examples/tasks/softmax_" + GetParam() + ".py";
  EXPECT_EQ(Judge({task, kSource + "/examples/kernels/softmax.cc"}), "passed");
  EXPECT_EQ(Judge({task, Write("one_row.cc", Softmax("r == 63 ? 1 : sum"))}), "wrong_value/value");
  // As far off as a lower precision would be; whether it is told from that depends on the draw.
  EXPECT_THAT(Judge({task, Write("slightly.cc", Softmax("sum * 1.00001"))}),
              StartsWith("wrong_value/"));
  EXPECT_EQ(Judge({task, Write("nan.cc", Softmax("r == 5 ? NAN : sum"))}), "nonfinite/nan");
}

// How fast it is says nothing about kerf; that there is something to compare with does.
TEST_F(VerifyCommand, MeasuresAMindsporeReference) {
  python_ = PythonFor("mindspore");
  if (!CanImport("mindspore", python_)) GTEST_SKIP() << python_ << " has no mindspore";
  const ProcessOutcome outcome = Verify({kSource + "/examples/tasks/softmax_mindspore.py",
                                         kSource + "/examples/kernels/softmax.cc", "--profile"});
  EXPECT_THAT(outcome.stdout_text, HasSubstr("against eager")) << outcome.stderr_text;
}

INSTANTIATE_TEST_SUITE_P(Softmax, EveryFramework, ::testing::Values("numpy", "torch", "mindspore"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace kerf::e2e
