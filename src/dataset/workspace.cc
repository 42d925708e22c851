// A folder is made under .kerf-staging/ and renamed to its place. To replace one that is there, the
// new folder first gets second names (hard links) for the files a person added, then both are
// exchanged in one step, then what cannot be linked (folders) moves over from the old one, which is
// removed last. Killed at any moment, the folder in its place is whole; what a person added is in
// it or still in staging, from where the next run brings it back.
#include "dataset/workspace.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "base/hash.h"
#include "dataset/case_json.h"
#include "dataset/directory.h"

namespace kerf::dataset {
namespace {

constexpr const char* kStaging = ".kerf-staging";
constexpr const char* kOldMark = ".kerf-old";
constexpr uint64_t kMostRead = uint64_t{1} << 30;

// One level of a case's folder: its own files, or those of diffs/.
struct Level {
  std::string prefix;                  // "" or "diffs/"
  std::vector<const CaseFile*> files;  // that kerf is about to write here
  [[nodiscard]] const CaseFile* Find(const std::string& name) const {
    for (const CaseFile* file : files) {
      if (file->path == prefix + name) return file;
    }
    return nullptr;
  }
};

std::vector<Level> LevelsOf(const CaseFolder& folder) {
  std::vector<Level> levels = {{"", {}}, {"diffs/", {}}};
  for (const CaseFile& file : folder.files) {
    levels[file.path.starts_with("diffs/") ? 1 : 0].files.push_back(&file);
  }
  return levels;
}

std::string FreeName(const Directory& in, const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; in.KindOf(name).has_value(); ++n) name = wanted + "." + std::to_string(n);
  return name;
}

class PosixWorkspace : public Workspace {
 public:
  PosixWorkspace(Directory root, Directory staging, bool sync)
      : root_(std::move(root)), staging_(std::move(staging)), sync_(sync) {}

  Status Recover() {
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> left, staging_.List());
    for (const DirEntry& entry : left) {
      if (entry.kind == FileKind::kDirectory) KERF_RETURN_IF_ERROR(RecoverFolder(entry.name));
      KERF_RETURN_IF_ERROR(staging_.RemoveAll(entry.name));
    }
    return {};
  }

  Result<PutOutcome> Put(const CaseFolder& folder) override {
    const std::optional<FileKind> there = root_.KindOf(folder.folder);
    if (there.has_value() && *there != FileKind::kDirectory) {
      return Denied(JoinPath(root_.path(), folder.folder) +
                    (*there == FileKind::kSymlink ? " is a symbolic link" : " is not a folder") +
                    " and stands in the way; remove it");
    }
    if (there.has_value()) return Update(folder);
    KERF_RETURN_IF_ERROR(Build(folder).status);
    if (sync_) KERF_RETURN_IF_ERROR(staging_.SyncFileSystem());
    KERF_RETURN_IF_ERROR(staging_.MoveNew(folder.folder, root_, folder.folder));
    return PutOutcome::kNew;
  }

  Result<std::unique_ptr<File>> NewFile(const std::string& name) override {
    KERF_ASSIGN_OR_RETURN(dataset::NewFile file, staging_.Create(name, 0666));
    return std::unique_ptr<File>(std::make_unique<StagedFile>(*this, name, std::move(file)));
  }

  Status Finish() override {
    KERF_RETURN_IF_ERROR(root_.RemoveEmpty(kStaging));
    if (sync_) KERF_RETURN_IF_ERROR(root_.SyncFileSystem());
    return {};
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    const std::scoped_lock lock(mu_);
    return notes_;
  }

 private:
  class StagedFile : public File {
   public:
    StagedFile(const PosixWorkspace& workspace, std::string name, dataset::NewFile file)
        : workspace_(workspace), name_(std::move(name)), file_(std::move(file)) {}
    ~StagedFile() override {
      if (!moved_) (void)workspace_.staging_.RemoveAll(name_);
    }

    Status Append(std::string_view bytes) override { return file_.Write(bytes); }

    Status Close() override {
      KERF_RETURN_IF_ERROR(file_.Close());
      const Directory& root = workspace_.root_;
      const std::optional<FileKind> there = root.KindOf(name_);
      if (there.has_value() && *there != FileKind::kFile) {
        return Denied(JoinPath(root.path(), name_) + " is no regular file and stands in the way");
      }
      if (workspace_.sync_) KERF_RETURN_IF_ERROR(workspace_.staging_.SyncFileSystem());
      KERF_RETURN_IF_ERROR(workspace_.staging_.Move(name_, root, name_));
      moved_ = true;
      return {};
    }

   private:
    const PosixWorkspace& workspace_;
    const std::string name_;
    dataset::NewFile file_;
    bool moved_ = false;
  };

  struct Built {
    Status status;
    Directory top;
    Directory diffs;  // open only when there are diffs
  };

  void Note(std::string sentence) {
    const std::scoped_lock lock(mu_);
    notes_.push_back(std::move(sentence));
  }

  Built Build(const CaseFolder& folder) {
    Built built;
    built.status = [&]() -> Status {
      KERF_ASSIGN_OR_RETURN(built.top, staging_.MakeFolder(folder.folder));
      for (const CaseFile& file : folder.files) {
        const bool diff = file.path.starts_with("diffs/");
        if (diff && built.diffs.fd() < 0) {
          KERF_ASSIGN_OR_RETURN(built.diffs, built.top.MakeFolder("diffs"));
        }
        KERF_RETURN_IF_ERROR((diff ? built.diffs : built.top)
                                 .WriteNew(diff ? file.path.substr(6) : file.path, file.content,
                                           file.path == "reproduce.sh" ? 0777 : 0666));
      }
      return {};
    }();
    return built;
  }

  // What kerf once wrote into a folder, by path.
  static std::vector<RecordedFile> RecordedIn(const Directory& old) {
    const Result<std::string> text = old.Read("case.json", kMostRead);
    if (!text.ok()) return {};
    std::optional<RecordedCase> recorded = ReadCaseJson(*text);
    if (!recorded.has_value()) return {};
    recorded->files.push_back({"case.json", text->size(), Sha256Hex(*text)});
    return std::move(recorded->files);
  }

  static bool IsUnchanged(const Directory& old, const CaseFolder& folder) {
    for (auto file = folder.files.rbegin(); file != folder.files.rend(); ++file) {
      const bool diff = file->path.starts_with("diffs/");
      const Result<Directory> diffs = diff ? old.OpenFolder("diffs") : NotFound("");
      if (diff && !diffs.ok()) return false;
      const Result<std::string> text =
          diff ? diffs->Read(file->path.substr(6), kMostRead) : old.Read(file->path, kMostRead);
      if (!text.ok() || *text != file->content) return false;
    }
    return true;
  }

  Result<PutOutcome> Update(const CaseFolder& folder) {
    KERF_ASSIGN_OR_RETURN(const Directory old, root_.OpenFolder(folder.folder));
    const std::vector<RecordedFile> recorded = RecordedIn(old);
    if (IsUnchanged(old, folder) && !recorded.empty()) return PutOutcome::kUnchanged;
    Built built = Build(folder);
    KERF_RETURN_IF_ERROR(built.status);
    std::vector<std::pair<std::string, std::string>> to_move;  // what cannot be linked
    for (const Level& level : LevelsOf(folder)) {
      KERF_RETURN_IF_ERROR(CarryOver(old, level, recorded, built, to_move));
    }
    if (sync_) KERF_RETURN_IF_ERROR(staging_.SyncFileSystem());
    KERF_ASSIGN_OR_RETURN(const std::string old_name, Replace(folder.folder));
    KERF_ASSIGN_OR_RETURN(const Directory in_staging, staging_.OpenFolder(old_name));
    for (const auto& [from, to] : to_move)
      KERF_RETURN_IF_ERROR(MoveEntry(in_staging, from, built, to));
    KERF_RETURN_IF_ERROR(staging_.RemoveAll(old_name));
    return PutOutcome::kUpdated;
  }

  // Puts the staged folder in place of the old one; the old one's name in staging.
  Result<std::string> Replace(const std::string& name) {
    const Status exchanged = staging_.Exchange(name, root_, name);
    if (exchanged.ok()) return name;
    if (exchanged.error().code != ErrorCode::kUnavailable) return exchanged.error();
    // Without an exchange there is a moment with no folder; Recover() knows it by its mark.
    KERF_RETURN_IF_ERROR(root_.Move(name, staging_, name + kOldMark));
    KERF_RETURN_IF_ERROR(staging_.MoveNew(name, root_, name));
    return name + kOldMark;
  }

  // Gives the files of a person in one level of the old folder a name in the new one.
  Status CarryOver(const Directory& old, const Level& level,
                   const std::vector<RecordedFile>& recorded, Built& built,
                   std::vector<std::pair<std::string, std::string>>& to_move) {
    const bool diffs = !level.prefix.empty();
    if (diffs && old.KindOf("diffs") != FileKind::kDirectory) return {};
    Directory below;
    if (diffs) {
      KERF_ASSIGN_OR_RETURN(below, old.OpenFolder("diffs"));
    }
    const Directory& from = diffs ? below : old;
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, from.List());
    for (const DirEntry& entry : entries) {
      if (!diffs && entry.name == "diffs" && entry.kind == FileKind::kDirectory) continue;
      const std::string new_name = NameToKeep(from, level, entry, recorded);
      if (new_name.empty()) continue;
      if (diffs && built.diffs.fd() < 0) {
        KERF_ASSIGN_OR_RETURN(built.diffs, built.top.MakeFolder("diffs"));
      }
      const Directory& to = diffs ? built.diffs : built.top;
      const std::string kept = FreeName(to, new_name);
      if (kept != entry.name) {
        Note(JoinPath(from.path(), entry.name) + " was changed by hand; kept as " + kept);
      }
      if (entry.kind == FileKind::kDirectory || !from.Link(entry.name, to, kept)) {
        to_move.emplace_back(level.prefix + entry.name, level.prefix + kept);
      }
    }
    return {};
  }

  // Empty: kerf wrote it and nobody changed it.
  static std::string NameToKeep(const Directory& from, const Level& level, const DirEntry& entry,
                                const std::vector<RecordedFile>& recorded) {
    const std::string path = level.prefix + entry.name;
    const auto known = std::find_if(recorded.begin(), recorded.end(),
                                    [&](const RecordedFile& file) { return file.path == path; });
    const CaseFile* coming = level.Find(entry.name);
    if (known == recorded.end() && coming == nullptr) return entry.name;
    if (entry.kind == FileKind::kFile) {
      const Result<std::string> text = from.Read(entry.name, kMostRead);
      if (text.ok()) {
        if (coming != nullptr && *text == coming->content) return "";
        if (known != recorded.end() && known->sha256 == Sha256Hex(*text)) return "";
      }
    }
    return entry.name + ".edited";
  }

  static Status MoveEntry(const Directory& old, const std::string& from, const Built& built,
                          const std::string& to) {
    if (!from.starts_with("diffs/")) return old.MoveNew(from, built.top, to);
    KERF_ASSIGN_OR_RETURN(const Directory diffs, old.OpenFolder("diffs"));
    return diffs.MoveNew(from.substr(6), built.diffs, to.substr(6));
  }

  // What a killed run left of one folder: half a new one, or an old one that was exchanged and may
  // still hold folders a person added.
  Status RecoverFolder(const std::string& name) {
    std::string home = name;
    if (home.ends_with(kOldMark)) {
      home.resize(home.size() - std::string_view(kOldMark).size());
      if (!root_.KindOf(home).has_value()) return staging_.MoveNew(name, root_, home);
    }
    if (root_.KindOf(home) != FileKind::kDirectory) return {};
    KERF_ASSIGN_OR_RETURN(const Directory left, staging_.OpenFolder(name));
    KERF_ASSIGN_OR_RETURN(const Directory place, root_.OpenFolder(home));
    KERF_RETURN_IF_ERROR(PutBack(left, place));
    if (left.KindOf("diffs") != FileKind::kDirectory ||
        place.KindOf("diffs") != FileKind::kDirectory) {
      return {};
    }
    KERF_ASSIGN_OR_RETURN(const Directory left_diffs, left.OpenFolder("diffs"));
    KERF_ASSIGN_OR_RETURN(const Directory diffs, place.OpenFolder("diffs"));
    return PutBack(left_diffs, diffs);
  }

  Status PutBack(const Directory& left, const Directory& place) {
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, left.List());
    for (const DirEntry& entry : entries) {
      if (IsKerfName(entry.name) || place.KindOf(entry.name).has_value()) continue;
      KERF_RETURN_IF_ERROR(left.MoveNew(entry.name, place, entry.name));
      Note("put back " + JoinPath(place.path(), entry.name) + ", which a killed run had moved");
    }
    return {};
  }

  const Directory root_;
  const Directory staging_;
  const bool sync_;
  mutable std::mutex mu_;
  std::vector<std::string> notes_;  // guarded by mu_
};

}  // namespace

bool IsKerfName(std::string_view name) {
  constexpr std::string_view kWhole[] = {
      "0_instruction.txt", "1_label_source.py",      "3_test_code.py", "error_log.txt",
      "case.json",         "reflection_strategy.md", "diffs",          "reproduce.sh"};
  constexpr std::string_view kStems[] = {"2_initial_predict.", "candidate_call_fix.",
                                         "candidate_exe_fix.", "candidate_perf_fix_",
                                         "initial_to_"};
  if (name.ends_with(".edited")) return false;
  if (std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole)) return true;
  return std::any_of(std::begin(kStems), std::end(kStems),
                     [&](std::string_view stem) { return name.starts_with(stem); });
}

Result<std::unique_ptr<Workspace>> Workspace::Open(const std::string& path, bool sync) {
  KERF_ASSIGN_OR_RETURN(Directory root, Directory::OpenOrMake(path));
  if (!root.Lock()) return Unavailable("another kerf is writing into " + path + "; wait for it");
  const std::optional<FileKind> there = root.KindOf(kStaging);
  if (there.has_value() && *there != FileKind::kDirectory) {
    return Denied(JoinPath(path, kStaging) + " is no folder; remove it");
  }
  Result<Directory> staging =
      there.has_value() ? root.OpenFolder(kStaging) : root.MakeFolder(kStaging);
  if (!staging.ok()) return std::move(staging).error();
  auto workspace = std::make_unique<PosixWorkspace>(std::move(root), *std::move(staging), sync);
  KERF_RETURN_IF_ERROR(workspace->Recover());
  return std::unique_ptr<Workspace>(std::move(workspace));
}

}  // namespace kerf::dataset
