#include "loop/verify/runner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop/verify/blame.h"
#include "loop/verify/candidate_testing.h"

namespace kerf::verify {
namespace {

using std::chrono::seconds;

double Relu(double x) { return x > 0 ? x : 0; }

// Builds a kernel body, runs it once on the first case, and keeps everything a test may ask about.
class OneCall {
 public:
  explicit OneCall(const std::string& body, Placement placement = Placement::kAtStart,
                   seconds timeout = seconds(10))
      : reference_({5, 7}, Relu) {
    const BuildRequest request{"kernel.cc", KernelText(body), CppFlags(), {}, ""};
    build_ = *BuildNative(request, TestBuildOptions());
    if (!build_.ok) return;
    runner_ = *StartRunner(NativeRunnerSpec(build_.library, TestRunnerOptions()));
    loaded_ = runner_->Load(timeout);
    const ReferenceCase& one = reference_.get().cases[0];
    const Mapping stored = *MapFile(one.input_file);
    in_.emplace(*InputFile::Make(reference_.get(), one, stored, placement, 1));
    before_ = in_->Checksum();
    out_.emplace(*OutputFile::Make(*in_));
    out_->Poison(42);
    called_ = runner_->Call(*in_, *out_, timeout, /*watch=*/true);
    if (called_.kind == Exchange::Kind::kReplied && called_.reply.kind == Reply::Kind::kFault) {
      fault_ = called_.text;
    }
  }
  [[nodiscard]] float got(size_t i) const {
    float value = 0;
    std::memcpy(&value, out_->data(0) + i * 4, 4);
    return value;
  }
  [[nodiscard]] float input(size_t i) const {
    const Mapping stored = *MapFile(reference_.get().cases[0].input_file);
    float value = 0;
    std::memcpy(&value, stored.data() + i * 4, 4);
    return value;
  }
  Finding End() {
    const Result<sandbox::Outcome>& outcome = runner_->End();
    return JudgeOutcome(*outcome, fault_);
  }

  TestReference reference_;
  NativeBuild build_;
  std::unique_ptr<Runner> runner_;
  std::optional<InputFile> in_;
  std::optional<OutputFile> out_;
  Exchange loaded_;
  Exchange called_;
  std::string fault_;
  uint64_t before_ = 0;
};

constexpr const char* kRelu =
    "for (int64_t i = 0; i < n; ++i) out[i] = x[i] > 0 ? x[i] : 0; return 0;";

TEST(Runner, ComputesInBothPlacements) {
  for (const Placement placement : {Placement::kAtStart, Placement::kAtEnd}) {
    OneCall call(kRelu, placement);
    ASSERT_TRUE(call.build_.ok) << call.build_.log;
    ASSERT_EQ(call.called_.kind, Exchange::Kind::kReplied);
    EXPECT_EQ(call.called_.reply.kind, Reply::Kind::kDone);
    for (size_t i = 0; i < 35; ++i) EXPECT_EQ(call.got(i), Relu(call.input(i)));
    EXPECT_EQ(call.out_->DamagedCanary(), "");
    EXPECT_EQ(call.in_->Checksum(), call.before_);
    EXPECT_FALSE(JudgeWatch(call.called_).bad());
  }
}

TEST(Runner, LeavesPoisonWhereNothingWasWritten) {
  OneCall call("out[0] = 1; return 0;");
  EXPECT_EQ(call.got(0), 1);
  EXPECT_TRUE(std::isnan(call.got(4)));
  EXPECT_TRUE(call.out_->poison(0).Matches(call.out_->data(0) + 16));
}

TEST(Runner, SeesAWriteIntoTheCanary) {
  OneCall call("out[n] = 1; return 0;");
  EXPECT_EQ(call.out_->DamagedCanary(), "1 bytes after the end of output0");
}

TEST(Runner, FaultsOnAWriteBeforeTheBuffer) {
  OneCall call("out[-1] = 1; return 0;");
  const Finding finding = call.End();
  EXPECT_EQ(finding.reason, "out_of_bounds_write");
  EXPECT_EQ(finding.text, "write 4 bytes before output0");
}

TEST(Runner, FaultsOnAReadPastTheEnd) {
  OneCall call("out[0] = x[n + 16]; return 0;", Placement::kAtEnd);
  const Finding finding = call.End();
  EXPECT_EQ(finding.reason, "out_of_bounds_read") << finding.text;
}

TEST(Runner, FaultsOnAWriteToAnInput) {
  OneCall call("const_cast<float*>(x)[3] = 0; return 0;");
  const Finding finding = call.End();
  EXPECT_EQ(finding.reason, "input_write");
  EXPECT_EQ(finding.text, "write in input0 at byte 12");
}

TEST(Runner, TellsAnExceptionWithItsText) {
  OneCall call("throw std::runtime_error(\"no such tile\");");
  ASSERT_TRUE(call.build_.ok) << call.build_.log;
  EXPECT_EQ(call.called_.reply.kind, Reply::Kind::kRaised);
  EXPECT_EQ(call.called_.text, "exception: no such tile");
}

TEST(Runner, TellsTheReturnCode) {
  OneCall call("return 7;");
  const Finding finding = JudgeReply(call.called_);
  EXPECT_EQ(finding.status, VerdictStatus::kCallError);
  EXPECT_EQ(finding.reason, "returned_error");
}

TEST(Runner, DoesNotTakeExitForAnAnswer) {
  OneCall call("std::exit(0);");
  EXPECT_EQ(call.called_.kind, Exchange::Kind::kGone);
  EXPECT_EQ(call.End().reason, "exited");
}

TEST(Runner, TellsAbort) {
  OneCall call("std::abort();");
  EXPECT_EQ(call.End().reason, "abort");
}

TEST(Runner, KillsWhatDoesNotReturn) {
  OneCall call("for (volatile int64_t i = 0;; i = i + 1) { } return 0;", Placement::kAtStart,
               seconds(1));
  EXPECT_EQ(call.called_.kind, Exchange::Kind::kTimedOut);
  EXPECT_EQ(JudgeReply(call.called_).status, VerdictStatus::kTimeout);
}

TEST(Runner, StopsTheClockForABackgroundThread) {
  const std::string source = R"(#include <kerf/kernel.h>
#include <thread>
KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* out = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  std::thread([=] {
    for (volatile int64_t k = 0; k < 200000000; k = k + 1) { }
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] > 0 ? x[i] : 0;
  }).detach();
  return 0;
}
)";
  const TestReference reference({5, 7}, Relu);
  const NativeBuild build =
      *BuildNative({"kernel.cc", source, CppFlags(), {}, ""}, TestBuildOptions());
  ASSERT_TRUE(build.ok) << build.log;
  const auto runner = *StartRunner(NativeRunnerSpec(build.library, TestRunnerOptions()));
  ASSERT_EQ(runner->Load(seconds(10)).reply.kind, Reply::Kind::kLoaded);
  const ReferenceCase& one = reference.get().cases[0];
  const Mapping stored = *MapFile(one.input_file);
  const InputFile in = *InputFile::Make(reference.get(), one, stored, Placement::kAtStart, 1);
  OutputFile out = *OutputFile::Make(in);
  out.Poison(1);
  const Exchange called = runner->Call(in, out, seconds(10), true);
  float first = 0;
  std::memcpy(&first, out.data(0), 4);
  EXPECT_TRUE(std::isnan(first));
  EXPECT_EQ(JudgeWatch(called).reason, "background_work");
}

TEST(Runner, TakesNoForgedAnswer) {
  // Writes what looks like an answer to every descriptor before it returns.
  OneCall call(
      R"(char reply[4088] = {2}; for (int fd = 3; fd < 200; ++fd) if (write(fd, reply, sizeof reply) < 0) continue;
  return 0;)");
  ASSERT_TRUE(call.build_.ok) << call.build_.log;
  EXPECT_EQ(call.called_.kind, Exchange::Kind::kForged);
}

TEST(NativeBuild, KeepsLibrariesByContent) {
  const BuildRequest request{"kernel.cc", KernelText("return 123;"), CppFlags(), {}, ""};
  const NativeBuild first = *BuildNative(request, TestBuildOptions());
  const NativeBuild second = *BuildNative(request, TestBuildOptions());
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.library, second.library);
}

TEST(NativeBuild, ReportsErrorsWithTheUsersLines) {
  const BuildRequest request{"relu.cc",
                             "#include <kerf/kernel.h>\nKERF_KERNEL(call) { return nothing; }\n",
                             CppFlags(),
                             {},
                             ""};
  const NativeBuild build = *BuildNative(request, TestBuildOptions());
  EXPECT_FALSE(build.ok);
  EXPECT_EQ(build.status, "compile_error");
  EXPECT_EQ(build.reason, "syntax");
  EXPECT_NE(build.log.find("relu.cc:2:"), std::string::npos) << build.log;
}

TEST(NativeBuild, TellsTheMissingEntryAsAnUndefinedSymbol) {
  const BuildRequest request{"relu.cc", "int something_else() { return 0; }\n", CppFlags(), {}, ""};
  const NativeBuild build = *BuildNative(request, TestBuildOptions());
  EXPECT_FALSE(build.ok);
  EXPECT_EQ(build.reason, "undefined_symbol");
  EXPECT_NE(build.log.find("kerf_kernel"), std::string::npos) << build.log;
}

TEST(NativeBuild, CannotReadTheMachinesFiles) {
  const BuildRequest request{"relu.cc", "#include \"/etc/shadow\"\n", CppFlags(), {}, ""};
  const NativeBuild build = *BuildNative(request, TestBuildOptions());
  EXPECT_FALSE(build.ok);
  EXPECT_EQ(build.reason, "missing_header") << build.log;
}

}  // namespace
}  // namespace kerf::verify
