#include "base/file_system.h"

#include <cstdlib>
#include <filesystem>

namespace kerf {

Status WriteFileAtomic(FileSystem& fs, const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  KERF_ASSIGN_OR_RETURN(std::optional<FileInfo> left_over, fs.Stat(temporary));
  if (left_over.has_value()) {
    KERF_RETURN_IF_ERROR(fs.Remove(temporary));
  }
  const auto write = [&]() -> Status {
    KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, fs.OpenNew(temporary));
    KERF_RETURN_IF_ERROR(file->Write(bytes));
    return file->Sync();
  };
  if (Status written = write(); !written.ok()) {
    (void)fs.Remove(temporary);  // half of it on a full disk is of no use
    return written;
  }
  KERF_RETURN_IF_ERROR(fs.Rename(temporary, path));
  return fs.SyncDir(ParentPath(path));
}

bool IsThere(FileSystem& fs, const std::string& path) {
  const Result<std::optional<FileInfo>> info = fs.Stat(path);
  return info.ok() && info->has_value();
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.rfind(folder + "/", 0) == 0;
}

std::string JoinPath(std::string_view dir, std::string_view name) {
  if (dir.empty()) {
    return std::string(name);
  }
  std::string path(dir);
  if (path.back() != '/') {
    path += '/';
  }
  path += name;
  return path;
}

std::string ParentPath(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') {
    path.remove_suffix(1);
  }
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return ".";
  }
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string BaseName(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') {
    path.remove_suffix(1);
  }
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string ExpandHome(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || path.empty() || path[0] != '~' || (path.size() > 1 && path[1] != '/')) {
    return path;
  }
  return home + path.substr(1);
}

std::string NamedPath(const std::string& path) {
  const std::string last = BaseName(path);
  if (last != "." && last != "..") return path;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

}  // namespace kerf
