// Runs real references in the real sandbox, where an interpreter has the framework; the rest is
// skipped and says why.
#include "loop/task/reference_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "loop/task/interpreter_testing.h"
#include "loop/task/task_check.h"

namespace kerf::task {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kUnfit = std::string(KERF_SOURCE_DIR) + "/test/data/tasks/";
const std::string kExamples = std::string(KERF_SOURCE_DIR) + "/examples/tasks/";

class MakeReferenceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fs_ = MakePosixFileSystem().release();
    // Asked once: importing torch takes seconds.
    for (const Framework framework : kFrameworks) {
      interpreters_[static_cast<size_t>(framework)] =
          new Result<Interpreter>(InterpreterForTests(*fs_, framework));
    }
    char name[] = "/tmp/kerf-maker-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = new std::string(name);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(*root_); }

  void SetUp() override {
    if (const auto level = sandbox::ChooseLevel(sandbox::Mode::kRequired, sandbox::Probe());
        !level.ok()) {
      GTEST_SKIP() << level.error().message;
    }
    options_.mode = sandbox::Mode::kRequired;
    options_.seeds = {0, 1};
    options_.check = true;
    options_.threads = 2;
    auto cache = ReferenceCache::Open(*fs_, *root_, uint64_t{1} << 30);
    ASSERT_TRUE(cache.ok());
    cache_ = std::make_unique<ReferenceCache>(*std::move(cache));
  }

  static const Result<Interpreter>& For(Framework framework) {
    return *interpreters_[static_cast<size_t>(framework)];
  }

  Result<Reference> Make(const std::string& path) {
    KERF_ASSIGN_OR_RETURN(const TaskFile task, ReadTaskFile(*fs_, path));
    KERF_ASSIGN_OR_RETURN(const Interpreter interpreter, For(task.framework));
    return MakeReference(*fs_, task, options_, interpreter, *cache_);
  }

  std::string WhyNot(const std::string& path) {
    const auto made = Make(path);
    if (made.ok()) return "";
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidInput) << made.error().message;
    return made.error().message;
  }

  template <typename T>
  static std::vector<T> Values(const std::string& file, const StoredTensor& tensor) {
    const std::string bytes = *fs_->ReadRange(file, tensor.offset, tensor.spec.bytes());
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  static inline FileSystem* fs_ = nullptr;
  static inline Result<Interpreter>* interpreters_[3] = {};
  static inline std::string* root_ = nullptr;
  ReferenceOptions options_;
  std::unique_ptr<ReferenceCache> cache_;
};

#define KERF_NEEDS(framework) \
  if (!For(framework).ok()) GTEST_SKIP() << For(framework).error().message

TEST_F(MakeReferenceTest, MakesNumpysSoftmax) {
  KERF_NEEDS(Framework::kNumpy);
  const auto made = Make(kExamples + "softmax_numpy.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->cases.size(), 2);
  const ReferenceCase& one = made->cases[0];
  const auto x = Values<float>(one.input_file, one.inputs.at(0).tensor);
  const auto y = Values<float>(one.output_file, one.outputs.at(0));
  ASSERT_TRUE(one.oracle.at(0).has_value()) << one.oracle_note;
  const auto exact = Values<double>(one.output_file, *one.oracle[0]);
  ASSERT_EQ(one.lower_precision, "float16");
  const auto lower = Values<float>(one.output_file, one.lower.at(0).value());
  double sum = 0;
  for (int i = 0; i < 512; ++i) sum += std::exp(double{x[i]});
  double lower_error = 0;
  for (int i = 0; i < 512; ++i) {
    EXPECT_NEAR(exact[i], std::exp(double{x[i]}) / sum, 1e-14);
    EXPECT_NEAR(y[i], exact[i], 1e-7);
    lower_error = std::max(lower_error, std::abs(lower[i] - exact[i]));
  }
  EXPECT_GT(lower_error, 1e-6);
  EXPECT_GT(one.reference_ns, 0);
  EXPECT_NE(x, Values<float>(made->cases[1].input_file, made->cases[1].inputs.at(0).tensor));
}

TEST_F(MakeReferenceTest, GivesTheSameForTorchAndNumpy) {
  KERF_NEEDS(Framework::kNumpy);
  KERF_NEEDS(Framework::kTorch);
  for (const char* name : {"softmax_torch.py", "softmax_numpy.py"}) {
    const auto made = Make(kExamples + name);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->cases.at(0).outputs.at(0).spec.ToString(), "float32[64, 512]");
    EXPECT_TRUE(made->cases.at(0).oracle.at(0).has_value());
    EXPECT_TRUE(made->checks->deterministic);
    EXPECT_TRUE(CheckTask(*fs_, *made)->fit());
  }
}

TEST_F(MakeReferenceTest, MakesEveryExampleOfTorch) {
  KERF_NEEDS(Framework::kTorch);
  options_.hidden = 1;
  for (const char* name : {"layernorm_torch.py", "matmul_torch.py", "rmsnorm_dynamic_torch.py"}) {
    const auto made = Make(kExamples + name);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const auto report = CheckTask(*fs_, *made);
    EXPECT_TRUE(report->fit()) << name << ": " << report->findings.at(0).message;
    EXPECT_THAT(report->findings, IsEmpty()) << report->findings.at(0).message;
  }
}

TEST_F(MakeReferenceTest, MakesUpHiddenShapes) {
  KERF_NEEDS(Framework::kTorch);
  options_.hidden = 1;
  const auto made = Make(kExamples + "rmsnorm_dynamic_torch.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made->dynamic);
  ASSERT_EQ(made->cases.size(), 2 * 3 + 1) << made->hidden_note;
  const ReferenceCase& hidden = made->cases.back();
  EXPECT_TRUE(hidden.hidden);
  const auto& x = hidden.inputs.at(0).tensor.spec.shape;
  const auto& weight = hidden.inputs.at(1).tensor.spec.shape;
  EXPECT_EQ(x.at(1), weight.at(0)) << "one symbol";
  EXPECT_EQ(x.at(0) % 2, 1);
  EXPECT_EQ(x.at(1) % 2, 1);
  EXPECT_GT(x.at(1), 64);
  EXPECT_LT(x.at(1), 1000);
}

TEST_F(MakeReferenceTest, StoresEveryKindOfValue) {
  KERF_NEEDS(Framework::kTorch);
  const auto made = Make(kUnfit + "many_kinds_torch.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const ReferenceCase& one = made->cases.at(0);
  std::string inputs;
  for (const Argument& input : one.inputs) inputs += input.name + " ";
  EXPECT_EQ(inputs, "x parts.0 parts.1 mask k flags name ");
  EXPECT_EQ(one.inputs[3].tensor.spec.ToString(), "bool[4, 6]");
  EXPECT_EQ(one.inputs[4].ints.at(0), 3);
  EXPECT_EQ(one.inputs[5].kind, Argument::Kind::kNone);
  EXPECT_EQ(one.inputs[6].text, "y");
  EXPECT_EQ(one.parameters.at(0).tensor.spec.ToString(), "bfloat16[6]");
  EXPECT_EQ(one.parameters.at(1).name, "table");
  std::string outputs;
  for (const StoredTensor& output : one.outputs)
    outputs += output.name + "=" + output.spec.ToString() + " ";
  EXPECT_EQ(outputs, "y=float32[6, 4] pair.0=float64[] pair.1=bfloat16[4, 6] index=int64[4] ");
  for (const auto& oracle : one.oracle) EXPECT_TRUE(oracle.has_value()) << one.oracle_note;
  EXPECT_EQ(made->init.at(1).name, "scale");
}

TEST_F(MakeReferenceTest, TakesASecondTimeFromTheCache) {
  KERF_NEEDS(Framework::kNumpy);
  ASSERT_TRUE(Make(kExamples + "relu_numpy.py").ok());
  const int builds = cache_->builds();
  ASSERT_TRUE(Make(kExamples + "relu_numpy.py").ok());
  EXPECT_EQ(cache_->builds(), builds);
  options_.seeds = {5};
  ASSERT_TRUE(Make(kExamples + "relu_numpy.py").ok());
  EXPECT_EQ(cache_->builds(), builds + 1);
}

TEST_F(MakeReferenceTest, NamesTheLineOfATaskThatFails) {
  KERF_NEEDS(Framework::kNumpy);
  EXPECT_THAT(WhyNot(kUnfit + "raises_numpy.py"),
              HasSubstr("raises_numpy.py, line 8: ValueError: the columns of x are odd"));
  EXPECT_THAT(WhyNot(kUnfit + "exits_numpy.py"), HasSubstr("line 9: the task called sys.exit(0)"));
  EXPECT_THAT(WhyNot(kUnfit + "exits_at_once_numpy.py"),
              HasSubstr("ended its process with exit code 0"));
  EXPECT_THAT(WhyNot(kUnfit + "segfaults_numpy.py"),
              HasSubstr("line 9: the task crashed with signal 11"));
  EXPECT_THAT(WhyNot(kUnfit + "syntax_error_numpy.py"),
              HasSubstr("line 7: Syntax error in task_desc: expected ':'"));
  EXPECT_THAT(
      WhyNot(kUnfit + "imports_missing_numpy.py"),
      HasSubstr("line 4: ModuleNotFoundError: No module named 'a_package_that_is_not_there'"));
}

TEST_F(MakeReferenceTest, EndsATaskThatHangs) {
  KERF_NEEDS(Framework::kNumpy);
  options_.timeout = std::chrono::seconds(3);
  EXPECT_THAT(
      WhyNot(kUnfit + "hangs_numpy.py"),
      AllOf(HasSubstr("not done after 3 s"), AnyOf(HasSubstr("line 8"), HasSubstr("line 9"))));
}

TEST_F(MakeReferenceTest, HidesTheUsersFiles) {
  KERF_NEEDS(Framework::kNumpy);
  // The runner's home is its work folder, and nobody else's is there.
  EXPECT_THAT(WhyNot(kUnfit + "reads_home_numpy.py"), HasSubstr("FileNotFoundError"));
}

TEST_F(MakeReferenceTest, KeepsOnlyWhatTheManifestNames) {
  KERF_NEEDS(Framework::kNumpy);
  const auto made = Make(kUnfit + "fills_folder_numpy.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_FALSE(std::filesystem::exists(made->folder + "/stranger"));
  EXPECT_FALSE(std::filesystem::exists(made->folder + "/started"));
}

TEST_F(MakeReferenceTest, DoesNotMindATaskThatPrints) {
  KERF_NEEDS(Framework::kNumpy);
  const auto made = Make(kUnfit + "prints_numpy.py");
  EXPECT_TRUE(made.ok()) << made.error().message;
}

std::vector<std::string> FindingsOf(FileSystem& fs, const Result<Reference>& made) {
  if (!made.ok()) return {made.error().message};
  std::vector<std::string> names;
  const auto report = CheckTask(fs, *made);
  for (const TaskFinding& finding : report->findings) {
    names.push_back((finding.unfit ? "unfit " : "") + std::string(FindingName(finding.finding)));
  }
  return names;
}

TEST_F(MakeReferenceTest, FindsUnfitTasks) {
  KERF_NEEDS(Framework::kNumpy);
  const auto of = [&](const char* name) { return FindingsOf(*fs_, Make(kUnfit + name)); };
  EXPECT_THAT(of("constant_numpy.py"), Contains("unfit constant"));
  EXPECT_THAT(of("constant_numpy.py"), Contains("unfit input_ignored"));
  EXPECT_THAT(of("ignores_input_numpy.py"),
              AllOf(Contains("unfit input_ignored"), Contains("parameter_ignored")));
  EXPECT_THAT(of("not_finite_numpy.py"), Contains("unfit non_finite"));
  EXPECT_THAT(of("random_output_numpy.py"), Contains("unfit not_deterministic"));
  EXPECT_THAT(of("some_infinite_numpy.py"), Contains("non_finite"));
  EXPECT_THAT(of("within_small_numpy.py"), Contains("small_outputs"));
  EXPECT_THAT(of("changes_input_numpy.py"), Contains("note"));
}

TEST_F(MakeReferenceTest, StoresInputsAsTheyWereBeforeTheTaskChangedThem) {
  KERF_NEEDS(Framework::kNumpy);
  const auto made = Make(kUnfit + "changes_input_numpy.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const ReferenceCase& one = made->cases.at(0);
  const auto x = Values<float>(one.input_file, one.inputs.at(0).tensor);
  const auto y = Values<float>(one.output_file, one.outputs.at(0));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(y[i], (x[i] + 1) * 2);
}

TEST_F(MakeReferenceTest, DrawsTwinsOfAnyShape) {
  KERF_NEEDS(Framework::kNumpy);
  options_.twin = true;
  for (const char* shape : {"64, 1", "1, 64", "64,", "8, 8", "4, 3, 3", "1, 1, 64, 1", ""}) {
    const std::string path = *root_ + "/twin_numpy.py";
    const std::string text = std::string("import numpy as np\n") + R"(

class Model:
    def __call__(self, x):
        return x * 2

def get_inputs():
    return [np.asarray(np.random.random_sample(()" +
                             shape + R"()), dtype=np.float32)]

def get_init_inputs():
    return []
)";
    ASSERT_TRUE(WriteFileAtomic(*fs_, path, text).ok());
    const auto made = Make(path);
    ASSERT_TRUE(made.ok()) << shape << ": " << made.error().message;
    const size_t twins = shape[0] == 0 ? 0 : 1;
    EXPECT_EQ(made->cases.size(), options_.seeds.size() + twins) << shape;
  }
}

TEST_F(MakeReferenceTest, RunsWithoutNamespacesToo) {
  KERF_NEEDS(Framework::kNumpy);
  options_.mode = sandbox::Mode::kOff;
  options_.seeds = {9};
  const auto made = Make(kExamples + "relu_numpy.py");
  EXPECT_TRUE(made.ok()) << made.error().message;
}

TEST_F(MakeReferenceTest, RunsBehindLandlockAlone) {
  KERF_NEEDS(Framework::kNumpy);
  options_.mode = sandbox::Mode::kBest;
  options_.available = sandbox::Probe();
  if (!options_.available->has(sandbox::Layer::kLandlock)) GTEST_SKIP() << "no Landlock here";
  for (const sandbox::Layer layer :
       {sandbox::Layer::kUserNamespace, sandbox::Layer::kMountNamespace,
        sandbox::Layer::kPidNamespace, sandbox::Layer::kNetworkNamespace,
        sandbox::Layer::kIpcNamespace, sandbox::Layer::kUtsNamespace,
        sandbox::Layer::kCgroupNamespace}) {
    options_.available->Set(layer, false, "taken away by the test");
  }
  options_.seeds = {10};
  const auto made = Make(kExamples + "relu_numpy.py");
  if (!made.ok() && made.error().message.find("runs as nobody") != std::string::npos) {
    GTEST_SKIP() << made.error().message;
  }
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_THAT(WhyNot(kUnfit + "reads_home_numpy.py"),
              ::testing::AnyOf(HasSubstr("PermissionError"), HasSubstr("FileNotFoundError")));
}

TEST_F(MakeReferenceTest, MeasuresBaselines) {
  KERF_NEEDS(Framework::kNumpy);
  options_.baselines = {"eager", "torch.compile"};
  const auto made = Make(kExamples + "relu_numpy.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->baselines.size(), 2);
  EXPECT_GE(made->baselines[0].samples_ns.size(), 5);
  EXPECT_THAT(made->baselines[1].error, HasSubstr("numpy has no compiler"));
}

TEST_F(MakeReferenceTest, CompilesInsideTheSandbox) {
  KERF_NEEDS(Framework::kTorch);
  options_.baselines = {"torch.compile"};
  options_.seeds = {0};
  const auto made = Make(kExamples + "layernorm_torch.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->baselines.at(0).error, "");
  EXPECT_GE(made->baselines.at(0).samples_ns.size(), 5);
}

TEST_F(MakeReferenceTest, RunsMindspore) {
  KERF_NEEDS(Framework::kMindspore);
  options_.baselines = {"eager"};
  const auto made = Make(kExamples + "layernorm_dense_mindspore.py");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(CheckTask(*fs_, *made)->fit());
  const ReferenceCase& one = made->cases.at(0);
  std::vector<std::string> names;
  for (const auto& parameter : one.parameters) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("dense.weight", "dense.bias", "norm.gamma", "norm.beta"));
  ASSERT_TRUE(one.oracle.at(0).has_value()) << one.oracle_note;
  const auto y = Values<float>(one.output_file, one.outputs.at(0));
  const auto exact = Values<double>(one.output_file, *one.oracle[0]);
  ASSERT_EQ(y.size(), exact.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], exact[i], 1e-4) << i;
  EXPECT_GE(made->baselines.at(0).samples_ns.size(), 5);
}

TEST_F(MakeReferenceTest, TellsTheLineOfAMindsporeTaskThatRaises) {
  KERF_NEEDS(Framework::kMindspore);
  EXPECT_THAT(WhyNot(kUnfit + "raises_mindspore.py"),
              AllOf(HasSubstr("line 9"), HasSubstr("MatMul")));
}

}  // namespace
}  // namespace kerf::task
