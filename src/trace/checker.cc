#include "trace/checker.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "trace/names.h"
#include "trace/recorder.h"

namespace kerf::trace {
namespace {

class OpChecker {
 public:
  OpChecker(FileSystem& fs, const OpTrace& op, CheckReport& report)
      : fs_(fs), op_(op), report_(report), journal_(JoinPath(op.dir, kJournalName)) {}

  void Run() {
    CheckJournal();
    bool has_records = false;
    for (const TaskSteps& task : op_.tasks) {
      for (const Step& step : task.steps) {
        has_records = true;
        ++report_.records;
        step.journaled ? CheckFiles(step) : CheckUnjournaled(step);
      }
    }
    if (!op_.has_journal && has_records) {
      Note("no_journal", op_.dir,
           "no journal, so nothing to compare with (written by AIKG?); --repair makes one");
    }
    for (const Step& step : op_.unfinished) {
      Note("unfinished_record", op_.dir,
           "step " + std::to_string(step.step) + " of task " + step.task +
               " is being written, or was cut short before it could be acknowledged");
    }
    for (const std::string& name : op_.unknown_files) {
      Note("unknown_file", JoinPath(op_.dir, name), "not a record's file; left alone");
    }
  }

 private:
  void Damage(const char* what, const std::string& path, std::string detail) {
    report_.findings.push_back({true, what, path, std::move(detail)});
  }
  void Note(const char* what, const std::string& path, std::string detail) {
    report_.findings.push_back({false, what, path, std::move(detail)});
  }

  void CheckJournal() {
    const JournalScan& scan = op_.scan;
    if (scan.torn_bytes > 0) {
      Damage("torn_tail", journal_,
             std::to_string(scan.torn_bytes) + " bytes without a line end at offset " +
                 std::to_string(scan.good_end) + "; --repair cuts them off");
    }
    for (const DamagedLine& line : scan.damaged) {
      Damage("damaged_line", journal_,
             "the line at offset " + std::to_string(line.offset) + " is damaged: " + line.reason);
    }
    if (!op_.missing_seqs.empty()) {
      Damage("missing_line", journal_,
             "line " + std::to_string(op_.missing_seqs[0]) +
                 (op_.missing_seqs.size() > 1
                      ? " and " + std::to_string(op_.missing_seqs.size() - 1) + " others are"
                      : " is") +
                 " missing");
    }
    if (op_.known_damage > 0) {
      Note("known_damage", journal_,
           std::to_string(op_.known_damage) + " damaged lines were dealt with by a repair");
    }
    if (op_.uncommitted > 0) {
      Note("missing_commit", journal_,
           std::to_string(op_.uncommitted) + " whole records lack their commit; they count");
    }
  }

  void CheckFiles(const Step& step) {
    for (const StepFile& file : step.files) {
      ++report_.files;
      const std::string path = JoinPath(op_.dir, file.name);
      const Result<std::optional<FileInfo>> info = fs_.Stat(path);
      if (!info.ok() || !info->has_value()) {
        Damage("missing_file", path, info.ok() ? "the file is gone" : info.error().message);
        continue;
      }
      if ((*info)->kind != FileKind::kFile) {
        Damage("altered_file", path, "it is not a regular file any more");
        continue;
      }
      if ((*info)->size != file.bytes) {
        Damage("altered_file", path,
               "it has " + std::to_string((*info)->size) + " bytes, " + std::to_string(file.bytes) +
                   " were recorded");
        continue;
      }
      const Result<std::string> content = fs_.ReadFile(path);
      if (!content.ok()) {
        Damage("altered_file", path, content.error().message);
      } else if (Sha256Hex(*content) != file.sha256) {
        Damage("altered_file", path, "its content is not what was recorded (SHA-256 differs)");
      }
    }
  }

  void CheckUnjournaled(const Step& step) {
    if (!op_.has_journal) return;
    for (const StepFile& file : step.files) {
      ++report_.files;
      Damage("unjournaled_file", JoinPath(op_.dir, file.name),
             "no journal line knows it; --repair takes it in as a recovered record");
    }
  }

  FileSystem& fs_;
  const OpTrace& op_;
  CheckReport& report_;
  const std::string journal_;
};

Result<int64_t> SettleJournal(FileSystem& fs, const std::string& op_dir, const OpTrace& before) {
  const int64_t damage = before.LostLines() + (before.scan.torn_bytes > 0 ? 1 : 0);
  if (damage == 0) return damage;
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::Open(fs, op_dir));
  std::vector<JournalLine> lines(1);
  lines[0].kind = LineKind::kRepair;
  KERF_RETURN_IF_ERROR(journal->Append(std::move(lines)));
  KERF_RETURN_IF_ERROR(journal->Sync());
  return damage;
}

}  // namespace

bool CheckReport::damaged() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.damage; });
}

Result<CheckReport> CheckRun(FileSystem& fs, const Run& run, const Progress& progress) {
  CheckReport report;
  report.run_path = run.path;
  for (const auto& [path, reason] : run.skipped) {
    report.findings.push_back({true, "unreadable_folder", path, "not checked: " + reason});
  }
  const VerificationResults results = ReadVerificationResults(fs, run.path);
  for (const std::string& op : run.ops) {
    progress("checking " + JoinPath(run.path, op));
    KERF_ASSIGN_OR_RETURN(const OpTrace trace, ReadOp(fs, run.path, op, results));
    OpChecker(fs, trace, report).Run();
  }
  progress("");
  return report;
}

Result<RepairReport> RepairRun(FileSystem& fs, Clock& clock, IdSource& ids, const Run& run,
                               const std::string& owner) {
  KERF_ASSIGN_OR_RETURN(
      const std::unique_ptr<Recorder> recorder,
      Recorder::Open(fs, clock, ids, {.log_dir = run.path, .names = Names::kDoc, .owner = owner}));
  RepairReport report;
  for (const std::string& op : run.ops) {
    KERF_ASSIGN_OR_RETURN(const OpTrace before, ReadOp(fs, run.path, op));
    std::set<std::string> tasks;
    std::set<std::string> places;
    for (const TaskSteps& task : before.tasks) tasks.insert(task.task);
    for (const Step& step : before.unfinished) tasks.insert(step.task);
    for (const std::string& task : tasks) {
      const Result<RecoveryReport> done = recorder->Recover(op, task);
      recorder->Close(op, task);
      if (!done.ok()) {
        const ErrorCode code = done.error().code;
        // AIKG takes names that kerf refuses; one such task must not keep the others from repair.
        if (code != ErrorCode::kUnavailable && code != ErrorCode::kInvalidInput) {
          return done.error();
        }
        report.not_done.push_back({false, code == ErrorCode::kUnavailable ? "in_use" : "bad_name",
                                   before.dir, "task '" + task + "': " + done.error().message});
        continue;
      }
      report.committed += done->committed;
      report.abandoned += done->abandoned;
      report.recovered += done->recovered;
      if (!done->set_aside.empty()) places.insert(done->set_aside);
    }
    KERF_ASSIGN_OR_RETURN(const int64_t settled, SettleJournal(fs, before.dir, before));
    report.journal_damage += settled;
    report.set_aside.insert(report.set_aside.end(), places.begin(), places.end());
  }
  return report;
}

}  // namespace kerf::trace
