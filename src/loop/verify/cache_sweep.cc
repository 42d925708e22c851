#include "loop/verify/cache_sweep.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <vector>

#include "sandbox/work_folder.h"

namespace kerf::verify {
namespace {

constexpr time_t kStale = time_t{24} * 60 * 60;

struct Entry {
  std::string path;
  uint64_t bytes = 0;
  time_t used = 0;
  bool folder = false;
};

std::vector<Entry> List(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& found : std::filesystem::directory_iterator(folder, error)) {
    struct stat info {};
    if (::lstat(found.path().c_str(), &info) != 0) continue;
    entries.push_back(
        {found.path(), static_cast<uint64_t>(info.st_size), info.st_mtime, S_ISDIR(info.st_mode)});
  }
  return entries;
}

void RemoveStaleFolders(const std::string& parent) {
  const time_t now = std::time(nullptr);
  for (const Entry& entry : List(parent)) {
    if (entry.folder && now - entry.used > kStale) (void)sandbox::RemoveTree(entry.path).ok();
  }
}

}  // namespace

void SweepCache(const std::string& cache_dir, uint64_t limit_bytes) {
  RemoveStaleFolders(cache_dir + "/scratch");
  std::vector<Entry> entries;
  for (const char* name : {"/builds", "/golds"}) {
    RemoveStaleFolders(cache_dir + name);
    const std::vector<Entry> found = List(cache_dir + name);
    entries.insert(entries.end(), found.begin(), found.end());
  }
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.folder ? 0 : entry.bytes;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes) return;
    std::error_code error;
    if (!entry.folder && std::filesystem::remove(entry.path, error)) total -= entry.bytes;
  }
}

void TouchFile(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace kerf::verify
