#include "trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "trace/checker.h"
#include "trace/fake_disk.h"
#include "trace/reader.h"

namespace kerf::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class TraceTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Trace>> Open(Names names = Names::kDoc, const std::string& task = "0") {
    return Trace::Open(disk_.fs, disk_.clock, disk_.ids,
                       {.op_name = "swish", .task_id = task, .log_dir = "logs", .names = names});
  }
  std::unique_ptr<Trace> MustOpen(Names names = Names::kDoc, const std::string& task = "0") {
    Result<std::unique_ptr<Trace>> trace = Open(names, task);
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return trace.ok() ? std::move(*trace) : nullptr;
  }
  static Recorded Must(Result<Recorded> recorded) {
    EXPECT_TRUE(recorded.ok()) << recorded.error().message;
    return recorded.ok() ? *recorded : Recorded{};
  }
  OpTrace MustRead() {
    Result<OpTrace> trace = ReadOp(disk_.fs, "logs", "swish");
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return trace.ok() ? *trace : OpTrace{};
  }
  std::vector<Step> MustReadSteps() {
    const OpTrace trace = MustRead();
    return trace.tasks.empty() ? std::vector<Step>{} : trace.tasks[0].steps;
  }
  void ExpectUndamaged() {
    const Result<CheckReport> report =
        CheckRun(disk_.fs, {"logs", {"swish"}}, [](const std::string&) {});
    ASSERT_TRUE(report.ok()) << report.error().message;
    for (const Finding& finding : report->findings) {
      EXPECT_FALSE(finding.damage) << finding.what << " " << finding.path << " " << finding.detail;
    }
  }

  FakeDisk disk_;
};

TEST_F(TraceTest, DesignerWritesThreeFiles) {
  const Recorded done = Must(
      MustOpen()->InsertDesignerOrCoderRecord("res", "prompt", "why", ActionType::kDoDesigner));
  EXPECT_EQ(done.step, 1);
  EXPECT_THAT(done.files, ElementsAre("swish/I0_S01_swish_DO_DESIGNER_result.txt",
                                      "swish/I0_S01_swish_DO_DESIGNER_prompt.txt",
                                      "swish/I0_S01_swish_DO_DESIGNER_reasoning.txt"));
  EXPECT_EQ(disk_.Read("logs/swish/I0_S01_swish_DO_DESIGNER_result.txt"), "res");
  EXPECT_EQ(disk_.Read("logs/swish/I0_S01_swish_DO_DESIGNER_prompt.txt"), "prompt");
  EXPECT_EQ(disk_.Read("logs/swish/I0_S01_swish_DO_DESIGNER_reasoning.txt"), "why");
}

TEST_F(TraceTest, DesignerWritesEmptyFilesForEmptyTexts) {
  Must(MustOpen()->InsertDesignerOrCoderRecord("", "", "", ActionType::kFixCoder));
  EXPECT_THAT(
      disk_.Files("logs/swish"),
      UnorderedElementsAre(Pair("I0_S01_swish_FIX_CODER_result.txt", ""),
                           Pair("I0_S01_swish_FIX_CODER_prompt.txt", ""),
                           Pair("I0_S01_swish_FIX_CODER_reasoning.txt", ""), Key("journal.jsonl")));
}

TEST_F(TraceTest, VerifierWritesResultLogAndProfile) {
  Must(MustOpen()->InsertVerifierRecord("False", "log", "{\"speedup\":1}"));
  EXPECT_THAT(disk_.Files("logs/swish"),
              UnorderedElementsAre(Pair("I0_S01_swish_VERIFY_verify_res.txt", "False"),
                                   Pair("I0_S01_swish_VERIFY_error_log.txt", "log"),
                                   Pair("I0_S01_swish_VERIFY_profile.json", "{\"speedup\":1}"),
                                   Key("journal.jsonl")));
}

TEST_F(TraceTest, VerifierLeavesOutEmptyLogAndProfile) {
  Must(MustOpen()->InsertVerifierRecord("", "", ""));
  EXPECT_THAT(
      disk_.Files("logs/swish"),
      UnorderedElementsAre(Pair("I0_S01_swish_VERIFY_verify_res.txt", ""), Key("journal.jsonl")));
}

TEST_F(TraceTest, ConductorCarriesTheStepItJudges) {
  auto trace = MustOpen();
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoDesigner));
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoder));
  const Recorded done = Must(trace->InsertConductorRecord("ok", "p", "", ActionType::kDoCoder));
  EXPECT_EQ(done.step, 2);
  EXPECT_THAT(done.files, ElementsAre("swish/conductor/I0_S02_swish_CheckCoder_result.txt",
                                      "swish/conductor/I0_S02_swish_CheckCoder_prompt.txt"));
  EXPECT_EQ(trace->last_step(), 2);
}

TEST_F(TraceTest, SecondConductorRecordOfAStepDoesNotReplaceTheFirst) {
  auto trace = MustOpen();
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoder));
  Must(trace->InsertConductorRecord("first", "", "", ActionType::kDoCoder));
  Must(trace->InsertConductorRecord("second", "", "", ActionType::kDoCoder));
  EXPECT_EQ(disk_.Read("logs/swish/conductor/I0_S01_swish_CheckCoder_result.txt"), "first");
  EXPECT_EQ(disk_.Read("logs/swish/conductor/I0_S01_swish_CheckCoder_2_result.txt"), "second");
}

TEST_F(TraceTest, ConductorAttemptsGoOnAfterReopening) {
  {
    auto trace = MustOpen();
    Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoder));
    Must(trace->InsertConductorRecord("first", "", "", ActionType::kDoCoder));
  }
  EXPECT_THAT(Must(MustOpen()->InsertConductorRecord("x", "", "", ActionType::kDoCoder)).files,
              ElementsAre("swish/conductor/I0_S01_swish_CheckCoder_2_result.txt"));
}

TEST_F(TraceTest, ConductorJudgesADirectCoderToo) {
  auto trace = MustOpen();
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoderDirect));
  EXPECT_THAT(Must(trace->InsertConductorRecord("x", "", "", ActionType::kDoCoderDirect)).files,
              ElementsAre("swish/conductor/I0_S01_swish_CheckCoder_result.txt"));
}

TEST_F(TraceTest, EmptyConductorRecordStandsInTheJournalAlone) {
  auto trace = MustOpen();
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoder));
  EXPECT_THAT(Must(trace->InsertConductorRecord("", "", "", ActionType::kDoCoder)).files,
              IsEmpty());
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].check, "CheckCoder");
}

TEST_F(TraceTest, WrongActionsAreRefusedInAikgsWords) {
  auto trace = MustOpen();
  EXPECT_EQ(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kVerify).error().message,
            "action_type must be Designer or Coder");
  EXPECT_EQ(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kExit).error().message,
            "action_type must be Designer or Coder");
  EXPECT_EQ(trace->InsertVerifierRecord("", "", "", ActionType::kDoCoder).error().message,
            "action_type must be Verify");
  EXPECT_THAT(trace->InsertConductorRecord("x", "", "", ActionType::kExit).error().message,
              HasSubstr("EXIT"));
  EXPECT_EQ(trace->last_step(), 0);
}

TEST_F(TraceTest, VerifyFolderCarriesTheCodersStep) {
  auto trace = MustOpen();
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoDesigner));
  Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoder));
  EXPECT_EQ(trace->VerifyDir(), "logs/swish/I0_S02_verify");
  EXPECT_EQ(MustOpen(Names::kIteration, "7")->VerifyDir(), "logs/swish/Iteration7_Step00_verify");
}

TEST_F(TraceTest, OpeningAgainContinues) {
  Must(MustOpen()->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoDesigner));
  auto trace = MustOpen();
  EXPECT_EQ(trace->last_step(), 1);
  EXPECT_EQ(Must(trace->InsertVerifierRecord("True", "", "")).step, 2);
  EXPECT_EQ(MustReadSteps().size(), 2U);
}

TEST_F(TraceTest, SecondOpenIsRefusedWithTheOwner) {
  auto first = Trace::Open(
      disk_.fs, disk_.clock, disk_.ids,
      {.op_name = "swish", .task_id = "0", .log_dir = "logs", .owner = "process 17 on host-a"});
  ASSERT_TRUE(first.ok());
  const auto second = Open();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("process 17 on host-a"));
  EXPECT_THAT(second.error().message, HasSubstr("task '0' of 'swish'"));
}

TEST_F(TraceTest, AnotherTaskMayBeOpenAtTheSameTime) {
  auto first = MustOpen(Names::kDoc, "0");
  auto second = MustOpen(Names::kDoc, "1");
  EXPECT_EQ(Must(first->InsertVerifierRecord("True", "", "")).step, 1);
  EXPECT_EQ(Must(second->InsertVerifierRecord("True", "", "")).step, 1);
  EXPECT_EQ(Must(first->InsertVerifierRecord("True", "", "")).step, 2);
  EXPECT_EQ(MustRead().tasks.size(), 2U);
  ExpectUndamaged();
}

TEST_F(TraceTest, BadNamesAreRefused) {
  for (const char* op : {"../../x", "a/b", "", "..", ".kerf"}) {
    const auto trace = Trace::Open(disk_.fs, disk_.clock, disk_.ids,
                                   {.op_name = op, .task_id = "0", .log_dir = "logs"});
    ASSERT_FALSE(trace.ok()) << op;
    EXPECT_EQ(trace.error().code, ErrorCode::kInvalidInput);
  }
  EXPECT_THAT(disk_.Files("/"), IsEmpty());
}

TEST_F(TraceTest, SecretInANameIsRefused) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "sk-12345");
  const auto trace = Trace::Open(
      disk_.fs, disk_.clock, disk_.ids,
      {.op_name = "swish", .task_id = "sk-12345", .log_dir = "logs", .redactor = &redactor});
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().message, HasSubstr("A_KEY"));
  EXPECT_THAT(trace.error().message, Not(HasSubstr("sk-12345")));
}

TEST_F(TraceTest, SecretsReachNoFile) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "sk-12345");
  {
    auto trace =
        Trace::Open(disk_.fs, disk_.clock, disk_.ids,
                    {.op_name = "swish", .task_id = "0", .log_dir = "logs", .redactor = &redactor});
    ASSERT_TRUE(trace.ok());
    Must((*trace)->InsertDesignerOrCoderRecord(
        R"(sk-12345 {"x": "sk-12345", "code": "k = 'sk\u002d12345'", "description": "sk-12345"})",
        "sk-12345", "sk-12345", ActionType::kDoCoder, R"({"a": "sk-12345", "api_key": "zz"})"));
    Must((*trace)->InsertVerifierRecord("sk-12345", "sk-12345", "sk-12345"));
    Must((*trace)->InsertConductorRecord("sk-12345", "sk-12345", "sk-12345", ActionType::kVerify));
  }
  for (const auto& [name, content] : disk_.Files("logs")) {
    EXPECT_THAT(content, Not(HasSubstr("sk-12345"))) << name;
    EXPECT_THAT(content, Not(HasSubstr("\"zz\""))) << name;
  }
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_FALSE(steps[0].redacted.empty());
}

TEST_F(TraceTest, BadMetaIsRefusedAndTakesNoStep) {
  auto trace = MustOpen();
  EXPECT_FALSE(trace->InsertVerifierRecord("", "", "", ActionType::kVerify, "[1]").ok());
  EXPECT_EQ(Must(trace->InsertVerifierRecord("True", "", "")).step, 1);
}

struct Text {
  const char* name;
  std::string bytes;
  const char* encoding;
};

class LosslessText : public TraceTest, public ::testing::WithParamInterface<Text> {};

TEST_P(LosslessText, ComesBackAsItWas) {
  const std::string& bytes = GetParam().bytes;
  Must(MustOpen()->InsertDesignerOrCoderRecord(bytes, bytes, bytes, ActionType::kDoCoder));
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_TRUE(ReadStepText(disk_.fs, "logs/swish", steps[0], "prompt").value() == bytes);
  EXPECT_TRUE(ReadRawReply(disk_.fs, "logs/swish", steps[0]).value() == bytes);
  for (const StepFile& file : steps[0].files) EXPECT_EQ(file.encoding, GetParam().encoding);
  ExpectUndamaged();
}

INSTANTIATE_TEST_SUITE_P(
    TraceTest, LosslessText,
    ::testing::Values(Text{"Empty", "", "utf-8"}, Text{"Chinese", "核函数\n", "utf-8"},
                      Text{"InvalidUtf8", "a\xFF\xC3(", "bytes"},
                      Text{"LoneSurrogate", "a\xED\xA0\x80z", "wtf-8"},
                      Text{"Nul", std::string("a\0b\0", 4), "utf-8"},
                      Text{"CrLf", "a\r\nb\rc\n\r", "utf-8"},
                      Text{"ByteOrderMark", "\xEF\xBB\xBFx", "utf-8"},
                      Text{"NoFinalNewline", "x", "utf-8"},
                      Text{"TwentyMegabytes", std::string(20 << 20, 'x') + "\n", "utf-8"}),
    [](const auto& text) { return text.param.name; });

TEST_F(TraceTest, RawReplyComesBackFromAFormattedResult) {
  const std::string reply =
      "Sure:\n{\"code\": \"x = {}\\n\", \"description\": \"d\"}\nDone \xED\xA0\x80";
  Must(MustOpen()->InsertDesignerOrCoderRecord(reply, "", "", ActionType::kDoCoder));
  EXPECT_EQ(disk_.Read("logs/swish/I0_S01_swish_DO_CODER_result.txt"), "x = {}\n\n\n\n'''\nd\n'''");
  EXPECT_EQ(ReadRawReply(disk_.fs, "logs/swish", MustReadSteps()[0]).value(), reply);
}

TEST_F(TraceTest, LaterSpellingsStoreTheReplyRaw) {
  const std::string reply = R"({"code": "x", "description": "d"})";
  for (const Names names : {Names::kAgent, Names::kIteration}) {
    const std::string task = NamesWord(names);
    const Recorded done = Must(
        MustOpen(names, task)->InsertDesignerOrCoderRecord(reply, "", "", ActionType::kDoCoder));
    EXPECT_EQ(disk_.Read("logs/" + done.files[0]), reply);
  }
}

TEST_F(TraceTest, ContinuesADirectoryThatAikgWrote) {
  const std::string dir = "logs/swish/";
  disk_.Put(dir + "I0_S01_swish_DoDesigner_result.txt", "r");
  disk_.Put(dir + "I0_S01_swish_DoDesigner_prompt.txt", "p");
  disk_.Put(dir + "I0_S02_swish_DoCoder_result.txt", "c");
  disk_.Put(dir + "conductor/I0_S02_swish_CheckCoder_result.txt", "ok");
  disk_.Put(dir + "I0_S03_swish_Verify_error_log.txt", "boom");
  disk_.Put(dir + "I1_S09_swish_DoCoder_result.txt", "other task");
  const auto before = disk_.Files("logs/swish");
  {
    auto trace = MustOpen(Names::kValue);
    EXPECT_EQ(trace->last_step(), 3);
    EXPECT_EQ(Must(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kFixCoder)).step, 4);
  }
  auto after = disk_.Files("logs/swish");
  for (const auto& [name, content] : before) EXPECT_EQ(after[name], content) << name;
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_TRUE(steps[0].recovered);
  EXPECT_EQ(steps[0].action, "DO_DESIGNER");
  EXPECT_EQ(steps[0].files.size(), 2U);
  EXPECT_EQ(steps[2].check, "CheckCoder");
  EXPECT_FALSE(steps[4].recovered);
}

// AIKG's counter starts at 0 in every process, so one number may have two records.
TEST_F(TraceTest, KeepsBothRecordsThatAikgGaveOneNumber) {
  disk_.Put("logs/swish/I0_S01_swish_DoDesigner_result.txt", "a");
  disk_.Put("logs/swish/I0_S01_swish_DoCoderDirect_result.txt", "b");
  EXPECT_EQ(MustOpen()->last_step(), 1);
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].action, "DO_CODER_DIRECT");
  EXPECT_EQ(steps[1].action, "DO_DESIGNER");
}

TEST_F(TraceTest, AFileThatAppearsLaterJoinsItsRecord) {
  disk_.Put("logs/swish/I0_S01_swish_DoCoder_result.txt", "a");
  MustOpen();
  disk_.Put("logs/swish/I0_S01_swish_DoCoder_prompt.txt", "b");
  MustOpen();
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].files.size(), 2U);
  ExpectUndamaged();
}

TEST_F(TraceTest, OpensWhenAForeignFileHasGoneSinceTheListing) {
  disk_.Put("logs/swish/I0_S01_swish_DoCoder_result.txt", "a");
  disk_.Put("logs/swish/I1_S01_swish_DoCoder_result.txt", "b");
  auto recorder = Recorder::Open(disk_.fs, disk_.clock, disk_.ids, {.log_dir = "logs"});
  ASSERT_TRUE(recorder.ok());
  EXPECT_EQ((*recorder)->LastStep("swish", "0").value(), 1);
  ASSERT_TRUE(disk_.fs.Remove("logs/swish/I1_S01_swish_DoCoder_result.txt").ok());
  const Result<int64_t> last = (*recorder)->LastStep("swish", "1");
  ASSERT_TRUE(last.ok()) << last.error().message;
  EXPECT_EQ(*last, 0);
}

TEST_F(TraceTest, TimeAndMetaAreKept) {
  Must(MustOpen()->InsertVerifierRecord("True", "", "", ActionType::kVerify,
                                        R"({"duration_ms":812,"own":{"a":[1]}})"));
  const std::vector<Step> steps = MustReadSteps();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].time, "2025-11-15T03:29:31.123456Z");
  EXPECT_EQ(steps[0].meta, R"({"duration_ms":812,"own":{"a":[1]}})");
  EXPECT_EQ(steps[0].verification, Verification::kPassed);
}

// Each mutating call of a recording fails in turn; the caller then tries again.
TEST_F(TraceTest, AnyFailedCallLeavesATraceThatGoesOn) {
  for (int n = 1; n < 200; ++n) {
    SCOPED_TRACE(n);
    const std::string task = std::to_string(n);
    auto trace = MustOpen(Names::kDoc, task);
    Must(trace->InsertDesignerOrCoderRecord("a", "b", "c", ActionType::kDoCoder));
    disk_.fs.FailAfter(n, EIO);
    const Result<Recorded> failed =
        trace->InsertDesignerOrCoderRecord("d", "e", "f", ActionType::kFixCoder);
    disk_.fs.ClearFaults();
    if (failed.ok()) {
      EXPECT_GT(n, 8);
      return;
    }
    // Where the commit was written, and neither its sync nor an abandon worked, the failed record
    // stands, whole; everywhere else its number is free again.
    const int64_t step = Must(trace->InsertVerifierRecord("True", "log", "")).step;
    EXPECT_TRUE(step == 2 || (step == 3 && n > 12)) << step;
    trace.reset();
    trace = MustOpen(Names::kDoc, task);
    EXPECT_EQ(trace->last_step(), step);
    const std::vector<TaskSteps> tasks = ReadTasks(disk_.fs, "logs", "swish", task).value();
    ASSERT_EQ(tasks.size(), 1U);
    ASSERT_EQ(tasks[0].steps.size(), static_cast<size_t>(step));
    EXPECT_EQ(tasks[0].steps.back().action, "VERIFY");
    ExpectUndamaged();
  }
  FAIL() << "recording never succeeded";
}

// The machine goes off at each mutating call in turn, and what was not synced is gone.
TEST_F(TraceTest, PowerLossAtAnyCallLosesNothingAcknowledged) {
  for (int n = 1; n < 200; ++n) {
    SCOPED_TRACE(n);
    FakeDisk disk;
    std::unique_ptr<Trace> trace = std::move(*Trace::Open(
        disk.fs, disk.clock, disk.ids, {.op_name = "swish", .task_id = "0", .log_dir = "logs"}));
    Must(trace->InsertDesignerOrCoderRecord("a", "b", "c", ActionType::kDoCoder));
    disk.fs.CrashAfter(n);
    const bool acknowledged = trace->InsertVerifierRecord("True", "log", "").ok();
    disk.fs.Crash();
    trace.reset();
    auto again = Trace::Open(disk.fs, disk.clock, disk.ids,
                             {.op_name = "swish", .task_id = "0", .log_dir = "logs"});
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_GE((*again)->last_step(), acknowledged ? 2 : 1);
    Must((*again)->InsertVerifierRecord("False", "", ""));
    const Result<CheckReport> report =
        CheckRun(disk.fs, {"logs", {"swish"}}, [](const std::string&) {});
    ASSERT_TRUE(report.ok());
    EXPECT_FALSE(report->damaged()) << report->findings[0].what << report->findings[0].detail;
    if (acknowledged) return;
  }
  FAIL() << "recording never succeeded";
}

// The fake disk is only believed because the real one behaves the same.
class RealDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "kerf-trace-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  const std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  FakeClock clock_;
  FakeIds ids_;
  std::string dir_;
};

TEST_F(RealDiskTest, RecordsAndReadsBackTheLongestNames) {
  const std::string op(100, 'x');
  const std::string task(94, 't');
  auto trace =
      Trace::Open(*fs_, clock_, ids_,
                  {.op_name = op, .task_id = task, .log_dir = dir_, .names = Names::kIteration});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::string bytes("a\0\xFF\r\n", 5);
  ASSERT_TRUE((*trace)->InsertVerifierRecord("False", bytes, "").ok());
  ASSERT_TRUE((*trace)->InsertConductorRecord("", "", "why", ActionType::kVerify).ok());
  const auto tasks = ReadTasks(*fs_, dir_, op, task);
  ASSERT_TRUE(tasks.ok());
  ASSERT_EQ((*tasks)[0].steps.size(), 2U);
  EXPECT_EQ(ReadStepText(*fs_, dir_ + "/" + op, (*tasks)[0].steps[0], "error_log").value(), bytes);
}

TEST_F(RealDiskTest, SecondOpenIsRefusedWithTheOwner) {
  const Trace::Options options{
      .op_name = "op", .task_id = "0", .log_dir = dir_, .owner = "process 17 on host-a"};
  auto first = Trace::Open(*fs_, clock_, ids_, options);
  ASSERT_TRUE(first.ok());
  auto second = Trace::Open(*fs_, clock_, ids_, options);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("process 17 on host-a"));
  first->reset();
  EXPECT_TRUE(Trace::Open(*fs_, clock_, ids_, options).ok());
}

TEST_F(RealDiskTest, WritesThroughNoLink) {
  const std::string outside = dir_ + "/outside";
  std::filesystem::create_directories(dir_ + "/logs");
  std::filesystem::create_directories(outside);
  std::filesystem::create_directory_symlink(outside, dir_ + "/logs/op");
  auto trace =
      Trace::Open(*fs_, clock_, ids_, {.op_name = "op", .task_id = "0", .log_dir = dir_ + "/logs"});
  EXPECT_FALSE(trace.ok());
  EXPECT_TRUE(std::filesystem::is_empty(outside));
}

}  // namespace
}  // namespace kerf::trace
