// Extract() writes into a folder with a name of its own and renames that. When another process was
// sooner, the rename fails and its folder is as good; a damaged one is renamed away first.
#include "resource/resource.h"

#include <algorithm>
#include <memory>
#include <set>

#include "base/hash.h"
#include "base/ids.h"
#include "resource/embedded.h"

namespace kerf::resource {
namespace {

constexpr int kFolderMode = 0755;
constexpr int kFileMode = 0644;

Status MakeFolders(FileSystem& fs, const std::string& root, std::string_view path,
                   std::set<std::string>& made) {
  for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string folder = JoinPath(root, path.substr(0, at));
    if (!made.insert(folder).second) continue;
    KERF_RETURN_IF_ERROR(fs.CreateDir(folder));
    KERF_RETURN_IF_ERROR(fs.SetMode(folder, kFolderMode));
  }
  return {};
}

Status WriteAll(FileSystem& fs, const std::string& root) {
  KERF_RETURN_IF_ERROR(fs.CreateDir(root));
  KERF_RETURN_IF_ERROR(fs.SetMode(root, kFolderMode));
  std::set<std::string> made;
  for (const File& file : EmbeddedFiles()) {
    KERF_RETURN_IF_ERROR(MakeFolders(fs, root, file.path, made));
    const std::string path = JoinPath(root, file.path);
    KERF_ASSIGN_OR_RETURN(const std::unique_ptr<kerf::File> out, fs.OpenNew(path));
    KERF_RETURN_IF_ERROR(out->Write(file.bytes));
    KERF_RETURN_IF_ERROR(fs.SetMode(path, kFileMode));
  }
  return {};
}

bool IsWhole(FileSystem& fs, const std::string& root) {
  for (const File& file : EmbeddedFiles()) {
    const Result<std::string> bytes = fs.ReadFile(JoinPath(root, file.path));
    if (!bytes.ok() || *bytes != file.bytes) return false;
  }
  return true;
}

// As far as it goes: what stays is only in the way of nobody.
void RemoveAll(FileSystem& fs, const std::string& path) {
  const auto info = fs.Stat(path);
  if (!info.ok() || !info->has_value()) return;
  if ((*info)->kind == FileKind::kDirectory) {
    const auto entries = fs.List(path);
    if (!entries.ok()) return;
    for (const DirEntry& entry : *entries) RemoveAll(fs, JoinPath(path, entry.name));
  }
  (void)fs.Remove(path);
}

}  // namespace

std::vector<File> Files(std::string_view prefix) {
  std::vector<File> files;
  const auto all = EmbeddedFiles();
  std::copy_if(all.begin(), all.end(), std::back_inserter(files),
               [&](const File& file) { return file.path.starts_with(prefix); });
  return files;
}

std::string ContentHash(std::string_view prefix) {
  std::string all;
  for (const File& file : Files(prefix)) {
    all += std::string(file.path) + "\n" + std::to_string(file.bytes.size()) + "\n";
    all += file.bytes;
  }
  return Sha256Hex(all);
}

Result<std::string> Extract(FileSystem& fs, const std::string& cache_dir) {
  const std::string parent = JoinPath(cache_dir, "resource");
  KERF_RETURN_IF_ERROR(fs.CreateDirs(parent));
  const std::string folder = JoinPath(parent, ContentHash().substr(0, 16));
  if (IsWhole(fs, folder)) return folder;
  const std::string own = folder + "." + Hex64(MakeRandomIds()->Next());
  if (Status all = WriteAll(fs, own + ".new"); !all.ok()) {
    RemoveAll(fs, own + ".new");
    return std::move(all).error();
  }
  Status written = fs.Rename(own + ".new", folder);
  if (!written.ok() && !IsWhole(fs, folder)) {
    (void)fs.Rename(folder, own + ".old");
    written = fs.Rename(own + ".new", folder);
  }
  RemoveAll(fs, own + ".new");
  RemoveAll(fs, own + ".old");
  if (IsWhole(fs, folder)) return folder;  // ours, or that of a process that was sooner
  KERF_RETURN_IF_ERROR(written);
  return Corrupt(folder + " does not hold what was just written; is the disk sound?");
}

}  // namespace kerf::resource
