#include "trace/reader.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/hash.h"
#include "base/json_reader.h"
#include "trace/names.h"
#include "trace/record_ledger.h"
#include "trace/result_text.h"
#include "trace/verification_results.h"

namespace kerf::trace {
namespace {

bool IsDirectory(FileSystem& fs, const std::string& path) {
  if (path.empty()) return false;
  // A trailing slash makes Stat look through a link to a run, which users do have.
  const Result<std::optional<FileInfo>> info = fs.Stat(path + "/");
  return info.ok() && info->has_value() && (*info)->kind == FileKind::kDirectory;
}

Result<bool> IsOpFolder(FileSystem& fs, const std::string& dir) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> journal,
                        fs.Stat(JoinPath(dir, kJournalName)));
  if (journal.has_value()) return true;
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(dir));
  const std::string op = BaseName(dir);
  return std::any_of(entries.begin(), entries.end(), [&](const DirEntry& entry) {
    return entry.kind == FileKind::kFile && ParseFileName(op, "", entry.name).has_value();
  });
}

}  // namespace

bool IsLinkedOp(FileSystem& fs, const std::string& dir) {
  if (!IsDirectory(fs, dir)) return false;
  const Result<bool> is_op = IsOpFolder(fs, dir);
  return !is_op.ok() || *is_op;
}

namespace {

Result<Run> ReadRun(FileSystem& fs, const std::string& run_path) {
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(run_path));
  Run run{run_path, {}, {}};
  for (const DirEntry& entry : entries) {
    if (entry.name[0] == '.' || entry.name == "passed_cases") continue;
    const std::string dir = JoinPath(run_path, entry.name);
    if (entry.kind == FileKind::kSymlink && IsLinkedOp(fs, dir)) {
      run.skipped.emplace_back(dir, kNotFollowed);
    }
    if (entry.kind != FileKind::kDirectory) continue;
    const Result<bool> is_op = IsOpFolder(fs, dir);
    if (!is_op.ok()) {
      run.skipped.emplace_back(dir, is_op.error().message);
    } else if (*is_op) {
      run.ops.push_back(entry.name);
    }
  }
  std::sort(run.ops.begin(), run.ops.end());
  std::sort(run.skipped.begin(), run.skipped.end());
  return run;
}

bool AllDigits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Task ids are mostly numbers: 2 before 10.
bool NaturalLess(const std::string& a, const std::string& b) {
  if (AllDigits(a) && AllDigits(b) && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

auto StepOrder(const Step& step) {
  return std::tuple(step.step, step.kind == RecordKind::kConductor, std::string_view(step.check),
                    step.attempt);
}

// Whether a verifier's record was made by a program that keeps the verdict elsewhere.
bool LacksVerdict(const Step& step) {
  return !step.journaled || (step.recovered && step.verification == Verification::kUnknown);
}

class OpReader {
 public:
  OpReader(FileSystem& fs, const std::string& run_path, const std::string& op,
           const VerificationResults& results)
      : fs_(fs), results_(results) {
    trace_.op = op;
    trace_.dir = JoinPath(run_path, op);
  }

  Result<OpTrace> Run() {
    // The folder first, the journal second: a file that was listed and is ours has its line by now.
    KERF_RETURN_IF_ERROR(ListFiles());
    KERF_RETURN_IF_ERROR(ReadJournal());
    SortOut();
    AddUnjournaled();
    AddVerificationResults();
    Finish();
    return std::move(trace_);
  }

 private:
  struct Listed {
    const char* folder;
    std::string name;  // relative to the operator's folder
  };

  Status ListFiles() {
    for (const char* folder : {"", kConductorFolder, kRecorderFolder}) {
      const std::string dir = *folder == '\0' ? trace_.dir : JoinPath(trace_.dir, folder);
      if (*folder != '\0' && !IsDirectory(fs_, dir)) continue;
      KERF_ASSIGN_OR_RETURN(std::vector<DirEntry> entries, fs_.List(dir));
      for (DirEntry& entry : entries) {
        if (entry.kind != FileKind::kFile || entry.name.starts_with(kJournalName)) continue;
        listed_.push_back(
            {folder, *folder == '\0' ? std::move(entry.name) : JoinPath(folder, entry.name)});
      }
    }
    return {};
  }

  Status ReadJournal() {
    const std::string path = JoinPath(trace_.dir, kJournalName);
    if (!IsThere(fs_, path)) return {};
    trace_.has_journal = true;
    const Result<std::string> content = fs_.ReadFile(path);
    if (!content.ok()) {  // one bad journal must not hide the other operators
      trace_.scan.damaged.push_back({0, 0, content.error().message});
      return {};
    }
    const std::string& bytes = *content;
    int64_t expected_seq = 1;
    uint64_t repaired_to = 0;
    trace_.scan = ScanJournal(bytes, 0, [&](JournalLine&& line, uint64_t offset) {
      for (; expected_seq < line.seq && trace_.missing_seqs.size() < 100; ++expected_seq) {
        trace_.missing_seqs.push_back(expected_seq);
      }
      expected_seq = line.seq + 1;
      if (line.kind == LineKind::kRepair) {
        repaired_to = offset;
        trace_.missing_seqs.clear();
        return;
      }
      ledger_.Apply(std::move(line), offset);
    });
    trace_.known_damage = static_cast<int64_t>(std::erase_if(
        trace_.scan.damaged, [&](const DamagedLine& line) { return line.offset < repaired_to; }));
    return {};
  }

  void SortOut() {
    for (RecordLedger::Entry& entry : std::move(ledger_).Decide(fs_, trace_.dir)) {
      using Fate = RecordLedger::Fate;
      // Also of records that do not count: what a roll-back could not remove is nobody's record.
      for (const StepFile& file : entry.step.files) known_.insert(file.name);
      if (entry.fate == Fate::kWhole) ++trace_.uncommitted;
      if (entry.fate == Fate::kUnfinished) trace_.unfinished.push_back(std::move(entry.step));
      if (entry.fate == Fate::kCommitted || entry.fate == Fate::kWhole) {
        steps_of_[entry.step.task].push_back(std::move(entry.step));
      }
    }
  }

  void AddUnjournaled() {
    // Records under construction, by task and place.
    std::map<std::tuple<std::string, int64_t, bool, std::string, int64_t>, Step> found;
    for (const Listed& file : listed_) {
      if (known_.contains(file.name)) continue;
      const std::string name = *file.folder == '\0' ? file.name : BaseName(file.name);
      std::optional<ParsedName> parsed = ParseFileName(trace_.op, file.folder, name);
      if (!parsed.has_value()) {
        trace_.unknown_files.push_back(file.name);
        continue;
      }
      const bool conductor = parsed->kind == RecordKind::kConductor;
      Step& step = found[{parsed->task, parsed->step, conductor, parsed->word, parsed->attempt}];
      step.task = std::move(parsed->task);
      step.step = parsed->step;
      step.kind = parsed->kind;
      step.check = std::move(parsed->check);
      step.attempt = parsed->attempt;
      step.action = parsed->action.has_value() ? ActionName(*parsed->action) : parsed->word;
      step.names = NamesWord(parsed->names);
      step.files.push_back({file.name, 0, "", ""});
    }
    for (auto& [place, step] : found) {
      std::sort(step.files.begin(), step.files.end(),
                [](const StepFile& a, const StepFile& b) { return a.name < b.name; });
      if (step.kind == RecordKind::kVerifier) step.verification = UnjournaledVerification(step);
      steps_of_[step.task].push_back(std::move(step));
    }
  }

  Verification UnjournaledVerification(const Step& step) {
    const Result<std::string> text = ReadStepText(fs_, trace_.dir, step, "verify_res");
    return text.ok() ? ParseVerification(*text) : Verification::kUnknown;
  }

  // AIKG keeps the result of a verification only here, under the step of its folder, one less than
  // the record's.
  void AddVerificationResults() {
    for (auto entry = results_.lower_bound({trace_.op, "", 0}); entry != results_.end(); ++entry) {
      const auto& [op, task, folder_step] = entry->first;
      const bool passed = entry->second;
      if (op != trace_.op) break;
      std::vector<Step>& steps = steps_of_[task];
      const int64_t step_number = folder_step + 1;
      auto step = std::find_if(steps.begin(), steps.end(), [&](const Step& candidate) {
        return candidate.step == step_number && candidate.kind == RecordKind::kVerifier;
      });
      if (step == steps.end()) {
        const bool taken = std::any_of(steps.begin(), steps.end(), [&](const Step& other) {
          return other.step == step_number && other.kind != RecordKind::kConductor;
        });
        if (taken) continue;
        Step added;
        added.task = task;
        added.step = step_number;
        added.kind = RecordKind::kVerifier;
        added.action = ActionName(ActionType::kVerify);
        step = steps.insert(steps.end(), std::move(added));
      }
      if (LacksVerdict(*step)) {
        step->verification = passed ? Verification::kPassed : Verification::kFailed;
      }
    }
  }

  void Finish() {
    for (auto& [task, steps] : steps_of_) {
      std::stable_sort(steps.begin(), steps.end(),
                       [](const Step& a, const Step& b) { return StepOrder(a) < StepOrder(b); });
      std::vector<Step> unique;
      for (Step& step : steps) AddUnlessSamePlace(unique, std::move(step));
      InferFailures(unique);
      trace_.tasks.push_back({trace_.op, task, std::move(unique)});
    }
    std::sort(trace_.tasks.begin(), trace_.tasks.end(),
              [](const TaskSteps& a, const TaskSteps& b) { return NaturalLess(a.task, b.task); });
    std::sort(trace_.unknown_files.begin(), trace_.unknown_files.end());
  }

  // Of two records for one place, the later line counts: the earlier was given up. A recovered one
  // replaces nothing: its files were found beside those of the record that is there.
  static void AddUnlessSamePlace(std::vector<Step>& steps, Step step) {
    for (auto other = steps.rbegin(); other != steps.rend(); ++other) {
      if (StepOrder(*other) != StepOrder(step)) break;
      if (!other->journaled || !step.journaled) continue;
      if (!step.recovered && !other->recovered) {
        *other = std::move(step);
        return;
      }
      if (step.recovered && step.action == other->action) {
        AddFiles(*other, std::move(step));
        return;
      }
    }
    steps.push_back(std::move(step));
  }

  static void AddFiles(Step& step, Step&& more) {
    for (StepFile& file : more.files) {
      const bool known = std::any_of(step.files.begin(), step.files.end(),
                                     [&](const StepFile& own) { return own.name == file.name; });
      if (!known) step.files.push_back(std::move(file));
    }
    if (step.verification == Verification::kUnknown) step.verification = more.verification;
  }

  // Errors are analysed only after a failure: that tells the result where nothing else does.
  static void InferFailures(std::vector<Step>& steps) {
    for (size_t i = 0; i + 1 < steps.size(); ++i) {
      if (steps[i].kind == RecordKind::kVerifier && LacksVerdict(steps[i]) &&
          steps[i].verification == Verification::kUnknown && steps[i + 1].step == steps[i].step &&
          steps[i + 1].check == "AnalyzeError") {
        steps[i].verification = Verification::kFailed;
      }
    }
  }

  FileSystem& fs_;
  const VerificationResults& results_;
  OpTrace trace_;
  std::vector<Listed> listed_;
  RecordLedger ledger_;
  std::unordered_set<std::string> known_;
  std::map<std::string, std::vector<Step>> steps_of_;
};

std::string ListOf(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 8; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 8 ? text + ", …" : text;
}

}  // namespace

Result<std::vector<Run>> FindRuns(FileSystem& fs, const std::string& raw_path) {
  const std::string path = NamedPath(ExpandHome(raw_path));
  if (!IsDirectory(fs, path)) {
    return NotFound(path + (IsThere(fs, path) ? " is not a directory" : " does not exist") +
                    "; give a log directory");
  }
  KERF_ASSIGN_OR_RETURN(const bool is_op, IsOpFolder(fs, path));
  if (is_op) return std::vector<Run>{{ParentPath(path), {BaseName(path)}, {}}};
  KERF_ASSIGN_OR_RETURN(Run here, ReadRun(fs, path));
  if (!here.ops.empty()) return std::vector<Run>{std::move(here)};
  std::vector<Run> runs;
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(path));
  for (const DirEntry& entry : entries) {
    if (entry.kind != FileKind::kDirectory || entry.name[0] == '.') continue;
    Result<Run> found = ReadRun(fs, JoinPath(path, entry.name));
    if (found.ok() && !found->ops.empty()) runs.push_back(std::move(found).value());
  }
  if (runs.empty() && !here.skipped.empty()) {
    return Denied("no readable trace in " + path + ": " + here.skipped[0].first + ": " +
                  here.skipped[0].second);
  }
  if (runs.empty()) {
    return NotFound("no trace in " + path +
                    "; a log directory holds one folder per operator with I…_S…_….txt files");
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.path < b.path; });
  return runs;
}

Result<OpTrace> ReadOp(FileSystem& fs, const std::string& run_path, const std::string& op) {
  return ReadOp(fs, run_path, op, ReadVerificationResults(fs, run_path));
}

Result<OpTrace> ReadOp(FileSystem& fs, const std::string& run_path, const std::string& op,
                       const VerificationResults& results) {
  return OpReader(fs, run_path, op, results).Run();
}

Result<std::vector<TaskSteps>> ReadTasks(FileSystem& fs, const std::string& run_path,
                                         const std::string& op, const std::string& task,
                                         int64_t* lost_lines) {
  KERF_ASSIGN_OR_RETURN(OpTrace trace, ReadOp(fs, run_path, op));
  if (lost_lines != nullptr) *lost_lines = trace.LostLines();
  if (task.empty()) return std::move(trace.tasks);
  std::vector<std::string> others;
  for (TaskSteps& one : trace.tasks) {
    if (one.task == task) return std::vector<TaskSteps>{std::move(one)};
    others.push_back(one.task);
  }
  return NotFound("no task '" + task + "' in " + trace.dir + "; there is " + ListOf(others));
}

Result<std::string> ReadStepFile(FileSystem& fs, const std::string& op_dir, const StepFile& file) {
  const std::string path = JoinPath(op_dir, file.name);
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
  if (!info.has_value()) return Corrupt(path + " is recorded and missing; see kerf trace check");
  if (info->kind != FileKind::kFile) {
    // A link could show any file of this machine as a model's words.
    return Corrupt(path + " is not a regular file any more; see kerf trace check");
  }
  return fs.ReadFile(path);
}

Result<std::string> ReadStepText(FileSystem& fs, const std::string& op_dir, const Step& step,
                                 const std::string& parameter) {
  for (const StepFile& file : step.files) {
    if (StepFileParameter(file) == parameter) return ReadStepFile(fs, op_dir, file);
  }
  return std::string();
}

Result<std::string> ReadRawReply(FileSystem& fs, const std::string& op_dir, const Step& step) {
  KERF_ASSIGN_OR_RETURN(std::string result, ReadStepText(fs, op_dir, step, "result"));
  if (step.reply_frame.empty()) return result;
  JsonReader reader(step.reply_frame);
  ReplyFrame frame;
  if (!DecodeReplyFrame(reader, frame)) return Corrupt("reply: " + reader.error());
  return RebuildReply(frame, result);
}

Result<Address> ResolveAddress(FileSystem& fs, const std::string& text) {
  // The longest prefix that is a directory is the path; a directory's own name may contain ':'.
  size_t split = text.size();
  while (!IsDirectory(fs, ExpandHome(text.substr(0, split)))) {
    if (split == 0) {
      return NotFound("no directory in '" + text + "'; write PATH, PATH:TASK or PATH:TASK:STEP");
    }
    split = text.rfind(':', split - 1);
    if (split == std::string::npos) {
      return NotFound("no directory in '" + text + "'; write PATH, PATH:TASK or PATH:TASK:STEP");
    }
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<Run> runs, FindRuns(fs, text.substr(0, split)));
  if (runs.size() > 1) {
    return InvalidInput(text.substr(0, split) + " holds several runs; name one of them");
  }
  std::string rest = split < text.size() ? text.substr(split + 1) : "";
  // OP/TASK, as `kerf run` names a task.
  std::string op = runs[0].ops[0];
  for (const std::string& one : runs[0].ops) {
    if (!rest.starts_with(one + "/")) continue;
    op = one;
    rest.erase(0, one.size() + 1);
    if (runs[0].ops.size() > 1) return ResolveAddress(fs, JoinPath(runs[0].path, op) + ":" + rest);
  }
  if (runs[0].ops.size() > 1) {
    return InvalidInput(runs[0].path + " holds several operators (" + ListOf(runs[0].ops) +
                        "); name one: " + JoinPath(runs[0].path, runs[0].ops[0]));
  }
  Address address{runs[0].path, op, "", -1};
  KERF_ASSIGN_OR_RETURN(const OpTrace trace, ReadOp(fs, address.run_path, address.op));
  std::vector<std::string> tasks;
  for (const TaskSteps& one : trace.tasks) tasks.push_back(one.task);
  const auto has_task = [&](const std::string& task) {
    return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
  };
  if (!rest.empty() && !has_task(rest)) {
    const size_t colon = rest.rfind(':');
    const std::string digits = colon == std::string::npos ? "" : rest.substr(colon + 1);
    if (AllDigits(digits) && digits.size() < 10) {
      address.step = std::stoll(digits);
      rest.resize(colon);
    }
  }
  if (tasks.size() == 1 && !rest.empty() && !has_task(rest) && AllDigits(rest) &&
      rest.size() < 10) {
    address.step = std::stoll(rest);
    rest.clear();
  }
  if (rest.empty() && tasks.size() == 1) {
    address.task = tasks[0];
  } else if (has_task(rest)) {
    address.task = rest;
  } else {
    if (tasks.empty()) return NotFound(trace.dir + " holds no records yet");
    return NotFound((rest.empty() ? "which task of " + trace.dir + "?"
                                  : "no task '" + rest + "' in " + trace.dir + ";") +
                    " there is " + ListOf(tasks));
  }
  return address;
}

}  // namespace kerf::trace
