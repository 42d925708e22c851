#include "trace/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "trace/fake_disk.h"

namespace kerf::trace {
namespace {

using ::testing::ElementsAre;

JournalLine Record(const std::string& task, int64_t step, const std::string& batch,
                   const std::string& file = "") {
  JournalLine line;
  line.batch = batch;
  line.step.task = task;
  line.step.step = step;
  line.step.action = "DO_CODER";
  line.step.names = "doc";
  if (!file.empty()) line.step.files = {{file, 0, std::string(64, '0'), "utf-8"}};
  return line;
}

JournalLine Check(const std::string& task, int64_t step, int64_t attempt,
                  const std::string& batch) {
  JournalLine line = Record(task, step, batch);
  line.step.kind = RecordKind::kConductor;
  line.step.check = "CheckCoder";
  line.step.attempt = attempt;
  return line;
}

JournalLine Mark(LineKind kind, const std::string& batch) {
  JournalLine line;
  line.kind = kind;
  line.batch = batch;
  return line;
}

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(disk_.fs.CreateDirs("logs/op").ok()); }

  std::unique_ptr<Journal> MustOpen() {
    Result<std::unique_ptr<Journal>> journal = Journal::Open(disk_.fs, "logs/op");
    EXPECT_TRUE(journal.ok()) << journal.error().message;
    return std::move(*journal);
  }

  static void MustAppend(Journal& journal, std::vector<JournalLine> lines) {
    const Status status = journal.Append(lines);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }

  std::string Bytes() { return disk_.Read("logs/op/journal.jsonl"); }

  // The numbers of the lines in the file, -1 for a damaged one.
  std::vector<int64_t> Seqs() {
    std::vector<int64_t> seqs;
    const std::string bytes = Bytes();
    const JournalScan scan =
        ScanJournal(bytes, 0, [&](JournalLine&& line, uint64_t) { seqs.push_back(line.seq); });
    EXPECT_TRUE(scan.damaged.empty());
    EXPECT_EQ(scan.torn_bytes, 0U);
    return seqs;
  }

  FakeDisk disk_;
};

TEST_F(JournalTest, NumbersLinesFromOne) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a"), Mark(LineKind::kCommit, "a")});
  MustAppend(*journal, {Record("0", 2, "b")});
  EXPECT_THAT(Seqs(), ElementsAre(1, 2, 3));
}

TEST_F(JournalTest, TwoProcessesInterleaveWithoutAGap) {
  auto first = MustOpen();
  auto second = MustOpen();
  MustAppend(*first, {Record("0", 1, "a")});
  MustAppend(*second, {Record("1", 1, "b"), Mark(LineKind::kCommit, "b")});
  MustAppend(*first, {Mark(LineKind::kCommit, "a")});
  MustAppend(*second, {Record("1", 2, "c")});
  EXPECT_THAT(Seqs(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(JournalTest, TheLastNumberIsRepeatedRatherThanOverrun) {
  JournalLine last = Mark(LineKind::kCommit, "a");
  last.seq = kMaxSeq;
  disk_.Put("logs/op/journal.jsonl", EncodeLine(last));
  MustAppend(*MustOpen(), {Mark(LineKind::kRepair, "")});
  EXPECT_THAT(Seqs(), ElementsAre(kMaxSeq, kMaxSeq));
}

TEST_F(JournalTest, StepsBeyondNineDigitsAreRefused) {
  std::vector<JournalLine> lines = {Record("0", kMaxStep + 1, "a")};
  EXPECT_EQ(MustOpen()->Append(lines).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(Bytes(), "");
}

TEST_F(JournalTest, SeesWhatAnotherProcessAppended) {
  auto first = MustOpen();
  auto second = MustOpen();
  MustAppend(*second, {Record("1", 7, "b", "I1_S07_op_DO_CODER_result.txt")});
  EXPECT_EQ(first->StateOf("1").last_step, 0);
  ASSERT_TRUE(first->Refresh().ok());
  EXPECT_EQ(first->StateOf("1").last_step, 7);
  EXPECT_TRUE(first->KnowsFile("I1_S07_op_DO_CODER_result.txt"));
}

TEST_F(JournalTest, ForgetsNothingWhenOpenedAgain) {
  MustAppend(*MustOpen(), {Record("0", 1, "a"), Record("0", 2, "a"), Check("0", 2, 1, "a"),
                           Check("0", 2, 2, "a"), Mark(LineKind::kCommit, "a")});
  auto journal = MustOpen();
  EXPECT_EQ(journal->StateOf("0").last_step, 2);
  EXPECT_EQ((journal->StateOf("0").attempts[{2, "CheckCoder"}]), 2);
  EXPECT_TRUE(journal->StateOf("0").uncommitted.empty());
}

TEST_F(JournalTest, CutsATornTailBeforeItAppends) {
  MustAppend(*MustOpen(), {Record("0", 1, "a")});
  const std::string whole = Bytes();
  const std::string next = EncodeLine(Record("0", 2, "b"));
  for (size_t cut = 1; cut < next.size(); ++cut) {
    disk_.Put("logs/op/journal.jsonl", whole + next.substr(0, cut));
    MustAppend(*MustOpen(), {Mark(LineKind::kCommit, "a")});
    ASSERT_THAT(Seqs(), ElementsAre(1, 2)) << "cut " << cut;
    ASSERT_TRUE(Bytes().starts_with(whole));
  }
}

TEST_F(JournalTest, CutsATornTailThatAppearsWhileOpen) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a")});
  {
    auto torn = disk_.fs.OpenAppend("logs/op/journal.jsonl");
    ASSERT_TRUE((*torn)->Write("{\"v\":1,\"kind\":\"rec").ok());
  }
  MustAppend(*journal, {Mark(LineKind::kCommit, "a")});
  EXPECT_THAT(Seqs(), ElementsAre(1, 2));
}

TEST_F(JournalTest, RecordsWaitForTheirCommit) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a"), Record("1", 1, "b")});
  EXPECT_EQ(journal->StateOf("0").uncommitted.size(), 1U);
  MustAppend(*journal, {Mark(LineKind::kCommit, "a")});
  EXPECT_TRUE(journal->StateOf("0").uncommitted.empty());
  EXPECT_EQ(journal->StateOf("1").uncommitted.size(), 1U);
}

TEST_F(JournalTest, AbandonFreesStepsAttemptsAndNames) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a"), Mark(LineKind::kCommit, "a")});
  MustAppend(*journal, {Record("0", 2, "b", "two"), Record("0", 3, "b"), Check("0", 3, 1, "b")});
  journal->Abandon("b");
  EXPECT_EQ(journal->StateOf("0").last_step, 1);
  EXPECT_EQ((journal->StateOf("0").attempts[{3, "CheckCoder"}]), 0);
  EXPECT_FALSE(journal->KnowsFile("two"));
  EXPECT_TRUE(journal->StateOf("0").uncommitted.empty());
}

TEST_F(JournalTest, AbandonHoldsInMemoryWhenTheDiskTakesNoMore) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a")});
  disk_.fs.FailAfter(1, ENOSPC);
  journal->Abandon("a");
  EXPECT_EQ(journal->StateOf("0").last_step, 0);
  EXPECT_TRUE(journal->StateOf("0").uncommitted.empty());
}

// Steps above it are in use: giving the number back would number a later record twice.
TEST_F(JournalTest, AbandonOfAnEarlierBatchKeepsLaterSteps) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a"), Record("0", 2, "b"), Mark(LineKind::kCommit, "b")});
  journal->Abandon("a");
  EXPECT_EQ(journal->StateOf("0").last_step, 2);
}

// The disk was full, so the abandon of step 2 is missing; the verifier's record took its number.
TEST_F(JournalTest, ALaterRecordOfTheSameStepShowsThatTheFirstWasGivenUp) {
  JournalLine verifier = Record("0", 2, "c");
  verifier.step.kind = RecordKind::kVerifier;
  MustAppend(*MustOpen(), {Record("0", 1, "a"), Mark(LineKind::kCommit, "a"), Record("0", 2, "b"),
                           verifier, Mark(LineKind::kCommit, "c")});
  auto journal = MustOpen();
  EXPECT_TRUE(journal->StateOf("0").uncommitted.empty());
  EXPECT_EQ(journal->StateOf("0").last_step, 2);
}

// It is numbered by its files, so it says nothing about records with higher numbers.
TEST_F(JournalTest, ARecoveredRecordGivesNothingUp) {
  JournalLine recovered = Record("0", 1, "b");
  recovered.step.recovered = true;
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 2, "a"), recovered, Mark(LineKind::kCommit, "b")});
  ASSERT_EQ(journal->StateOf("0").uncommitted.size(), 1U);
  EXPECT_EQ(journal->StateOf("0").uncommitted[0].step.step, 2);
}

// The commit's sync failed, so the record was given up: its files, if any are left, are nobody's.
TEST_F(JournalTest, AnAbandonAfterTheCommitFreesTheNames) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a", "one"), Mark(LineKind::kCommit, "a"),
                        Record("0", 2, "b", "two"), Mark(LineKind::kCommit, "b")});
  journal->Abandon("b");
  const auto again = MustOpen();
  for (const Journal* each : {journal.get(), again.get()}) {
    EXPECT_TRUE(each->KnowsFile("one"));
    EXPECT_FALSE(each->KnowsFile("two"));
  }
}

TEST_F(JournalTest, ABatchOfSeveralTasksIsClosedForAllOfThem) {
  MustAppend(*MustOpen(), {Record("0", 1, "a"), Record("1", 1, "a"), Mark(LineKind::kCommit, "a")});
  auto journal = MustOpen();
  EXPECT_TRUE(journal->StateOf("0").uncommitted.empty());
  EXPECT_TRUE(journal->StateOf("1").uncommitted.empty());
}

TEST_F(JournalTest, FailedAppendLeavesNoLine) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a")});
  const std::string before = Bytes();
  std::vector<JournalLine> lines = {Record("0", 2, "b"), Record("0", 3, "b")};
  // Room for the first line and half of the second.
  disk_.fs.FailWriteAfterBytes(EncodeLine(lines[0]).size() * 3 / 2, ENOSPC);
  EXPECT_FALSE(journal->Append(lines).ok());
  disk_.fs.ClearFaults();
  EXPECT_EQ(Bytes(), before);
  MustAppend(*journal, {Mark(LineKind::kCommit, "a")});
  EXPECT_THAT(Seqs(), ElementsAre(1, 2));
}

TEST_F(JournalTest, StartsOverWhenTheFileWasCut) {
  auto journal = MustOpen();
  MustAppend(*journal, {Record("0", 1, "a"), Mark(LineKind::kCommit, "a")});
  const uint64_t after_first = Bytes().size();
  MustAppend(*journal, {Record("0", 2, "b")});
  disk_.fs.CutFile("logs/op/journal.jsonl", after_first);
  ASSERT_TRUE(journal->Refresh().ok());
  EXPECT_EQ(journal->StateOf("0").last_step, 1);
  MustAppend(*journal, {Record("0", 2, "c")});
  EXPECT_THAT(Seqs(), ElementsAre(1, 2, 3));
}

TEST_F(JournalTest, KnowsThatItIsDamagedUntilRepaired) {
  MustAppend(*MustOpen(), {Record("0", 1, "a"), Mark(LineKind::kCommit, "a")});
  std::string bytes = Bytes();
  bytes[20] ^= 1;
  disk_.Put("logs/op/journal.jsonl", bytes);
  EXPECT_TRUE(MustOpen()->damaged());
  MustAppend(*MustOpen(), {Mark(LineKind::kRepair, "")});
  EXPECT_FALSE(MustOpen()->damaged());
}

TEST_F(JournalTest, KnowsThatALineIsMissing) {
  MustAppend(*MustOpen(), {Record("0", 1, "a"), Mark(LineKind::kCommit, "a"), Record("0", 2, "b")});
  std::string bytes = Bytes();
  const size_t first_end = bytes.find('\n') + 1;
  bytes.erase(first_end, bytes.find('\n', first_end) + 1 - first_end);
  disk_.Put("logs/op/journal.jsonl", bytes);
  EXPECT_TRUE(MustOpen()->damaged());
}

TEST_F(JournalTest, FindsRecordFilesWithoutALine) {
  disk_.Put("logs/op/I0_S01_op_DoCoder_result.txt", "");
  disk_.Put("logs/op/conductor/I0_S01_op_CheckCoder_result.txt", "");
  disk_.Put("logs/op/recorder/I1_S01_op_coder_parsed.txt", "");
  disk_.Put("logs/op/notes.txt", "");
  disk_.Put("logs/op/I0_S01_verify/I0_S01_op_DoCoder_result.txt", "");
  auto journal = MustOpen();
  EXPECT_THAT(journal->unjournaled()["0"],
              ::testing::UnorderedElementsAre("I0_S01_op_DoCoder_result.txt",
                                              "conductor/I0_S01_op_CheckCoder_result.txt"));
  EXPECT_THAT(journal->unjournaled()["1"], ElementsAre("recorder/I1_S01_op_coder_parsed.txt"));
  EXPECT_EQ(journal->unjournaled().size(), 2U);
}

TEST_F(JournalTest, NoticesThatItsFolderWasReplaced) {
  auto journal = MustOpen();
  EXPECT_TRUE(journal->IsStillThere());
  ASSERT_TRUE(disk_.fs.Rename("logs/op", "logs/old").ok());
  EXPECT_FALSE(journal->IsStillThere());
}

TEST(JournalScanTest, TellsGoodDamagedAndTornApart) {
  const std::string good = EncodeLine([] {
    JournalLine line = Mark(LineKind::kCommit, "a");
    line.seq = 1;
    return line;
  }());
  const std::string bytes = good + "rubbish\n\n" + good + "{\"v\":1";
  std::vector<uint64_t> offsets;
  const JournalScan scan =
      ScanJournal(bytes, 100, [&](JournalLine&&, uint64_t offset) { offsets.push_back(offset); });
  EXPECT_THAT(offsets, ElementsAre(100, 100 + good.size() + 9));
  ASSERT_EQ(scan.damaged.size(), 2U);
  EXPECT_EQ(scan.damaged[0].offset, 100 + good.size());
  EXPECT_EQ(scan.damaged[0].length, 7U);
  EXPECT_EQ(scan.damaged[1].length, 0U);
  EXPECT_EQ(scan.good_end, 100 + 2 * good.size() + 9);
  EXPECT_EQ(scan.torn_bytes, 6U);
}

}  // namespace
}  // namespace kerf::trace
