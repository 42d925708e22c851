// What survives: every crash point, every failing call and every cut byte of small runs.
//
// Acknowledged means that the call returned success. After whatever happens, an acknowledged record
// must be there, whole; nothing may be shown that is not; and recording must go on at the right
// step.
#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <map>

#include "base/clock.h"
#include "base/fake_file_system.h"
#include "base/hash.h"
#include "base/ids.h"
#include "trace/checker.h"
#include "trace/reader.h"
#include "trace/recorder.h"

namespace kerf::trace {
namespace {

constexpr char kLogs[] = "/logs";
constexpr int64_t kStart = 1'700'000'000'000'000'000;

StepInput Designer(const std::string& text) {
  StepInput input;
  input.kind = RecordKind::kDesignerOrCoder;
  input.action = ActionType::kDoDesigner;
  input.res = "{\"code\": \"" + text + "\", \"description\": \"d\"}";
  input.prompt = "prompt of " + text;
  return input;
}

StepInput Check(const std::string& text) {
  StepInput input;
  input.kind = RecordKind::kConductor;
  input.action = ActionType::kDoDesigner;
  input.res = text;
  return input;
}

StepInput Verify(const std::string& result) {
  StepInput input;
  input.kind = RecordKind::kVerifier;
  input.action = ActionType::kVerify;
  input.verify_res = result;
  input.verify_log = result == "True" ? "" : "log of a failure";
  input.meta = R"({"duration_ms":5})";
  return input;
}

PreparedRecord Prepared(StepInput input) {
  Result<PreparedRecord> record = PrepareRecord(std::move(input), Names::kDoc, Redactor());
  EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().message);
  return std::move(record).value();
}

struct Ports {
  FakeFileSystem fs;
  FakeClock clock{kStart};
  FakeIds ids;
};

using Acked = std::vector<Recorded>;

// A short run of one task, one record at a time. Stops at the first failure, as a program would.
bool RecordOneByOne(Ports& ports, Acked& acked) {
  Result<std::unique_ptr<Recorder>> recorder =
      Recorder::Open(ports.fs, ports.clock, ports.ids, {.log_dir = kLogs});
  if (!recorder.ok()) return false;
  for (StepInput& input :
       std::vector<StepInput>{Designer("a"), Check("fine"), Verify("False"), Verify("True")}) {
    Result<Recorded> done = (*recorder)->Record("relu", "0", Prepared(std::move(input)));
    if (!done.ok()) return false;
    acked.push_back(std::move(done).value());
  }
  return true;
}

// Two operators, three tasks, more files than are synced one by one, in two batches.
bool RecordInBatches(Ports& ports, Acked& acked) {
  Result<std::unique_ptr<Recorder>> recorder =
      Recorder::Open(ports.fs, ports.clock, ports.ids, {.log_dir = kLogs});
  if (!recorder.ok()) return false;
  for (int batch = 0; batch < 2; ++batch) {
    std::vector<Submission> submissions;
    for (int i = 0; i < 5; ++i) {
      for (const auto& [op, task] : std::vector<std::pair<std::string, std::string>>{
               {"relu", "0"}, {"relu", "1"}, {"gelu", "0"}}) {
        submissions.push_back({op, task, Prepared(Designer(op + task + std::to_string(i)))});
      }
    }
    bool all = true;
    for (Result<Recorded>& done : (*recorder)->RecordAll(std::move(submissions))) {
      all = all && done.ok();
      if (done.ok()) acked.push_back(std::move(done).value());
    }
    if (!all) return false;
  }
  return true;
}

// The same as a stream of batches of which several are on their way, the commits of one going to
// the device with the lines of a later one.
bool RecordStream(Ports& ports, Acked& acked, bool threads) {
  Result<std::unique_ptr<Recorder>> recorder =
      Recorder::Open(ports.fs, ports.clock, ports.ids,
                     {.log_dir = kLogs, .overlap = threads, .writers = threads ? 2U : 1U});
  if (!recorder.ok()) return false;
  bool all = true;
  std::deque<Recorder::BatchPtr> begun;
  const auto finish = [&] {
    for (Result<Recorded>& done : (*recorder)->Finish(std::move(begun.front()))) {
      all = all && done.ok();
      if (done.ok()) acked.push_back(std::move(done).value());
    }
    begun.pop_front();
  };
  for (int batch = 0; batch < 4; ++batch) {
    std::deque<Submission> waiting;
    // The last one needs more files than are synced one by one. The others need not: more follows.
    const int records = batch < 3 ? 5 : 12;
    for (int i = 0; i < records; ++i) {
      // Not every batch has both operators.
      const std::string op = batch != 2 && i % 3 == 0 ? "gelu" : "relu";
      waiting.push_back({op, "0", Prepared(Designer(op + std::to_string(i)))});
    }
    while (!waiting.empty()) {
      (*recorder)->SealFirst();
      begun.push_back((*recorder)->Begin(waiting, /*more=*/batch < 3));
      if (begun.size() > 2) finish();
    }
  }
  while (!begun.empty()) finish();
  return all;
}

bool RecordInAStream(Ports& ports, Acked& acked) { return RecordStream(ports, acked, false); }
// As the command does it. What happens at a call differs from time to time, what must hold does
// not.
bool RecordWithThreads(Ports& ports, Acked& acked) { return RecordStream(ports, acked, true); }

using Operation = bool (*)(Ports&, Acked&);

// All files that readers show, with their content.
std::map<std::string, std::string> ShownFiles(FileSystem& fs) {
  std::map<std::string, std::string> shown;
  const Result<std::vector<Run>> runs = FindRuns(fs, kLogs);
  if (!runs.ok()) return shown;
  for (const std::string& op : runs.value()[0].ops) {
    const Result<OpTrace> trace = ReadOp(fs, kLogs, op);
    EXPECT_TRUE(trace.ok());
    for (const TaskSteps& task : trace->tasks) {
      for (const Step& step : task.steps) {
        for (const StepFile& file : step.files) {
          const Result<std::string> content = ReadStepFile(fs, trace->dir, file);
          EXPECT_TRUE(content.ok()) << file.name << " is shown but cannot be read";
          if (!content.ok()) continue;
          if (step.journaled) {
            EXPECT_EQ(Sha256Hex(*content), file.sha256) << file.name << " is shown and not whole";
          }
          shown[op + "/" + file.name] = *content;
        }
      }
    }
  }
  return shown;
}

// Steps per "op task" among `acked`, and the highest.
std::map<std::string, int64_t> LastSteps(const Acked& acked) {
  std::map<std::string, int64_t> last;
  for (const Recorded& one : acked) {
    int64_t& step = last[one.op + " " + one.task];
    step = std::max(step, one.step);
  }
  return last;
}

std::string Findings(const CheckReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += finding.what + " " + finding.path + ": " + finding.detail + "\n";
  }
  return text;
}

CheckReport CheckAll(FileSystem& fs) {
  const Result<std::vector<Run>> runs = FindRuns(fs, kLogs);
  if (!runs.ok()) return {};
  Result<CheckReport> report = CheckRun(fs, runs.value()[0], [](const std::string&) {});
  EXPECT_TRUE(report.ok());
  return report.ok() ? std::move(report).value() : CheckReport{};
}

// What must hold after a crash or a failure, before and after recording goes on.
void ExpectNothingLost(Ports& ports, const Acked& acked, const std::string& where) {
  SCOPED_TRACE(where);
  const std::map<std::string, std::string> shown = ShownFiles(ports.fs);
  for (const Recorded& one : acked) {
    for (const std::string& file : one.files) {
      EXPECT_TRUE(shown.contains(file)) << "acknowledged and lost: " << file;
    }
  }
  Result<std::unique_ptr<Recorder>> recorder =
      Recorder::Open(ports.fs, ports.clock, ports.ids, {.log_dir = kLogs});
  ASSERT_TRUE(recorder.ok()) << recorder.error().message;
  for (const auto& [place, last] : LastSteps(acked)) {
    const size_t space = place.find(' ');
    const std::string op = place.substr(0, space);
    const std::string task = place.substr(space + 1);
    const Result<int64_t> before = (*recorder)->LastStep(op, task);
    ASSERT_TRUE(before.ok()) << before.error().message;
    // A record that was whole but not yet acknowledged may count; none may be forgotten.
    EXPECT_GE(*before, last);
    const Result<Recorded> next = (*recorder)->Record(op, task, Prepared(Designer("after")));
    ASSERT_TRUE(next.ok()) << next.error().message;
    EXPECT_EQ(next->step, *before + 1);
  }
  recorder.value().reset();
  const CheckReport report = CheckAll(ports.fs);
  EXPECT_FALSE(report.damaged()) << Findings(report);
}

class Survives : public testing::TestWithParam<Operation> {};

TEST_P(Survives, PowerLossAtEveryCall) {
  for (int n = 1;; ++n) {
    Ports ports;
    Acked acked;
    ports.fs.CrashAfter(n);
    const bool finished = GetParam()(ports, acked);
    ports.fs.Crash();
    ExpectNothingLost(ports, acked, "power lost at call " + std::to_string(n));
    if (finished) break;
    ASSERT_LT(n, 2000);
  }
}

TEST_P(Survives, DeathOfTheProcessAtEveryCall) {
  for (int n = 1;; ++n) {
    Ports ports;
    Acked acked;
    ports.fs.CrashAfter(n);
    const bool finished = GetParam()(ports, acked);
    ports.fs.Kill();
    ExpectNothingLost(ports, acked, "killed at call " + std::to_string(n));
    if (finished) break;
    ASSERT_LT(n, 2000);
  }
}

TEST_P(Survives, AFailureAtEveryCallThatGoesAway) {
  for (int n = 1;; ++n) {
    Ports ports;
    Acked acked;
    ports.fs.FailAfter(n, EIO);
    const bool finished = GetParam()(ports, acked);
    ports.fs.ClearFaults();
    ExpectNothingLost(ports, acked, "calls fail from " + std::to_string(n));
    if (finished) break;
    ASSERT_LT(n, 2000);
  }
}

TEST_P(Survives, OneFailureAtEveryCall) {
  for (int n = 1;; ++n) {
    Ports ports;
    Acked acked;
    ports.fs.FailOnce(n, EIO);
    (void)GetParam()(ports, acked);
    const bool was_reached = ports.fs.mutating_calls() >= n;
    ports.fs.ClearFaults();
    const std::string where = "call " + std::to_string(n) + " failed";
    ExpectNothingLost(ports, acked, where);
    std::map<std::string, int64_t> last;
    for (const Recorded& one : acked) {
      int64_t& step = last[one.op + " " + one.task];
      EXPECT_GE(one.step, step) << where << ": records changed places";
      step = one.step;
    }
    if (!was_reached) break;
    ASSERT_LT(n, 2000);
  }
}

TEST_P(Survives, AFullDiskAtEveryByte) {
  // Every byte of a run of one task would take minutes for the large one: primes reach all places.
  const uint64_t stride = GetParam() == RecordOneByOne ? 1 : 97;
  for (uint64_t bytes = 0;; bytes += stride) {
    Ports ports;
    Acked acked;
    ports.fs.FailWriteAfterBytes(bytes, ENOSPC);
    const bool finished = GetParam()(ports, acked);
    ports.fs.ClearFaults();
    ExpectNothingLost(ports, acked, "disk full after " + std::to_string(bytes) + " bytes");
    if (finished) break;
    ASSERT_LT(bytes, 100000U);
  }
}

INSTANTIATE_TEST_SUITE_P(Trace, Survives,
                         testing::Values(RecordOneByOne, RecordInBatches, RecordInAStream,
                                         RecordWithThreads),
                         [](const auto& instance) {
                           if (instance.param == RecordInAStream) return "InAStream";
                           if (instance.param == RecordWithThreads) return "WithThreads";
                           return instance.param == RecordOneByOne ? "OneByOne" : "InBatches";
                         });

// Everything on the disk of a finished run.
std::map<std::string, std::string> AllFiles(FileSystem& fs, const Acked& acked) {
  std::map<std::string, std::string> files;
  for (const Recorded& one : acked) {
    for (const std::string& name : one.files) {
      files[name] = fs.ReadFile(JoinPath(kLogs, name)).value();
    }
  }
  return files;
}

void Repair(Ports& ports) {
  const Result<std::vector<Run>> runs = FindRuns(ports.fs, kLogs);
  ASSERT_TRUE(runs.ok());
  const Result<RepairReport> repair =
      RepairRun(ports.fs, ports.clock, ports.ids, runs.value()[0], "the test");
  ASSERT_TRUE(repair.ok()) << repair.error().message;
  EXPECT_TRUE(repair->not_done.empty());
}

TEST(CutTrace, AJournalCutAtEveryByteIsToldAndRepaired) {
  Ports whole;
  Acked acked;
  ASSERT_TRUE(RecordOneByOne(whole, acked));
  const std::string journal = whole.fs.ReadFile("/logs/relu/journal.jsonl").value();
  const size_t record_lines = acked.size();
  for (size_t cut = 0; cut < journal.size(); ++cut) {
    SCOPED_TRACE("journal cut at byte " + std::to_string(cut));
    Ports ports;
    Acked again;
    ASSERT_TRUE(RecordOneByOne(ports, again));
    const std::map<std::string, std::string> before = AllFiles(ports.fs, again);
    ports.fs.CutFile("/logs/relu/journal.jsonl", cut);

    const std::string kept = journal.substr(0, cut);
    const bool torn = !kept.empty() && kept.back() != '\n';
    size_t kept_records = 0;
    for (size_t at = 0; at < kept.size();) {
      const size_t end = kept.find('\n', at);
      if (end == std::string::npos) break;
      if (kept.substr(at, end - at).find("\"kind\":\"record\"") != std::string::npos) {
        ++kept_records;
      }
      at = end + 1;
    }
    EXPECT_EQ(CheckAll(ports.fs).damaged(), torn || kept_records < record_lines);

    Repair(ports);
    const CheckReport after = CheckAll(ports.fs);
    EXPECT_FALSE(after.damaged()) << Findings(after);
    EXPECT_EQ(after.records, static_cast<int64_t>(acked.size()));
    EXPECT_EQ(ShownFiles(ports.fs), before);
    ExpectNothingLost(ports, again, "after the repair");
  }
}

TEST(CutTrace, AFileCutAtEveryByteIsToldAndTheRecordStays) {
  Ports whole;
  Acked acked;
  ASSERT_TRUE(RecordOneByOne(whole, acked));
  for (const auto& [name, content] : AllFiles(whole.fs, acked)) {
    for (size_t cut = 0; cut < content.size(); ++cut) {
      SCOPED_TRACE(name + " cut at byte " + std::to_string(cut));
      Ports ports;
      Acked again;
      ASSERT_TRUE(RecordOneByOne(ports, again));
      ports.fs.CutFile(JoinPath(kLogs, name), cut);
      const CheckReport report = CheckAll(ports.fs);
      ASSERT_EQ(report.findings.size(), 1U) << Findings(report);
      EXPECT_EQ(report.findings[0].what, "altered_file");
      EXPECT_EQ(report.findings[0].path, JoinPath(kLogs, name));

      Repair(ports);
      const CheckReport after = CheckAll(ports.fs);
      EXPECT_TRUE(after.damaged()) << "a repair must not hide what it cannot mend";
      EXPECT_EQ(after.records, static_cast<int64_t>(acked.size()));

      Result<std::unique_ptr<Recorder>> recorder =
          Recorder::Open(ports.fs, ports.clock, ports.ids, {.log_dir = kLogs});
      ASSERT_TRUE(recorder.ok());
      const Result<Recorded> next = (*recorder)->Record("relu", "0", Prepared(Verify("True")));
      ASSERT_TRUE(next.ok()) << next.error().message;
      EXPECT_EQ(next->step, 4);
    }
  }
}

TEST(CutTrace, EveryFlippedByteOfTheJournalIsToldAndRepaired) {
  Ports whole;
  Acked acked;
  ASSERT_TRUE(RecordOneByOne(whole, acked));
  const std::string journal = whole.fs.ReadFile("/logs/relu/journal.jsonl").value();
  for (size_t at = 0; at < journal.size(); at += 3) {
    SCOPED_TRACE("byte " + std::to_string(at) + " changed");
    Ports ports;
    Acked again;
    ASSERT_TRUE(RecordOneByOne(ports, again));
    const std::map<std::string, std::string> before = AllFiles(ports.fs, again);
    std::string damaged = journal;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x04);
    ports.fs.CutFile("/logs/relu/journal.jsonl", 0);
    {
      Result<std::unique_ptr<File>> file = ports.fs.OpenAppend("/logs/relu/journal.jsonl");
      ASSERT_TRUE(file.ok());
      ASSERT_TRUE((*file)->Write(damaged).ok());
    }
    EXPECT_TRUE(CheckAll(ports.fs).damaged());
    Repair(ports);
    const CheckReport after = CheckAll(ports.fs);
    EXPECT_FALSE(after.damaged()) << Findings(after);
    EXPECT_EQ(ShownFiles(ports.fs), before);
  }
}

}  // namespace
}  // namespace kerf::trace
