#include "loop/verify/keep_project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/subprocess.h"
#include "loop/verify/scratch.h"

namespace kerf::verify {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTask = R"(import numpy as np


class Model:
    def __init__(self, scale):
        self.weight = np.random.rand(8).astype(np.float32)
        self.scale = scale

    def __call__(self, x):
        return np.maximum(x, 0) * self.weight * np.float32(self.scale)


def get_inputs():
    return [np.random.randn(4, 8).astype(np.float32)]


def get_init_inputs():
    return [2.5]
)";

std::string Cpp(const std::string& value) {
  return R"(#include <kerf/kernel.h>
KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  const float* w = kerf_data<float>(call->params[0]);
  const double scale = *kerf_data<double>(call->init[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  for (int64_t i = 0; i < kerf_numel(call->inputs[0]); ++i) y[i] = )" +
         value + ";\n  return 0;\n}\n";
}

constexpr const char* kRight = "(x[i] > 0 ? x[i] : 0) * w[i % 8] * (float)scale";

KeptProject MakeProject(Impl impl, std::string source, const std::string& framework = "numpy") {
  KeptProject project;
  project.task_text = kTask;
  project.candidate = {"act", "a", impl, std::move(source)};
  project.verdict.framework = framework;
  project.verdict.backend = "cpu";
  project.seeds = {3, 1234567};
  return project;
}

std::string Python() {
  const char* own = std::getenv("KERF_PYTHON");
  return own != nullptr ? own : KERF_SOURCE_DIR "/.venv/bin/python";
}

bool CanImport(const std::string& packages) {
  const auto outcome = RunProcess({.argv = {Python(), "-c", "import " + packages}});
  return outcome.ok() && outcome->exit_code == 0;
}

class KeepProjectTest : public testing::Test {
 protected:
  Status Keep(const KeptProject& project) { return KeepProject(*fs_, folder_, project, ids_); }

  // As a person would: no kerf, no sandbox, none of kerf's variables.
  ProcessOutcome RunScript() {
    const char* own = std::getenv("PATH");
    const std::string path = own != nullptr ? own : "/usr/bin:/bin";
    return *RunProcess({.argv = {Python(), folder_ + "/verify_act.py"},
                        .environment = {{"PATH=" + path}},
                        .timeout = std::chrono::seconds(60)});
  }

  void Put(const std::string& name) { std::ofstream(folder_ + "/" + name) << "mine"; }

  std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  FakeIds ids_;
  Scratch scratch_ = *Scratch::Make(testing::TempDir() + "kerf_keep");
  std::string folder_ = scratch_.path() + "/a new/kept";
};

TEST_F(KeepProjectTest, WritesTaskAndCandidateVerbatim) {
  const std::string source = Cpp(kRight) + "// \xff\r\n";
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, source)).ok());
  EXPECT_EQ(*fs_->ReadFile(folder_ + "/act_numpy.py"), kTask);
  EXPECT_EQ(*fs_->ReadFile(folder_ + "/act_cpp.cc"), source);
  EXPECT_THAT(*fs_->ReadFile(folder_ + "/kerf/kernel.h"), HasSubstr("KERF_KERNEL"));
  EXPECT_THAT(*fs_->ReadFile(folder_ + "/verdict.json"), HasSubstr("\"kerf-verdict\""));
  EXPECT_EQ(fs_->List(ParentPath(folder_))->size(), 1U) << "something was left beside it";
}

TEST_F(KeepProjectTest, NamesTheCandidateByItsImpl) {
  EXPECT_EQ(KeptCandidateName({"op", "", Impl::kCudaC, ""}), "op_cuda_c.cu");
  EXPECT_EQ(KeptCandidateName({"op", "", Impl::kHip, ""}), "op_hip.hip");
  EXPECT_EQ(KeptCandidateName({"op", "", Impl::kTriton, ""}), "op_triton.py");
  EXPECT_EQ(KeptCandidateName({"op", "", Impl::kSwft, ""}), "op_swft.py");
}

TEST_F(KeepProjectTest, TheScriptPassesARightCandidate) {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, Cpp(kRight))).ok());
  const ProcessOutcome outcome = RunScript();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stdout_text << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("seed 1234567"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("\npassed\n"));
}

TEST_F(KeepProjectTest, TheScriptShowsTheWorstElementsOfAWrongOne) {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, Cpp(std::string("i == 9 ? 77 : ") + kRight))).ok());
  const ProcessOutcome outcome = RunScript();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("1 of 32 elements differ"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("[1, 1]: expected"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("got 77"));
}

TEST_F(KeepProjectTest, TheScriptSeesWhatWasNeverWritten) {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  KeptProject project = MakeProject(
      Impl::kCpp, "#include <kerf/kernel.h>\nKERF_KERNEL(call) { return call == nullptr; }\n");
  ASSERT_TRUE(Keep(project).ok());
  const ProcessOutcome outcome = RunScript();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.stdout_text, HasSubstr("got nan"));
}

TEST_F(KeepProjectTest, TheScriptFailsWhenTheCandidateDoesNotBuild) {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, "nonsense")).ok());
  const ProcessOutcome outcome = RunScript();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.stderr_text, HasSubstr("it does not build"));
}

TEST_F(KeepProjectTest, TheScriptFailsWhenTheCandidateCrashes) {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, Cpp("*(volatile float*)8"))).ok());
  const ProcessOutcome outcome = RunScript();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.stderr_text, HasSubstr("it crashed (SIGSEGV)"));
}

TEST_F(KeepProjectTest, TheScriptSaysWhatIsMissing) {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
  if (CanImport("swft")) GTEST_SKIP() << "swft is there";
  ASSERT_TRUE(Keep(MakeProject(Impl::kSwft, "def act_swft_numpy(device_id): pass\n")).ok());
  const ProcessOutcome outcome = RunScript();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.stderr_text, HasSubstr("the package swft is not there"));
}

constexpr const char* kTorchTask = R"(import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2 + 1
def get_inputs():
    return [torch.randn(3, 40)]
def get_init_inputs():
    return []
)";

std::string Triton(const std::string& value) {
  return R"(import torch
import triton
import triton.language as tl

@triton.jit
def act_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, )" +
         value + R"(, mask=at < n)

def act_triton_torch(x):
    y = torch.empty_like(x)
    act_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y
)";
}

TEST_F(KeepProjectTest, TheScriptRunsTriton) {
  if (!CanImport("torch, triton")) GTEST_SKIP() << Python() << " has no torch or no triton";
  KeptProject project = MakeProject(Impl::kTriton, Triton("v * 2 + 1"), "torch");
  project.task_text = kTorchTask;
  ASSERT_TRUE(Keep(project).ok());
  const ProcessOutcome right = RunScript();
  EXPECT_EQ(right.exit_code, 0) << right.stdout_text << right.stderr_text;
  project.candidate.source = Triton("v * 2");
  ASSERT_TRUE(Keep(project).ok());
  const ProcessOutcome wrong = RunScript();
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.stdout_text, HasSubstr("120 of 120 elements differ"));
}

TEST_F(KeepProjectTest, TakesAnEmptyFolderAndReplacesAnEarlierProject) {
  std::filesystem::create_directories(folder_);
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, "one")).ok());
  ASSERT_TRUE(CheckKeepFolder(*fs_, folder_ + "//").ok());
  ASSERT_TRUE(Keep(MakeProject(Impl::kTriton, "two")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/act_cpp.cc"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/kerf"));
  EXPECT_EQ(*fs_->ReadFile(folder_ + "/act_triton.py"), "two");
  EXPECT_EQ(fs_->List(ParentPath(folder_))->size(), 1U) << "something was left beside it";
}

TEST_F(KeepProjectTest, RefusesAFolderWithFilesOfSomebodyElse) {
  std::filesystem::create_directories(folder_);
  Put("thesis.txt");
  const Status refused = Keep(MakeProject(Impl::kCpp, "one"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(refused.error().message, HasSubstr("it holds other files"));
  EXPECT_EQ(*fs_->ReadFile(folder_ + "/thesis.txt"), "mine");
}

TEST_F(KeepProjectTest, RefusesAProjectToWhichSomebodyAddedAFile) {
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, "one")).ok());
  for (const char* name : {"notes.txt", "kerf/notes.txt"}) {
    Put(name);
    const Status refused = Keep(MakeProject(Impl::kCpp, "two"));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr(std::string(name) + " in it is not kerf's"));
    EXPECT_EQ(*fs_->ReadFile(folder_ + "/act_cpp.cc"), "one");
    std::filesystem::remove(folder_ + "/" + name);
  }
}

TEST_F(KeepProjectTest, RefusesAForgedMarker) {
  std::filesystem::create_directories(folder_);
  Put(".kerf_project");
  EXPECT_FALSE(CheckKeepFolder(*fs_, folder_).ok());
}

TEST_F(KeepProjectTest, FollowsNoLinkAndReplacesNoFile) {
  const std::string target = scratch_.path() + "/target";
  std::filesystem::create_directories(target);
  std::filesystem::create_directories(ParentPath(folder_));
  std::filesystem::create_symlink(target, folder_);
  for (const std::string& name : {folder_, folder_ + "/"}) {
    const Status refused = CheckKeepFolder(*fs_, name);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  }
  EXPECT_FALSE(Keep(MakeProject(Impl::kCpp, "one")).ok());
  EXPECT_TRUE(std::filesystem::is_empty(target));
  std::filesystem::remove(folder_);
  std::ofstream(folder_) << "a file";
  EXPECT_FALSE(CheckKeepFolder(*fs_, folder_).ok());
}

TEST_F(KeepProjectTest, RefusesLinksInsideAnEarlierProject) {
  ASSERT_TRUE(Keep(MakeProject(Impl::kCpp, "one")).ok());
  std::filesystem::remove(folder_ + "/verdict.json");
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/verdict.json");
  EXPECT_FALSE(CheckKeepFolder(*fs_, folder_).ok());
}

}  // namespace
}  // namespace kerf::verify
