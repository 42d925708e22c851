#include "trace/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/fake_disk.h"
#include "trace/trace.h"

namespace kerf::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "1 DO_DESIGNER", "1 CheckDesigner", "3 VERIFY failed": a task in words.
std::vector<std::string> Story(const TaskSteps& task) {
  std::vector<std::string> story;
  for (const Step& step : task.steps) {
    std::string line = std::to_string(step.step) + " ";
    line += step.kind == RecordKind::kConductor ? step.check : step.action;
    if (step.attempt > 1) line += "#" + std::to_string(step.attempt);
    if (step.verification != Verification::kNone) {
      line += std::string(" ") + VerificationName(step.verification);
    }
    story.push_back(std::move(line));
  }
  return story;
}

class TraceReader : public ::testing::Test {
 protected:
  OpTrace MustRead(const std::string& op = "relu") {
    Result<OpTrace> trace = ReadOp(disk_.fs, "logs", op);
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return trace.ok() ? *trace : OpTrace{};
  }
  std::vector<std::string> StoryOfFirstTask(const std::string& op = "relu") {
    const OpTrace trace = MustRead(op);
    return trace.tasks.empty() ? std::vector<std::string>{"no task"} : Story(trace.tasks[0]);
  }
  void PutAll(const std::vector<std::string>& names) {
    for (const std::string& name : names) disk_.Put("logs/relu/" + name, "content of " + name);
  }
  std::unique_ptr<Trace> MustOpen(const std::string& task = "0") {
    auto trace = Trace::Open(disk_.fs, disk_.clock, disk_.ids,
                             {.op_name = "relu", .task_id = task, .log_dir = "logs"});
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return std::move(*trace);
  }

  FakeDisk disk_;
};

// The complete tree of the reference for operator relu, task 0.
TEST_F(TraceReader, ReadsTheValueSpellingWithoutAJournal) {
  PutAll({"I0_S01_relu_DoDesigner_result.txt", "I0_S01_relu_DoDesigner_prompt.txt",
          "I0_S01_relu_DoDesigner_reasoning.txt", "I0_S02_relu_DoCoder_result.txt",
          "I0_S02_relu_DoCoder_prompt.txt", "I0_S02_relu_DoCoder_reasoning.txt",
          "I0_S03_relu_Verify_error_log.txt", "conductor/I0_S01_relu_CheckDesigner_result.txt",
          "conductor/I0_S02_relu_CheckCoder_result.txt",
          "conductor/I0_S03_relu_AnalyzeError_prompt.txt",
          "conductor/I0_S03_relu_AnalyzeError_result.txt", "I0_S02_verify/relu_torch.py",
          "I0_S02_verify/relu_triton.py", "I0_S02_verify/verify_relu.py",
          "profiling/speed_up_record.txt"});
  const OpTrace trace = MustRead();
  EXPECT_FALSE(trace.has_journal);
  ASSERT_THAT(trace.tasks, SizeIs(1));
  EXPECT_EQ(trace.tasks[0].task, "0");
  EXPECT_THAT(Story(trace.tasks[0]),
              ElementsAre("1 DO_DESIGNER", "1 CheckDesigner", "2 DO_CODER", "2 CheckCoder",
                          "3 VERIFY failed", "3 AnalyzeError"));
  EXPECT_EQ(trace.tasks[0].steps[0].names, "value");
  EXPECT_THAT(trace.tasks[0].steps[0].files, SizeIs(3));
  EXPECT_FALSE(trace.tasks[0].steps[0].journaled);
  EXPECT_THAT(trace.unknown_files, IsEmpty());
}

TEST_F(TraceReader, ReadsTheDocSpellingWithoutAJournal) {
  PutAll({"I123_S01_relu_DO_DESIGNER_result.txt", "I123_S02_relu_DO_CODER_DIRECT_result.txt",
          "I123_S03_relu_VERIFY_error_log.txt"});
  EXPECT_THAT(StoryOfFirstTask(),
              ElementsAre("1 DO_DESIGNER", "2 DO_CODER_DIRECT", "3 VERIFY unknown"));
}

TEST_F(TraceReader, ReadsTheAgentSpellingWithoutAJournal) {
  PutAll({"I0_S01_relu_designer_result.txt", "I0_S02_relu_coder_result.txt",
          "I0_S03_relu_verifier_error_log.txt", "recorder/I0_S01_relu_designer_parsed.txt",
          "conductor/I0_S03_relu_decision_decision_result.txt", "I0_S04_relu_sketch_result.txt"});
  const OpTrace trace = MustRead();
  ASSERT_THAT(trace.tasks, SizeIs(1));
  EXPECT_THAT(Story(trace.tasks[0]), ElementsAre("1 designer", "2 coder", "3 VERIFY failed",
                                                 "3 AnalyzeError", "4 sketch"));
  EXPECT_THAT(trace.tasks[0].steps[0].files, SizeIs(2)) << "the parsed reply belongs to the step";
  EXPECT_EQ(trace.tasks[0].steps[0].names, "agent");
}

TEST_F(TraceReader, ReadsTheIterationSpellingWithoutAJournal) {
  PutAll({"Iteration7_Step01_relu_kernel_designer_result.txt",
          "Iteration7_Step02_relu_kernel_gen_result.txt",
          "Iteration7_Step02_relu_code_checker_result.txt",
          "Iteration7_Step03_relu_verifier_error_log.txt",
          "conductor/Iteration7_Step03_relu_kernel_conductor_decision_result.txt",
          "Iteration7_Step04_relu_fix_code_gen_result.txt", "Iteration7_Step02_verify/x.py"});
  const OpTrace trace = MustRead();
  ASSERT_THAT(trace.tasks, SizeIs(1));
  EXPECT_EQ(trace.tasks[0].task, "7");
  EXPECT_THAT(Story(trace.tasks[0]),
              ElementsAre("1 kernel_designer", "2 code_checker", "2 kernel_gen", "3 VERIFY failed",
                          "3 AnalyzeError", "4 fix_code_gen"));
}

TEST_F(TraceReader, ReadsSpellingsSideBySide) {
  PutAll({"I0_S01_relu_DO_DESIGNER_result.txt", "I1_S01_relu_DoDesigner_result.txt",
          "I2_S01_relu_designer_result.txt", "Iteration3_Step01_relu_designer_result.txt"});
  const OpTrace trace = MustRead();
  ASSERT_THAT(trace.tasks, SizeIs(4));
  std::vector<std::string> names;
  for (const TaskSteps& task : trace.tasks) names.push_back(task.steps[0].names);
  EXPECT_THAT(names, ElementsAre("doc", "value", "agent", "iteration"));
}

TEST_F(TraceReader, SortsStepsAndTasksByNumber) {
  PutAll({"I10_S02_relu_DoCoder_result.txt", "I2_S100_relu_DoCoder_result.txt",
          "I2_S99_relu_DoCoder_result.txt", "I2_S1000_relu_DoCoder_result.txt",
          "I2_S09_relu_DoCoder_result.txt", "Ix_S01_relu_DoCoder_result.txt"});
  const OpTrace trace = MustRead();
  ASSERT_THAT(trace.tasks, SizeIs(3));
  EXPECT_EQ(trace.tasks[0].task, "2");
  EXPECT_EQ(trace.tasks[1].task, "10");
  EXPECT_EQ(trace.tasks[2].task, "x");
  EXPECT_THAT(Story(trace.tasks[0]),
              ElementsAre("9 DO_CODER", "99 DO_CODER", "100 DO_CODER", "1000 DO_CODER"));
}

TEST_F(TraceReader, UnderstandsTaskIdsThatLookLikeSteps) {
  PutAll({"Ia_S01_b_S02_relu_DoCoder_result.txt", "Ia_S01_relu_S03_relu_DoCoder_result.txt"});
  const OpTrace trace = MustRead();
  ASSERT_THAT(trace.tasks, SizeIs(2));
  EXPECT_EQ(trace.tasks[0].task, "a_S01_b");
  EXPECT_EQ(trace.tasks[1].task, "a_S01_relu");
}

TEST_F(TraceReader, MissingPiecesAreNoError) {
  PutAll({"I0_S05_relu_DoCoder_prompt.txt", "conductor/I0_S02_relu_CheckCoder_result.txt"});
  EXPECT_THAT(StoryOfFirstTask(), ElementsAre("2 CheckCoder", "5 DO_CODER"));
}

TEST_F(TraceReader, OtherFilesAreListedAsUnknown) {
  PutAll({"I0_S01_relu_DoCoder_result.txt", "notes.md", "conductor/x.txt",
          "I0_S01_gelu_DoCoder_result.txt"});
  EXPECT_THAT(MustRead().unknown_files,
              ElementsAre("I0_S01_gelu_DoCoder_result.txt", "conductor/x.txt", "notes.md"));
}

TEST_F(TraceReader, TakesVerdictsFromVerificationResults) {
  PutAll({"I0_S01_relu_DoCoder_result.txt", "I0_S02_relu_Verify_error_log.txt",
          "I0_S03_relu_FixCoder_result.txt"});
  disk_.Put(
      "logs/verification_results.jsonl",
      "{\n  \"task_name\": \"relu\",\n  \"task_id\": \"0\",\n  \"step\": 1,\n  \"passed\": "
      "false\n}\n\n"
      "{\n  \"task_name\": \"relu\",\n  \"task_id\": \"0\",\n  \"step\": 3,\n  \"passed\": true,\n"
      "  \"error_log\": \"{ \\\"\"\n}\n\n"
      "{\n  \"task_name\": \"gelu\",\n  \"task_id\": \"0\",\n  \"step\": 3,\n  \"passed\": "
      "true\n}\n\n");
  EXPECT_THAT(StoryOfFirstTask(),
              ElementsAre("1 DO_CODER", "2 VERIFY failed", "3 FIX_CODER", "4 VERIFY passed"));
}

TEST_F(TraceReader, DamagedVerificationResultsAreSkippedOneByOne) {
  PutAll({"I0_S01_relu_DoCoder_result.txt"});
  disk_.Put("logs/verification_results.jsonl",
            "{\n  \"task_name\": \"relu\", \"task_id\": \"0\", \"st\n"
            "{\n  \"task_name\": \"relu\", \"task_id\": \"0\", \"step\": 1, \"passed\": true\n}\n"
            "{\"task_name\": \"relu\", \"task_id\": \"0\", \"step\": 9223372036854775807, "
            "\"passed\": true}\n{\"task_name\": \"relu\", \"task_id\": \"0\", \"step\": -5}\n{");
  EXPECT_THAT(StoryOfFirstTask(), ElementsAre("1 DO_CODER", "2 VERIFY passed"));
}

TEST_F(TraceReader, TheJournalsVerdictBeatsVerificationResults) {
  auto trace = MustOpen();
  ASSERT_TRUE(trace->InsertDesignerOrCoderRecord("", "", "", ActionType::kDoCoder).ok());
  ASSERT_TRUE(trace->InsertVerifierRecord("False", "", "").ok());
  disk_.Put("logs/verification_results.jsonl",
            R"({"task_name": "relu", "task_id": "0", "step": 1, "passed": true})");
  EXPECT_THAT(StoryOfFirstTask(), ElementsAre("1 DO_CODER", "2 VERIFY failed"));
}

TEST_F(TraceReader, AJournalMadeLaterDoesNotHideTheVerdicts) {
  PutAll({"I0_S01_relu_DoCoder_result.txt", "I0_S02_relu_Verify_error_log.txt",
          "conductor/I0_S02_relu_AnalyzeError_result.txt", "I0_S03_relu_FixCoder_result.txt",
          "I0_S04_relu_Verify_error_log.txt"});
  disk_.Put("logs/verification_results.jsonl",
            R"({"task_name": "relu", "task_id": "0", "step": 3, "passed": true})");
  const std::vector<std::string> before = StoryOfFirstTask();
  EXPECT_THAT(before, ElementsAre("1 DO_CODER", "2 VERIFY failed", "2 AnalyzeError", "3 FIX_CODER",
                                  "4 VERIFY passed"));
  MustOpen();
  EXPECT_EQ(StoryOfFirstTask(), before);
  EXPECT_TRUE(MustRead().has_journal);
}

TEST_F(TraceReader, DropsTornLastRecord) {
  {
    auto trace = MustOpen();
    ASSERT_TRUE(trace->InsertDesignerOrCoderRecord("a", "", "", ActionType::kDoCoder).ok());
    ASSERT_TRUE(trace->InsertVerifierRecord("True", "log", "").ok());
  }
  // The commit is lost and a file is cut: this is what a crash while recording leaves.
  std::string journal = disk_.Read("logs/relu/journal.jsonl");
  journal.resize(journal.rfind("{\"v\":1,\"kind\":\"commit\""));
  disk_.Put("logs/relu/journal.jsonl", journal);
  disk_.fs.CutFile("logs/relu/I0_S02_relu_VERIFY_error_log.txt", 1);
  const OpTrace trace = MustRead();
  EXPECT_THAT(Story(trace.tasks[0]), ElementsAre("1 DO_CODER"));
  ASSERT_THAT(trace.unfinished, SizeIs(1));
  EXPECT_EQ(trace.unfinished[0].step, 2);
}

TEST_F(TraceReader, CountsAWholeRecordWhoseCommitIsMissing) {
  ASSERT_TRUE(MustOpen()->InsertVerifierRecord("True", "log", "").ok());
  std::string journal = disk_.Read("logs/relu/journal.jsonl");
  journal.resize(journal.rfind("{\"v\":1,\"kind\":\"commit\""));
  disk_.Put("logs/relu/journal.jsonl", journal);
  const OpTrace trace = MustRead();
  EXPECT_THAT(Story(trace.tasks[0]), ElementsAre("1 VERIFY passed"));
  EXPECT_EQ(trace.uncommitted, 1);
}

std::string Line(int64_t seq, LineKind kind, const std::string& batch, int64_t step = 0,
                 RecordKind record = RecordKind::kDesignerOrCoder) {
  JournalLine line;
  line.seq = seq;
  line.kind = kind;
  line.batch = batch;
  line.step.task = "0";
  line.step.step = step;
  line.step.kind = record;
  line.step.action = record == RecordKind::kVerifier ? "VERIFY" : "DO_CODER";
  line.step.names = "doc";
  return EncodeLine(line);
}

TEST_F(TraceReader, AbandonedRecordsAreGone) {
  disk_.Put("logs/relu/journal.jsonl",
            Line(1, LineKind::kRecord, "a", 1) + Line(2, LineKind::kCommit, "a") +
                Line(3, LineKind::kRecord, "b", 2) + Line(4, LineKind::kAbandon, "b"));
  EXPECT_THAT(StoryOfFirstTask(), ElementsAre("1 DO_CODER"));
}

// The commit's sync failed: its line may be there, but nothing was acknowledged.
TEST_F(TraceReader, AnAbandonAfterTheCommitCounts) {
  disk_.Put("logs/relu/journal.jsonl",
            Line(1, LineKind::kRecord, "a", 1) + Line(2, LineKind::kCommit, "a") +
                Line(3, LineKind::kRecord, "b", 2) + Line(4, LineKind::kCommit, "b") +
                Line(5, LineKind::kAbandon, "b"));
  EXPECT_THAT(StoryOfFirstTask(), ElementsAre("1 DO_CODER"));
}

TEST_F(TraceReader, ARecordThatGaveWayToALaterOneIsGone) {
  JournalLine given_up;
  given_up.seq = 1;
  given_up.batch = "a";
  given_up.step.task = "0";
  given_up.step.step = 1;
  given_up.step.files = {{"I0_S01_relu_DO_CODER_result.txt", 9, "", "utf-8"}};
  disk_.Put("logs/relu/journal.jsonl",
            EncodeLine(given_up) + Line(2, LineKind::kRecord, "b", 1, RecordKind::kVerifier) +
                Line(3, LineKind::kCommit, "b"));
  const OpTrace trace = MustRead();
  EXPECT_THAT(Story(trace.tasks[0]), ElementsAre("1 VERIFY unknown"));
  EXPECT_THAT(trace.unfinished, IsEmpty());
}

TEST_F(TraceReader, TellsWhichLinesAreMissing) {
  disk_.Put("logs/relu/journal.jsonl",
            Line(1, LineKind::kRecord, "a", 1) + Line(4, LineKind::kCommit, "a"));
  EXPECT_THAT(MustRead().missing_seqs, ElementsAre(2, 3));
}

TEST_F(TraceReader, ARepairLineMakesEarlierDamageKnown) {
  disk_.Put("logs/relu/journal.jsonl", "rubbish\n" + Line(2, LineKind::kRecord, "a", 1) +
                                           Line(5, LineKind::kRepair, "") +
                                           Line(6, LineKind::kCommit, "a") + "new rubbish\n");
  const OpTrace trace = MustRead();
  EXPECT_EQ(trace.known_damage, 1);
  EXPECT_THAT(trace.missing_seqs, IsEmpty());
  ASSERT_THAT(trace.scan.damaged, SizeIs(1));
  EXPECT_EQ(trace.scan.damaged[0].length, 11U);
}

TEST_F(TraceReader, JournaledAndForeignRecordsStandTogether) {
  ASSERT_TRUE(MustOpen()->InsertVerifierRecord("True", "", "").ok());
  PutAll({"I0_S07_relu_DoCoder_result.txt"});
  const OpTrace trace = MustRead();
  EXPECT_THAT(Story(trace.tasks[0]), ElementsAre("1 VERIFY passed", "7 DO_CODER"));
  EXPECT_FALSE(trace.tasks[0].steps[1].journaled);
}

TEST_F(TraceReader, ReadTasksNamesWhatThereIs) {
  PutAll({"I0_S01_relu_DoCoder_result.txt", "I1_S01_relu_DoCoder_result.txt"});
  EXPECT_THAT(ReadTasks(disk_.fs, "logs", "relu", "").value(), SizeIs(2));
  EXPECT_EQ(ReadTasks(disk_.fs, "logs", "relu", "1").value()[0].task, "1");
  const auto missing = ReadTasks(disk_.fs, "logs", "relu", "7");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("there is 0, 1"));
}

TEST_F(TraceReader, FindsARunAFolderOfRunsAndAnOperator) {
  disk_.Put("all/run_b/relu/I0_S01_relu_DoCoder_result.txt", "");
  disk_.Put("all/run_a/relu/I0_S01_relu_DoCoder_result.txt", "");
  disk_.Put("all/run_a/gelu/journal.jsonl", "");
  disk_.Put("all/run_a/passed_cases/relu/I0_S01_relu_DoCoder_result.txt", "");
  disk_.Put("all/run_a/.kerf/journal.jsonl", "");
  disk_.Put("all/empty/readme.txt", "");
  const auto runs = FindRuns(disk_.fs, "all");
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_THAT(*runs, SizeIs(2));
  EXPECT_EQ((*runs)[0].path, "all/run_a");
  EXPECT_THAT((*runs)[0].ops, ElementsAre("gelu", "relu"));
  EXPECT_THAT(FindRuns(disk_.fs, "all/run_b").value()[0].ops, ElementsAre("relu"));
  const auto op = FindRuns(disk_.fs, "all/run_a/relu/").value();
  EXPECT_EQ(op[0].path, "all/run_a");
  EXPECT_THAT(op[0].ops, ElementsAre("relu"));
}

TEST_F(TraceReader, SaysWhyNothingWasFound) {
  disk_.Put("all/empty/readme.txt", "");
  EXPECT_THAT(FindRuns(disk_.fs, "none").error().message, HasSubstr("does not exist"));
  EXPECT_THAT(FindRuns(disk_.fs, "all/empty/readme.txt").error().message,
              HasSubstr("is not a directory"));
  EXPECT_THAT(FindRuns(disk_.fs, "all").error().message, HasSubstr("no trace"));
  EXPECT_FALSE(FindRuns(disk_.fs, "").ok());
}

class TraceAddress : public TraceReader {
 protected:
  void SetUp() override {
    PutAll({"I0_S01_relu_DoCoder_result.txt", "Ia:b_S01_relu_DoCoder_result.txt",
            "I0:1_S01_relu_DoCoder_result.txt"});
    disk_.Put("one/gelu/I5_S01_gelu_DoCoder_result.txt", "");
    disk_.Put("with:colon/gelu/I5_S01_gelu_DoCoder_result.txt", "");
    disk_.Put("two/a/journal.jsonl", "");
    disk_.Put("two/b/journal.jsonl", "");
  }
  // "run op task step", or the error's code.
  std::string Resolve(const std::string& text) {
    const Result<Address> address = ResolveAddress(disk_.fs, text);
    if (!address.ok()) return ErrorCodeName(address.error().code);
    return address->run_path + " " + address->op + " " + address->task + " " +
           std::to_string(address->step);
  }
};

TEST_F(TraceAddress, OfATaskAndAStep) {
  EXPECT_EQ(Resolve("logs/relu:0"), "logs relu 0 -1");
  EXPECT_EQ(Resolve("logs/relu:0:12"), "logs relu 0 12");
  EXPECT_EQ(Resolve("logs:0:12"), "logs relu 0 12");
}

TEST_F(TraceAddress, TaskMayBeLeftOutWhereThereIsOne) {
  EXPECT_EQ(Resolve("one"), "one gelu 5 -1");
  EXPECT_EQ(Resolve("one/gelu"), "one gelu 5 -1");
  EXPECT_EQ(Resolve("one::3"), "one gelu 5 3");
  EXPECT_EQ(Resolve("logs/relu"), "not_found");
}

TEST_F(TraceAddress, ColonsInNamesAreUnderstood) {
  EXPECT_EQ(Resolve("logs:a:b"), "logs relu a:b -1");
  EXPECT_EQ(Resolve("logs:a:b:7"), "logs relu a:b 7");
  EXPECT_EQ(Resolve("logs:0:1"), "logs relu 0:1 -1") << "a task of that name beats a step";
  EXPECT_EQ(Resolve("with:colon:5:1"), "with:colon gelu 5 1");
}

TEST_F(TraceAddress, RefusesWhatIsNotThere) {
  EXPECT_EQ(Resolve("logs:9"), "not_found");
  EXPECT_EQ(Resolve("none:0"), "not_found");
  EXPECT_EQ(Resolve(""), "not_found");
  EXPECT_EQ(Resolve(":"), "not_found");
  EXPECT_EQ(Resolve(":0"), "not_found");
  EXPECT_EQ(Resolve("one:5:x"), "not_found");
  EXPECT_EQ(Resolve("one:5:99999999999"), "not_found");
  EXPECT_EQ(Resolve("one:5:-1"), "not_found");
  EXPECT_EQ(Resolve("two"), "invalid_input");
}

}  // namespace
}  // namespace kerf::trace
