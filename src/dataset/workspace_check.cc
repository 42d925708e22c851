#include "dataset/workspace_check.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/hash.h"
#include "dataset/case_files.h"
#include "dataset/case_json.h"
#include "dataset/workspace.h"

namespace kerf::dataset {
namespace {

// Source files, each opened once.
class Sources {
 public:
  explicit Sources(std::string dir) : dir_(std::move(dir)) {}

  const Result<MappedFile>& Open(const std::string& recorded) {
    const std::string path = dir_.empty() ? recorded : JoinPath(dir_, BaseName(recorded));
    const auto found = files_.find(path);
    if (found != files_.end()) return found->second;
    return files_.emplace(path, MappedFile::Open(path)).first->second;
  }

 private:
  const std::string dir_;
  std::map<std::string, Result<MappedFile>> files_;
};

std::string Stem(const std::string& path) { return path.substr(0, path.find('.')); }

class CaseChecker {
 public:
  CaseChecker(FileSystem& fs, Sources& sources, std::string folder)
      : fs_(fs), sources_(sources), folder_(std::move(folder)) {}

  void Check(const RecordedCase& recorded, CheckedCase& out) {
    out_ = &out;
    for (const RecordedFile& file : recorded.files) CheckFile(file);
    ListAdded(recorded, "");
    const MappedFile* jsonl = CheckSource(recorded, 0);
    const MappedFile* mem = CheckSource(recorded, 1);
    if (!sources_fine_) return;
    CompareAgain(recorded, jsonl, mem);
  }

 private:
  void Wrong(std::string what) { out_->wrong.push_back(std::move(what)); }

  void CheckFile(const RecordedFile& file) {
    const Result<std::string> text = fs_.ReadFile(JoinPath(folder_, file.path));
    if (!text.ok()) {
      Wrong(file.path + " is missing or cannot be read");
    } else if (Sha256Hex(*text) != file.sha256) {
      Wrong(file.path + " was changed: its hash is not the one in case.json");
    }
  }

  void ListAdded(const RecordedCase& recorded, const std::string& prefix) {
    const Result<std::vector<DirEntry>> entries =
        fs_.List(prefix.empty() ? folder_ : JoinPath(folder_, prefix));
    if (!entries.ok()) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = prefix.empty() ? entry.name : prefix + "/" + entry.name;
      if (path == "diffs" && entry.kind == FileKind::kDirectory) {
        ListAdded(recorded, "diffs");
        continue;
      }
      const bool known = path == "case.json" ||
                         std::any_of(recorded.files.begin(), recorded.files.end(),
                                     [&](const RecordedFile& file) { return file.path == path; });
      if (!known) out_->added.push_back(path);
    }
    std::sort(out_->added.begin(), out_->added.end());
  }

  // The jsonl's or the mem's record; null when the case has none or it is not the same any more.
  const MappedFile* CheckSource(const RecordedCase& recorded, size_t which) {
    for (const RecordedSource& source : recorded.sources) {
      if ((source.kind == "mem") != (which == 1)) continue;
      const Result<MappedFile>& file = sources_.Open(source.path);
      sources_fine_ = sources_fine_ && file.ok();
      if (!file.ok()) {
        Wrong("source " + source.path + ": " + file.error().message);
        return nullptr;
      }
      const std::string_view bytes = file->bytes();
      if (source.begin > source.end || source.end > bytes.size() ||
          Hex64(Xxh3(bytes.substr(source.begin, source.end - source.begin))) != source.xxh3) {
        Wrong("source " + source.path + ", bytes " + std::to_string(source.begin) + " to " +
              std::to_string(source.end) + ", is not what it was");
        sources_fine_ = false;
        return nullptr;
      }
      return &*file;
    }
    return nullptr;
  }

  // Makes the texts again from the source and holds the disk's against them.
  void CompareAgain(const RecordedCase& recorded, const MappedFile* jsonl, const MappedFile* mem) {
    CaseEntry entry;
    entry.name = recorded.name;
    for (const RecordedSource& source : recorded.sources) {
      (source.kind == "mem" ? entry.mem_begin : entry.jsonl_begin) = source.begin;
      (source.kind == "mem" ? entry.mem_end : entry.jsonl_end) = source.end;
    }
    const MappedFile none;
    const CaseFolder again = MakeCase(entry, "", {jsonl == nullptr ? none : *jsonl, mem, {}}, {});
    for (const CaseFile& file : again.files) {
      if (file.path == "case.json" || file.path == "reproduce.sh" ||
          file.path.starts_with("diffs/")) {
        continue;
      }
      const auto there =
          std::find_if(recorded.files.begin(), recorded.files.end(),
                       [&](const RecordedFile& one) { return Stem(one.path) == Stem(file.path); });
      if (there == recorded.files.end()) {
        Wrong(file.path + " is in the source and was not extracted");
      } else if (there->sha256 != Sha256Hex(file.content)) {
        Wrong(there->path + " is not what the source says");
      }
    }
  }

  FileSystem& fs_;
  Sources& sources_;
  const std::string folder_;
  CheckedCase* out_ = nullptr;
  bool sources_fine_ = true;
};

}  // namespace

uint64_t WorkspaceReport::wrong() const {
  return static_cast<uint64_t>(std::count_if(
      cases.begin(), cases.end(), [](const CheckedCase& one) { return !one.wrong.empty(); }));
}

Result<WorkspaceReport> CheckWorkspace(FileSystem& fs, const std::string& workspace,
                                       const std::string& source_dir) {
  WorkspaceReport report;
  Sources sources(source_dir);
  KERF_ASSIGN_OR_RETURN(std::vector<DirEntry> entries, fs.List(workspace));
  std::sort(entries.begin(), entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  for (const DirEntry& entry : entries) {
    if (entry.kind != FileKind::kDirectory || entry.name.starts_with('.')) continue;
    const std::string folder = JoinPath(workspace, entry.name);
    const Result<std::string> text = fs.ReadFile(JoinPath(folder, "case.json"));
    const std::optional<RecordedCase> recorded =
        text.ok() ? ReadCaseJson(*text) : std::optional<RecordedCase>();
    if (!recorded.has_value()) {
      report.other.push_back(entry.name);
      continue;
    }
    CheckedCase& checked = report.cases.emplace_back();
    checked.folder = entry.name;
    checked.name = recorded->name;
    CaseChecker(fs, sources, folder).Check(*recorded, checked);
  }
  if (report.cases.empty()) return NotFound("no case folder in " + workspace);
  return report;
}

}  // namespace kerf::dataset
