#include "trace/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "trace/fake_disk.h"
#include "trace/trace.h"

namespace kerf::trace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kJournal[] = "logs/relu/journal.jsonl";
constexpr char kResult[] = "logs/relu/I0_S01_relu_DO_CODER_result.txt";
constexpr char kLog[] = "logs/relu/I0_S02_relu_VERIFY_error_log.txt";

class TraceChecker : public ::testing::Test {
 protected:
  // Two committed records: a coder's with three files, a verifier's with two.
  void RecordTwoSteps() {
    Result<std::unique_ptr<Trace>> trace = Open();
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    ASSERT_TRUE((*trace)->InsertDesignerOrCoderRecord("code", "p", "", ActionType::kDoCoder).ok());
    ASSERT_TRUE((*trace)->InsertVerifierRecord("False", "log", "").ok());
  }
  Result<std::unique_ptr<Trace>> Open(const std::string& task = "0") {
    return Trace::Open(disk_.fs, disk_.clock, disk_.ids,
                       {.op_name = "relu", .task_id = task, .log_dir = "logs", .owner = "me"});
  }
  CheckReport MustCheck() {
    Result<CheckReport> report = CheckRun(disk_.fs, run_, [](const std::string&) {});
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? *report : CheckReport{};
  }
  RepairReport MustRepair() {
    Result<RepairReport> report = RepairRun(disk_.fs, disk_.clock, disk_.ids, run_, "repairer");
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? *report : RepairReport{};
  }
  // "damage torn_tail", "note unknown_file" …
  static std::vector<std::string> Words(const CheckReport& report) {
    std::vector<std::string> words;
    for (const Finding& finding : report.findings) {
      words.push_back((finding.damage ? "damage " : "note ") + finding.what);
    }
    return words;
  }
  std::vector<std::string> CheckWords() { return Words(MustCheck()); }
  std::vector<Step> Steps() {
    Result<OpTrace> trace = ReadOp(disk_.fs, "logs", "relu");
    EXPECT_TRUE(trace.ok());
    return trace->tasks.empty() ? std::vector<Step>{} : trace->tasks[0].steps;
  }
  // A second repair has nothing to do and changes nothing.
  void ExpectRepairIsDone() {
    const auto before = disk_.Files("logs");
    const RepairReport report = MustRepair();
    EXPECT_EQ(report.committed + report.abandoned + report.recovered + report.journal_damage, 0);
    EXPECT_EQ(disk_.Files("logs"), before);
  }

  FakeDisk disk_;
  const trace::Run run_{"logs", {"relu"}};
};

TEST_F(TraceChecker, FindsNothingInAGoodTrace) {
  RecordTwoSteps();
  const CheckReport report = MustCheck();
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.records, 2);
  EXPECT_EQ(report.files, 5);
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, FindsAMissingFileAndRepairDoesNotInventIt) {
  RecordTwoSteps();
  ASSERT_TRUE(disk_.fs.Remove(kResult).ok());
  EXPECT_THAT(CheckWords(), ElementsAre("damage missing_file"));
  ExpectRepairIsDone();
  EXPECT_THAT(CheckWords(), ElementsAre("damage missing_file"));
  EXPECT_THAT(Steps(), SizeIs(2));
}

TEST_F(TraceChecker, FindsEveryChangeOfAFile) {
  RecordTwoSteps();
  for (const char* content : {"cod", "code ", "cOde", ""}) {
    disk_.Put(kResult, content);
    const CheckReport report = MustCheck();
    ASSERT_THAT(Words(report), ElementsAre("damage altered_file")) << content;
    EXPECT_EQ(report.findings[0].path, kResult);
  }
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, FindsALinkInPlaceOfAFile) {
  RecordTwoSteps();
  ASSERT_TRUE(disk_.fs.Remove(kResult).ok());
  disk_.fs.AddSymlink(kResult, "/etc/passwd");
  EXPECT_THAT(CheckWords(), ElementsAre("damage altered_file"));
}

TEST_F(TraceChecker, NotesAFileThatIsNoRecords) {
  RecordTwoSteps();
  disk_.Put("logs/relu/notes.md", "x");
  EXPECT_THAT(CheckWords(), ElementsAre("note unknown_file"));
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, TakesInAFileWithoutALine) {
  RecordTwoSteps();
  disk_.Put("logs/relu/I0_S03_relu_FixCoder_result.txt", "x");
  EXPECT_THAT(CheckWords(), ElementsAre("damage unjournaled_file"));
  EXPECT_EQ(MustRepair().recovered, 1);
  EXPECT_THAT(CheckWords(), IsEmpty());
  ASSERT_THAT(Steps(), SizeIs(3));
  EXPECT_TRUE(Steps()[2].recovered);
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, AnExtraFileOfARecordDoesNotReplaceTheRecord) {
  RecordTwoSteps();
  disk_.Put("logs/relu/I0_S01_relu_DO_CODER_reply.txt", "x");
  EXPECT_EQ(MustRepair().recovered, 1);
  ASSERT_THAT(Steps(), SizeIs(2));
  EXPECT_THAT(Steps()[0].files, SizeIs(4));
  EXPECT_FALSE(Steps()[0].recovered);
  EXPECT_EQ(MustCheck().files, 6);
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, MakesAJournalForAikgsDirectory) {
  disk_.Put("logs/relu/I0_S01_relu_DoCoder_result.txt", "x");
  disk_.Put("logs/relu/I1_S01_relu_DoCoder_result.txt", "y");
  EXPECT_THAT(CheckWords(), ElementsAre("note no_journal"));
  EXPECT_EQ(MustRepair().recovered, 2);
  EXPECT_THAT(CheckWords(), IsEmpty());
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, RepairsADirectoryWithNamesKerfWouldNotWrite) {
  disk_.Put("logs/relu/Ia\tb_S01_relu_DoCoder_result.txt", "x");
  disk_.Put("logs/relu/I1_S01_relu_DoCoder_result.txt", "y");
  disk_.Put("logs/relu/I\xFF_S01_relu_DoCoder_result.txt", "z");
  const RepairReport report = MustRepair();
  EXPECT_EQ(report.recovered, 1);
  ASSERT_THAT(report.not_done, SizeIs(1));
  EXPECT_EQ(report.not_done[0].what, "bad_name");
  EXPECT_THAT(report.not_done[0].detail, HasSubstr("task 'a\tb'"));
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, TellsTheTruthAboutEveryCutOfTheJournal) {
  RecordTwoSteps();
  const std::string whole = disk_.Read(kJournal);
  const auto files = disk_.Files("logs/relu");
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    disk_.Put(kJournal, whole.substr(0, cut));
    const bool at_line_end = cut == 0 || whole[cut - 1] == '\n';
    EXPECT_EQ(Words(MustCheck()), CheckWords());
    if (!at_line_end) {
      EXPECT_THAT(CheckWords(), Contains("damage torn_tail"));
    }
    MustRepair();
    EXPECT_FALSE(MustCheck().damaged());
    ASSERT_THAT(Steps(), SizeIs(2));
    EXPECT_EQ(Steps()[0].files.size() + Steps()[1].files.size(), 5U);
    auto now = disk_.Files("logs/relu");
    for (const auto& [name, content] : files) {
      if (name == "journal.jsonl") continue;
      EXPECT_EQ(now[name], content) << name;
    }
    ExpectRepairIsDone();
    auto trace = Open();
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ((*trace)->last_step(), 2);
  }
}

TEST_F(TraceChecker, TellsTheTruthAboutEveryFlippedByteOfTheJournal) {
  RecordTwoSteps();
  const std::string whole = disk_.Read(kJournal);
  for (size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string changed = whole;
    changed[at] ^= 0x15;
    disk_.Put(kJournal, changed);
    EXPECT_TRUE(MustCheck().damaged());
    MustRepair();
    EXPECT_FALSE(MustCheck().damaged());
    ASSERT_THAT(Steps(), SizeIs(2));
    EXPECT_EQ(Steps()[0].files.size() + Steps()[1].files.size(), 5U);
    ExpectRepairIsDone();
  }
}

TEST_F(TraceChecker, TellsTheTruthAboutEveryRemovedLine) {
  RecordTwoSteps();
  const std::string whole = disk_.Read(kJournal);
  for (size_t begin = 0, end = 0; begin < whole.size(); begin = end) {
    end = whole.find('\n', begin) + 1;
    SCOPED_TRACE(begin);
    disk_.Put(kJournal, whole.substr(0, begin) + whole.substr(end));
    // The last line leaves no gap: that is a crash before the commit, and a note.
    EXPECT_EQ(MustCheck().damaged(), end != whole.size());
    MustRepair();
    EXPECT_FALSE(MustCheck().damaged());
    EXPECT_THAT(Steps(), SizeIs(2));
    ExpectRepairIsDone();
  }
}

// The commit line is damaged, so the record looks unfinished; a file of it was altered too. Its
// other files were acknowledged and must stay.
TEST_F(TraceChecker, RemovesNoFileWhenTheCommitMayBeWhatWasLost) {
  RecordTwoSteps();
  std::string journal = disk_.Read(kJournal);
  journal[journal.rfind("commit")] = 'C';
  disk_.Put(kJournal, journal);
  disk_.Put(kLog, "altered");
  const auto before = disk_.Files("logs/relu");
  MustRepair();
  auto after = disk_.Files("logs/relu");
  for (const auto& [name, content] : before) {
    if (name == "journal.jsonl") continue;
    EXPECT_EQ(after[name], content) << name;
  }
  ASSERT_THAT(Steps(), SizeIs(2));
  EXPECT_TRUE(Steps()[1].recovered);
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, RemovesWhatACrashLeftUnfinished) {
  RecordTwoSteps();
  std::string journal = disk_.Read(kJournal);
  journal.resize(journal.rfind("{\"v\":1,\"kind\":\"commit\""));
  disk_.Put(kJournal, journal);
  disk_.fs.CutFile(kLog, 1);
  EXPECT_THAT(CheckWords(), ElementsAre("note unfinished_record"));
  EXPECT_EQ(MustRepair().abandoned, 1);
  EXPECT_THAT(CheckWords(), IsEmpty());
  EXPECT_THAT(Steps(), SizeIs(1));
  EXPECT_FALSE(disk_.fs.Stat(kLog)->has_value());
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, DoesNotTouchATaskInUse) {
  RecordTwoSteps();
  auto held = Open();
  ASSERT_TRUE(held.ok());
  disk_.Put("logs/relu/I0_S05_relu_DoCoder_result.txt", "x");
  const RepairReport report = MustRepair();
  ASSERT_THAT(report.not_done, SizeIs(1));
  EXPECT_EQ(report.not_done[0].what, "in_use");
  EXPECT_THAT(report.not_done[0].detail, HasSubstr("me"));
  EXPECT_EQ(report.recovered, 0);
}

std::string WithSum(const std::string& body) {
  return body + ",\"sum\":\"" + Hex64(Xxh3(body)) + "\"}\n";
}

// A journal from elsewhere must not make repair remove a folder or stop.
TEST_F(TraceChecker, AHostileUnfinishedRecordRemovesNoFolder) {
  disk_.Put("logs/relu/I0_S01_verify/x.py", "x");
  disk_.Put(kJournal, WithSum(R"({"v":1,"kind":"record","seq":1,"batch":"a","task":"0","step":1,)"
                              R"("record":"verifier","action":"VERIFY","names":"doc","files":)"
                              R"([{"name":"I0_S01_verify","bytes":1,"sha256":"","encoding":""}])"));
  EXPECT_EQ(MustRepair().abandoned, 1);
  EXPECT_EQ(disk_.Read("logs/relu/I0_S01_verify/x.py"), "x");
  ExpectRepairIsDone();
}

TEST_F(TraceChecker, AHostileUnfinishedRecordRemovesNoOtherTasksFile) {
  disk_.Put("logs/relu/I1_S01_relu_DO_CODER_result.txt", "x");
  disk_.Put("logs/relu/notes.md", "y");
  disk_.Put(
      kJournal,
      WithSum(R"({"v":1,"kind":"record","seq":1,"batch":"a","task":"0","step":1,)"
              R"("record":"verifier","action":"VERIFY","names":"doc","files":)"
              R"([{"name":"I1_S01_relu_DO_CODER_result.txt","bytes":9},{"name":"notes.md"}])"));
  EXPECT_EQ(MustRepair().abandoned, 1);
  EXPECT_EQ(disk_.Read("logs/relu/I1_S01_relu_DO_CODER_result.txt"), "x");
  EXPECT_EQ(disk_.Read("logs/relu/notes.md"), "y");
}

TEST_F(TraceChecker, AHostileTaskNameDoesNotStopTheRepair) {
  disk_.Put(kJournal,
            WithSum(R"({"v":1,"kind":"record","seq":1,"batch":"a","task":"a\u0001","step":1,)"
                    R"("record":"verifier","action":"VERIFY","names":"doc","files":[])"));
  const RepairReport report = MustRepair();
  ASSERT_THAT(report.not_done, SizeIs(1));
  EXPECT_EQ(report.not_done[0].what, "bad_name");
  EXPECT_THAT(report.not_done[0].detail, HasSubstr("task 'a\x01'"));
}

// The journal lost a commit, and a file was altered too. That the task went on proves that the
// record was acknowledged.
TEST_F(TraceChecker, ARecordWhoseCommitIsLostStaysWhateverBecameOfItsFiles) {
  RecordTwoSteps();
  const std::string journal = disk_.Read(kJournal);
  const size_t commit = journal.find("\"kind\":\"commit\"");
  for (const bool is_gone : {false, true}) {
    disk_.Put(kJournal, journal.substr(0, commit) + "?" + journal.substr(commit + 1));
    if (is_gone) {
      ASSERT_TRUE(disk_.fs.Remove(kResult).ok());
    } else {
      disk_.Put(kResult, "evil");
    }
    const std::string damage = is_gone ? "damage missing_file" : "damage altered_file";
    EXPECT_THAT(CheckWords(), ElementsAre("damage damaged_line", "damage missing_line", damage));
    ASSERT_THAT(Steps(), SizeIs(2));
    const RepairReport report = MustRepair();
    EXPECT_EQ(report.recovered + report.abandoned, 0);
    EXPECT_THAT(CheckWords(), Contains(damage)) << "a repair must not hide what it cannot mend";
    ASSERT_THAT(Steps(), SizeIs(2));
    EXPECT_FALSE(Steps()[0].recovered);
    ExpectRepairIsDone();
  }
}

TEST_F(TraceChecker, SaysWhereUnfinishedRecordsWent) {
  RecordTwoSteps();
  std::string journal = disk_.Read(kJournal);
  journal.resize(journal.rfind("{\"v\""));  // the last commit
  disk_.Put(kJournal, journal);
  disk_.Put(kLog, "lo");
  const RepairReport report = MustRepair();
  EXPECT_EQ(report.abandoned, 1);
  ASSERT_THAT(report.set_aside, SizeIs(1));
  EXPECT_THAT(report.set_aside[0], HasSubstr("set_aside/relu"));
}

}  // namespace
}  // namespace kerf::trace
