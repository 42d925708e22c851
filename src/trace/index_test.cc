#include "trace/index.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "trace/index_testing.h"

namespace kerf::trace {
namespace {

class TraceIndexTest : public RunTest {};

TEST_F(TraceIndexTest, ReadsOnlyWhatIsNew) {
  Code("relu", "0", "first");
  Code("swish", "0", "other");
  EXPECT_EQ(Update(*Open()).added, 2);
  EXPECT_EQ(Update(*Open()).added, 0);
  Code("relu", "0", "second");
  Code("relu", "1", "third");
  const IndexReport report = Update(*Open());
  EXPECT_EQ(report.added, 2);
  EXPECT_EQ(report.removed, 0);
  EXPECT_EQ(Count("second"), 1u);
  EXPECT_EQ(Count("third"), 1u);
  EXPECT_EQ(Count("first"), 1u);
}

TEST_F(TraceIndexTest, SeesWhatIsAppendedWhileItIsOpen) {
  Code("relu", "0", "first");
  const auto index = Open();
  Update(*index);
  for (int i = 0; i < 5; ++i) {
    Code("relu", "0", "later");
    EXPECT_EQ(Update(*index).added, 1);
  }
  EXPECT_EQ(Count("later"), 5u);
}

TEST_F(TraceIndexTest, ForgetsRecordsThatWereCutFromTheJournal) {
  Code("relu", "0", "first");
  const std::string kept = Read(Journal("relu"));
  Code("relu", "0", "second");
  EXPECT_EQ(Count("second"), 1u);
  Write(Journal("relu"), kept);
  for (const char* parameter : {"result", "prompt", "reasoning"}) {
    std::filesystem::remove(run_ + "/relu/I0_S02_relu_DO_CODER_" + parameter + ".txt");
  }
  EXPECT_EQ(Count("second"), 0u);
  EXPECT_EQ(Count("first"), 1u);
}

TEST_F(TraceIndexTest, ReadsAReplacedJournalFromItsBeginning) {
  Code("relu", "0", "oldest");
  Code("relu", "0", "older");
  EXPECT_EQ(Count("oldest"), 1u);
  std::filesystem::remove_all(run_ + "/relu");
  Code("relu", "0", "newer");
  Code("relu", "0", "newest");
  Code("relu", "0", "and longer than before");
  EXPECT_EQ(Count("oldest"), 0u);
  EXPECT_EQ(Count("older"), 0u);
  EXPECT_EQ(Count("newer"), 1u);
  EXPECT_EQ(Count("longer"), 1u);
}

TEST_F(TraceIndexTest, IgnoresATornTailAndTakesWhatFollowsIt) {
  Code("relu", "0", "first");
  EXPECT_EQ(Count("first"), 1u);
  const std::string whole = Read(Journal("relu"));
  Write(Journal("relu"), whole + whole.substr(0, 40));
  EXPECT_EQ(Count("first"), 1u);
  Code("relu", "0", "second");  // cuts the tail off
  EXPECT_EQ(Count("first"), 1u);
  EXPECT_EQ(Count("second"), 1u);
}

// The lines of the last batch without its commit, as a recorder leaves them that was killed.
TEST_F(TraceIndexTest, LooksAgainAtRecordsWithoutCommit) {
  Code("relu", "0", "first");
  Code("relu", "0", "pending");
  std::string journal = Read(Journal("relu"));
  journal.erase(journal.rfind('\n', journal.size() - 2) + 1);
  Write(Journal("relu"), journal);
  const std::string file = run_ + "/relu/I0_S02_relu_DO_CODER_result.txt";
  Write(file, "pen");
  EXPECT_EQ(Count("pen"), 0u);
  EXPECT_EQ(Count("pending"), 0u);
  EXPECT_EQ(Count("first"), 1u);
  // Whole now, though the journal has not changed.
  Write(file, "pending");
  EXPECT_EQ(Count("pending"), 1u);
  JournalLine abandon;
  abandon.kind = LineKind::kAbandon;
  abandon.seq = 4;
  const size_t batch = journal.rfind("\"batch\":\"") + 9;
  abandon.batch = journal.substr(batch, 16);
  Write(Journal("relu"), journal + EncodeLine(abandon));
  for (const char* parameter : {"result", "prompt", "reasoning"}) {
    std::filesystem::remove(run_ + "/relu/I0_S02_relu_DO_CODER_" + parameter + ".txt");
  }
  EXPECT_EQ(Count("pending"), 0u);
  Code("relu", "0", "replacement");
  EXPECT_EQ(Count("replacement"), 1u);
  EXPECT_EQ(Count("first"), 1u);
}

TEST_F(TraceIndexTest, FollowsARecordFromOpenToCommitted) {
  Code("relu", "0", "pending");
  const std::string journal = Read(Journal("relu"));
  Write(Journal("relu"), journal.substr(0, journal.find('\n') + 1));
  const auto index = Open();
  EXPECT_EQ(Update(*index).added, 1);
  Write(Journal("relu"), journal);
  const IndexReport report = Update(*index);
  EXPECT_EQ(report.added + report.removed, 0);
  EXPECT_EQ(Count("pending"), 1u);
}

TEST_F(TraceIndexTest, IsRebuiltWhenDeleted) {
  Code("relu", "0", "first");
  EXPECT_EQ(Count("first"), 1u);
  std::filesystem::remove_all(run_ + "/.kerf");
  EXPECT_EQ(Count("first"), 1u);
}

TEST_F(TraceIndexTest, ReplacesAFileThatIsNoDatabase) {
  Code("relu", "0", "first");
  for (const std::string& garbage :
       {std::string("not a database, but long enough to look like one"), std::string(8192, '\xff'),
        std::string("SQLite format 3\0", 16) + std::string(5000, '\x01')}) {
    Write(IndexFile(), garbage);
    EXPECT_EQ(Count("first"), 1u);
    EXPECT_EQ(Open()->path(), IndexFile());
  }
}

TEST_F(TraceIndexTest, ReplacesADatabaseOfAnotherProgramOrVersion) {
  Code("relu", "0", "first");
  for (const char* sql :
       {"CREATE TABLE step(x); INSERT INTO step VALUES(1); CREATE VIEW op AS SELECT 1",
        "PRAGMA user_version=99"}) {
    std::filesystem::create_directories(run_ + "/.kerf");
    {
      auto database = Database::Open(IndexFile());
      ASSERT_TRUE(database.ok());
      ASSERT_TRUE(database->Exec(sql).ok());
    }
    EXPECT_EQ(Count("first"), 1u);
  }
}

TEST_F(TraceIndexTest, ReplacesADatabaseWithoutItsTables) {
  Code("relu", "0", "first");
  EXPECT_EQ(Count("first"), 1u);
  {
    auto database = Database::Open(IndexFile());
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->Exec("DROP TABLE op").ok());
  }
  EXPECT_EQ(Count("first"), 1u);
}

TEST_F(TraceIndexTest, SurvivesDamageOfAnyPage) {
  for (int i = 0; i < 20; ++i) Code("relu", "0", "word" + std::to_string(i) + " common");
  EXPECT_EQ(Count("common"), 20u);
  const std::string good = Read(IndexFile());
  for (size_t page = 0; page < good.size(); page += 4096) {
    std::string bad = good;
    for (size_t i = page; i < page + 4096; ++i) bad[i] = static_cast<char>(i * 31);
    Write(IndexFile(), bad);
    const auto index = Open();
    const auto updated = index->Update();
    ASSERT_TRUE(updated.ok()) << updated.error().message;
    SearchRequest request;
    request.query = "common";
    auto hits = Search(*index, request);
    if (!hits.ok()) {
      EXPECT_EQ(hits.error().code, ErrorCode::kCorrupt) << hits.error().message;
      const auto rebuilt = index->Rebuild();
      ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
      hits = Search(*index, request);
      ASSERT_TRUE(hits.ok()) << hits.error().message;
      EXPECT_EQ(hits->hits.size(), 20u);
    }
  }
}

TEST_F(TraceIndexTest, GoesToTheCacheWhenThereIsNoPlaceInTheRun) {
  Code("relu", "0", "first");
  std::filesystem::remove_all(run_ + "/.kerf");
  Write(run_ + "/.kerf", "in the way");
  EXPECT_EQ(Count("first"), 1u);
  EXPECT_TRUE(Open()->path().starts_with(root_ + "/cache/kerf/index/")) << Open()->path();
  EXPECT_EQ(Read(run_ + "/.kerf"), "in the way");
}

TEST_F(TraceIndexTest, GoesToTheCacheWhenTheRunIsReadOnly) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  Code("relu", "0", "first");
  std::filesystem::remove_all(run_ + "/.kerf");
  std::filesystem::permissions(
      run_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(Count("first"), 1u);
  EXPECT_TRUE(Open()->path().starts_with(root_ + "/cache/")) << Open()->path();
}

TEST_F(TraceIndexTest, FollowsNoLinkPlantedInItsPlace) {
  Code("relu", "0", "first");
  Write(root_ + "/precious", "do not touch");
  std::filesystem::create_symlink(root_ + "/precious", IndexFile());
  EXPECT_EQ(Count("first"), 1u);
  EXPECT_EQ(Read(root_ + "/precious"), "do not touch");
}

TEST_F(TraceIndexTest, SaysWhatToDoWhenThereIsNoPlaceAtAll) {
  Code("relu", "0", "first");
  std::filesystem::remove_all(run_ + "/.kerf");
  Write(run_ + "/.kerf", "in the way");
  Write(root_ + "/file", "also in the way");
  const auto index = TraceIndex::Open(*fs_, *wall_, run_, {.cache_home = root_ + "/file"});
  ASSERT_FALSE(index.ok());
  EXPECT_NE(index.error().message.find("XDG_CACHE_HOME"), std::string::npos);
}

TEST_F(TraceIndexTest, ReadsADirectoryOfAikgWithoutJournal) {
  const std::string op = run_ + "/swish/";
  Write(op + "I0_S01_swish_DoDesigner_result.txt", "tile the sigmoid");
  Write(op + "conductor/I0_S01_swish_CheckDesigner_result.txt", "looks plausible");
  Age(run_, 3);
  EXPECT_EQ(Count("sigmoid"), 1u);
  EXPECT_EQ(Count("plausible"), 1u);
  EXPECT_EQ(Update(*Open()).added, 0);
  Write(op + "I0_S02_swish_DoCoder_result.txt", "def launch");
  const IndexReport report = Update(*Open());
  EXPECT_EQ(report.added, 1);
  EXPECT_EQ(report.removed, 0);
  EXPECT_EQ(Count("launch"), 1u);
  Write(op + "conductor/I0_S02_swish_CheckCoder_result.txt", "reject");
  EXPECT_EQ(Count("reject"), 1u);
}

TEST_F(TraceIndexTest, SeesAikgResultsThatComeLater) {
  Write(run_ + "/swish/I0_S02_swish_verifier_error_log.txt", "mismatch at 7");
  Age(run_, 3);
  SearchRequest request;
  request.query = "mismatch";
  request.verdict = Verification::kPassed;
  EXPECT_EQ(Find(request).size(), 0u);
  Write(run_ + "/verification_results.jsonl",
        "{\n  \"task_name\": \"swish\",\n  \"task_id\": \"0\",\n  \"step\": 1,\n  \"passed\": "
        "true\n}\n");
  EXPECT_EQ(Find(request).size(), 1u);
}

TEST_F(TraceIndexTest, TakesInFilesThatAnotherProgramAddsBesideAJournal) {
  Code("relu", "0", "ours");
  EXPECT_EQ(Count("ours"), 1u);
  Write(run_ + "/relu/I7_S01_relu_DO_CODER_result.txt", "theirs");
  EXPECT_EQ(Count("theirs"), 1u);
  Code("relu", "0", "again");
  EXPECT_EQ(Count("theirs"), 1u);
  EXPECT_EQ(Count("again"), 1u);
}

TEST_F(TraceIndexTest, ForgetsAnOperatorThatIsGone) {
  Code("relu", "0", "shared");
  Code("swish", "0", "shared");
  EXPECT_EQ(Count("shared"), 2u);
  std::filesystem::remove_all(run_ + "/relu");
  EXPECT_EQ(Count("shared"), 1u);
}

TEST_F(TraceIndexTest, IndexesTheFirstFourMebibytesOfAText) {
  std::string text = "atbeginning ";
  while (text.size() < kSearchedBytes) text += "filler ";
  Code("relu", "0", text + "atend");
  EXPECT_EQ(Count("atbeginning"), 1u);
  EXPECT_EQ(Count("atend"), 0u);
}

TEST_F(TraceIndexTest, GivesStepsOfTheSameMomentTheirOwnPlaces) {
  for (int i = 0; i < 40; ++i) {
    Write(run_ + "/swish/I" + std::to_string(i) + "_S01_swish_DO_CODER_result.txt", "same moment");
  }
  Age(run_, 3);
  SearchRequest request;
  request.query = "moment";
  request.limit = 100;
  EXPECT_EQ(Find(request).size(), 40u);
  request.until_ns = wall_->WallNanos() - 7200 * int64_t{1'000'000'000};
  EXPECT_EQ(Find(request).size(), 40u);
}

TEST_F(TraceIndexTest, IsRebuiltWhenMostOfItIsDead) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 600; ++i) {
      Write(run_ + "/swish/I" + std::to_string(i) + "_S01_swish_DO_CODER_result.txt",
            "round" + std::to_string(round));
    }
    Age(run_, 10 - round);
    Update(*Open());
  }
  std::filesystem::remove_all(run_ + "/swish");
  Code("relu", "0", "left");
  const auto index = Open();
  Update(*index);
  EXPECT_EQ(*index->store().CountDead(), 0);
  EXPECT_EQ(Count("left"), 1u);
}

TEST_F(TraceIndexTest, KnowsARunAFolderOfRunsAndAnOperator) {
  Code("relu", "0", "first");
  for (const bool indexed : {false, true}) {
    if (indexed) Update(*Open());
    EXPECT_EQ(FindSearchTarget(*fs_, run_)->runs, std::vector<std::string>{run_});
    EXPECT_EQ(FindSearchTarget(*fs_, run_)->op, "");
    EXPECT_EQ(FindSearchTarget(*fs_, root_)->runs, std::vector<std::string>{run_});
    for (const char* op : {"/relu", "/relu/", "/relu/."}) {
      EXPECT_EQ(FindSearchTarget(*fs_, run_ + op)->runs, std::vector<std::string>{run_});
      EXPECT_EQ(FindSearchTarget(*fs_, run_ + op)->op, "relu");
    }
  }
  EXPECT_FALSE(FindSearchTarget(*fs_, root_ + "/absent").ok());
}

TEST_F(TraceIndexTest, TellsThatAnotherProcessIsWriting) {
  Code("relu", "0", "first");
  EXPECT_EQ(Count("first"), 1u);
  Code("relu", "0", "second");
  auto writer = Database::Open(IndexFile());
  ASSERT_TRUE(writer.ok());
  Transaction transaction(*writer);
  ASSERT_TRUE(transaction.Begin().ok());
  const auto index = Open();
  EXPECT_FALSE(Update(*index).complete);
  SearchRequest request;
  request.query = "first";
  EXPECT_EQ(Search(*index, request)->hits.size(), 1u);
}

TEST_F(TraceIndexTest, SurvivesBeingKilledWhileItIndexes) {
  for (int op = 0; op < 5; ++op) {
    for (int i = 0; i < 10; ++i) Code("op" + std::to_string(op), "0", "durable");
  }
  const pid_t child = ::fork();
  if (child == 0) {
    TraceIndex::Options options;
    options.progress = [](const IndexProgress& progress) {
      if (progress.ops_done == 3) ::kill(::getpid(), SIGKILL);
    };
    auto index = TraceIndex::Open(*fs_, *wall_, run_, options);
    (void)(*index)->Update();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  SearchRequest request;
  request.query = "durable";
  request.limit = 100;
  EXPECT_EQ(Find(request).size(), 50u);
}

TEST_F(TraceIndexTest, ManySearchWhileOneRecords) {
  constexpr int kSteps = 60;
  std::atomic<bool> done = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> searchers;
  Code("relu", "0", "shared");
  for (int i = 0; i < 3; ++i) {
    searchers.emplace_back([&] {
      const auto fs = MakePosixFileSystem();
      const auto clock = MakeSystemClock();
      size_t seen = 0;
      while (!done) {
        auto index = TraceIndex::Open(*fs, *clock, run_, {.cache_home = root_ + "/cache"});
        SearchRequest request;
        request.query = "shared";
        request.limit = 1000;
        const bool ok = index.ok() && (*index)->Update().ok();
        const auto page = ok ? Search(**index, request) : Result<SearchPage>(Unavailable(""));
        // What was found once must not get lost.
        if (!page.ok() || page->hits.size() < seen) ++failures;
        if (page.ok()) seen = page->hits.size();
      }
    });
  }
  for (int i = 1; i < kSteps; ++i) Code("relu", std::to_string(i % 3), "shared");
  done = true;
  for (std::thread& thread : searchers) thread.join();
  EXPECT_EQ(failures, 0);
  SearchRequest request;
  request.query = "shared";
  request.limit = 1000;
  EXPECT_EQ(Find(request).size(), size_t{kSteps});
}

TEST_F(TraceIndexTest, ATextThatCannotBeReadIsToldAndReadLater) {
  Code("relu", "0", "result", "a prompt");
  Code("relu", "1", "other");
  const std::string file = run_ + "/relu/I0_S01_relu_DO_CODER_prompt.txt";
  std::filesystem::rename(file, run_ + "/kept");
  std::filesystem::create_symlink("/dev/null", file);
  EXPECT_EQ(Update(*Open()).unread, 1);
  EXPECT_EQ(Update(*Open()).unread, 1) << "as long as it cannot be read";
  EXPECT_TRUE(Find("prompt").empty());
  EXPECT_EQ(Find("result").size(), 1U);
  std::filesystem::rename(run_ + "/kept", file);
  EXPECT_EQ(Update(*Open()).unread, 0);
  EXPECT_EQ(Find("prompt").size(), 1U);
  EXPECT_EQ(Update(*Open()).added, 0);
}

TEST_F(TraceIndexTest, AJournalThatCannotBeReadHidesNoSteps) {
  Code("relu", "0", "result");
  Code("gelu", "0", "result");
  std::filesystem::rename(run_ + "/relu/journal.jsonl", run_ + "/kept");
  std::filesystem::create_directory(run_ + "/relu/journal.jsonl");
  EXPECT_EQ(Update(*Open()).skipped.size(), 1U);
  EXPECT_EQ(Find("result").size(), 2U);
  std::filesystem::remove(run_ + "/relu/journal.jsonl");
  std::filesystem::rename(run_ + "/kept", run_ + "/relu/journal.jsonl");
  EXPECT_TRUE(Update(*Open()).skipped.empty());
  EXPECT_EQ(Find("result").size(), 2U);
}

}  // namespace
}  // namespace kerf::trace
