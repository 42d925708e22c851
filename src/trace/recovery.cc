#include "trace/recovery.h"

#include <map>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "trace/names.h"
#include "trace/prepared_record.h"

namespace kerf::trace {
namespace {

JournalLine MakeLine(LineKind kind, const std::string& batch) {
  JournalLine line;
  line.kind = kind;
  line.batch = batch;
  return line;
}

Status AppendSynced(Journal& journal, std::vector<JournalLine> lines) {
  KERF_RETURN_IF_ERROR(journal.Append(std::move(lines)));
  return journal.Sync();
}

class TaskRecovery {
 public:
  TaskRecovery(FileSystem& fs, IdSource& ids, Journal& journal, const std::string& op_dir,
               const std::string& task)
      : fs_(fs), ids_(ids), journal_(journal), op_dir_(op_dir), task_(task) {}

  Result<RecoveryReport> Run() {
    KERF_RETURN_IF_ERROR(FinishBatches());
    KERF_RETURN_IF_ERROR(AdoptFiles());
    return report_;
  }

 private:
  Status FinishBatches() {
    std::map<std::string, std::vector<JournalLine>> batches;
    for (const JournalLine& line : journal_.StateOf(task_).uncommitted) {
      batches[line.batch].push_back(line);
    }
    for (const auto& [batch, records] : batches) KERF_RETURN_IF_ERROR(Finish(batch, records));
    return {};
  }

  // A batch is kept up to its first record that is not whole: later ones were written after it and
  // never acknowledged.
  Status Finish(const std::string& batch, const std::vector<JournalLine>& records) {
    size_t whole = 0;
    while (whole < records.size() && Counts(records[whole].step)) ++whole;
    if (whole == records.size()) {
      KERF_RETURN_IF_ERROR(SyncFiles(records, whole));
      report_.committed += static_cast<int64_t>(whole);
      return AppendSynced(journal_, {MakeLine(LineKind::kCommit, batch)});
    }
    for (size_t i = whole; i < records.size(); ++i) {
      // With damage about, the commit may be what was lost, and files may not be removed: what is
      // there becomes a recovered record.
      if (journal_.damaged()) {
        for (const StepFile& file : records[i].step.files) {
          journal_.unjournaled()[task_].push_back(file.name);
        }
        continue;
      }
      KERF_RETURN_IF_ERROR(SetAside(records[i]));
    }
    report_.abandoned += static_cast<int64_t>(records.size() - whole);
    report_.committed += static_cast<int64_t>(whole);
    // In one write, so that no reader misses the records that stay.
    std::vector<JournalLine> lines = {MakeLine(LineKind::kAbandon, batch)};
    if (whole > 0) {
      KERF_RETURN_IF_ERROR(SyncFiles(records, whole));
      const std::string kept = Hex64(ids_.Next());
      for (size_t i = 0; i < whole; ++i) {
        lines.push_back(records[i]);
        lines.back().batch = kept;
      }
      lines.push_back(MakeLine(LineKind::kCommit, kept));
    }
    return AppendSynced(journal_, std::move(lines));
  }

  // Whether the record is whole; or its commit is lost and a later one shows that it was there.
  // Then it stays whatever has become of its files, which `kerf trace check` tells.
  bool Counts(const Step& step) { return FilesMatch(fs_, op_dir_, step) || WasAcknowledged(step); }
  bool WasAcknowledged(const Step& step) {
    return journal_.damaged() && step.step < journal_.StateOf(task_).committed_step;
  }

  // The data of whole files may still be in the cache only: a commit must not say more than is
  // true.
  Status SyncFiles(const std::vector<JournalLine>& records, size_t count) {
    std::set<std::string> folders;
    for (size_t i = 0; i < count; ++i) {
      for (const StepFile& entry : records[i].step.files) {
        const std::string path = JoinPath(op_dir_, entry.name);
        KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs_.Stat(path));
        const bool is_file = info.has_value() && info->kind == FileKind::kFile;
        if (!is_file && WasAcknowledged(records[i].step)) continue;
        KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs_.OpenAppend(path));
        KERF_RETURN_IF_ERROR(file->Sync());
        folders.insert(ParentPath(path));
      }
    }
    for (const std::string& folder : folders) KERF_RETURN_IF_ERROR(fs_.SyncDir(folder));
    return {};
  }

  // Moves what stands under the record's names out of the way. Not removed: most likely it is the
  // beginning of what was to be written, but it may be somebody else's.
  Status SetAside(const JournalLine& record) {
    const Step& step = record.step;
    const std::string place =
        JoinPath(JoinPath(JoinPath(JoinPath(ParentPath(op_dir_), kPrivateFolder), "set_aside"),
                          BaseName(op_dir_)),
                 Hex64(Xxh3(record.batch)));
    for (const StepFile& file : step.files) {
      // A journal from elsewhere must not make us move what is not this record's.
      const std::optional<ParsedName> parsed = Parse(file.name);
      if (!parsed.has_value() || parsed->task != step.task || parsed->step != step.step) continue;
      const std::string path = JoinPath(op_dir_, file.name);
      KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs_.Stat(path));
      if (!info.has_value() || info->kind != FileKind::kFile) continue;
      if (info->size == 0) {
        KERF_RETURN_IF_ERROR(fs_.Remove(path));
        continue;
      }
      KERF_RETURN_IF_ERROR(fs_.CreateDirs(place));
      report_.set_aside = ParentPath(place);
      KERF_RETURN_IF_ERROR(fs_.Rename(path, JoinPath(place, BaseName(file.name))));
    }
    return {};
  }

  // Files of the task that no line knows, grouped into records.
  Status AdoptFiles() {
    const auto found = journal_.unjournaled().find(task_);
    if (found == journal_.unjournaled().end()) return {};
    const std::vector<std::string> names = std::move(found->second);
    journal_.unjournaled().erase(found);
    // Step, then main before conductor, then action and attempt: the order in which they must have
    // been made.
    std::map<std::tuple<int64_t, bool, std::string, int64_t>, std::vector<std::string>> groups;
    for (const std::string& name : names) {
      if (journal_.KnowsFile(name)) continue;
      const std::optional<ParsedName> parsed = Parse(name);
      if (!parsed.has_value() || parsed->task != task_) continue;
      // It may have gone since the folder was listed.
      KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs_.Stat(JoinPath(op_dir_, name)));
      if (!info.has_value() || info->kind != FileKind::kFile) continue;
      groups[{parsed->step, parsed->kind == RecordKind::kConductor, parsed->word, parsed->attempt}]
          .push_back(name);
    }
    if (groups.empty()) return {};
    std::vector<JournalLine> lines;
    const std::string batch = Hex64(ids_.Next());
    for (auto& [key, group] : groups) {
      KERF_ASSIGN_OR_RETURN(JournalLine line, RebuildLine(std::move(group)));
      line.batch = batch;
      lines.push_back(std::move(line));
    }
    report_.recovered += static_cast<int64_t>(lines.size());
    lines.push_back(MakeLine(LineKind::kCommit, batch));
    return AppendSynced(journal_, std::move(lines));
  }

  std::optional<ParsedName> Parse(const std::string& name) const {
    const size_t slash = name.find('/');
    const std::string folder = slash == std::string::npos ? "" : name.substr(0, slash);
    return ParseFileName(BaseName(op_dir_), folder,
                         slash == std::string::npos ? name : name.substr(slash + 1));
  }

  Result<JournalLine> RebuildLine(std::vector<std::string> names) {
    JournalLine line;
    Step& step = line.step;
    step.recovered = true;
    int64_t newest = 0;
    // One order, whatever order the folder was listed in.
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string path = JoinPath(op_dir_, name);
      const ParsedName parsed = *Parse(name);
      KERF_ASSIGN_OR_RETURN(const std::string content, fs_.ReadFile(path));
      KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs_.Stat(path));
      if (info.has_value()) newest = std::max(newest, info->mtime_ns);
      step.task = parsed.task;
      step.step = parsed.step;
      step.kind = parsed.kind;
      step.check = parsed.check;
      step.attempt = parsed.attempt;
      step.action = parsed.action.has_value() ? ActionName(*parsed.action) : parsed.word;
      step.names = NamesWord(parsed.names);
      step.files.push_back(
          {name, content.size(), Sha256Hex(content), TextEncodingName(DetectEncoding(content))});
      if (parsed.parameter == "verify_res" && content.size() <= kShortResult &&
          DetectEncoding(content) == TextEncoding::kUtf8) {
        line.verify_res = content;
      }
    }
    step.time = FormatUtc(newest);
    return line;
  }

  FileSystem& fs_;
  IdSource& ids_;
  Journal& journal_;
  const std::string op_dir_;
  const std::string task_;
  RecoveryReport report_;
};

}  // namespace

bool FilesMatch(FileSystem& fs, const std::string& op_dir, const Step& step) {
  for (const StepFile& file : step.files) {
    const std::string path = JoinPath(op_dir, file.name);
    const Result<std::optional<FileInfo>> info = fs.Stat(path);
    if (!info.ok() || !info->has_value() || (*info)->kind != FileKind::kFile ||
        (*info)->size != file.bytes) {
      return false;
    }
    const Result<std::string> content = fs.ReadFile(path);
    if (!content.ok() || Sha256Hex(*content) != file.sha256) return false;
  }
  return true;
}

Result<RecoveryReport> RecoverTask(FileSystem& fs, IdSource& ids, Journal& journal,
                                   const std::string& op_dir, const std::string& task) {
  return TaskRecovery(fs, ids, journal, op_dir, task).Run();
}

}  // namespace kerf::trace
