#include "loop/task/reference_cache.h"

#include <algorithm>
#include <vector>

#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

using Kind = EntryLock::Kind;

// Between giving back the exclusive lock and taking the shared one another process may evict the
// entry; that this happens so often in a row means that the limit is far too small.
constexpr int kMostTries = 5;

bool IsKey(const std::string& key) {
  return key.size() >= 8 && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Status RemoveIfThere(FileSystem& fs, const std::string& folder) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(folder));
  if (!info.has_value()) return {};
  if (info->kind != FileKind::kDirectory) return fs.Remove(folder);
  return sandbox::RemoveTree(folder);
}

struct Entry {
  std::string key;
  uint64_t bytes = 0;
  int64_t used_ns = 0;
};

}  // namespace

Result<ReferenceCache> ReferenceCache::Open(FileSystem& fs, const std::string& root,
                                            uint64_t limit_bytes) {
  ReferenceCache cache(fs, root, limit_bytes);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(cache.Folder()));
  return cache;
}

Result<Reference> ReferenceCache::Get(const std::string& key, const Build& build,
                                      std::chrono::milliseconds patience) {
  KERF_CHECK(IsKey(key), "a key of the reference cache is not made of hex digits");
  const std::string lock_path = Entry(key) + ".lock";
  if (in_use_.contains(key)) {
    Result<Reference> found = ReadReference(fs_, Entry(key));
    if (found.ok()) return found;
    in_use_.erase(key);  // our own lock would keep us from making it again
  }
  for (int tries = 0; tries < kMostTries; ++tries) {
    KERF_ASSIGN_OR_RETURN(EntryLock shared, EntryLock::Acquire(lock_path, Kind::kShared, patience));
    Result<Reference> found = Use(key, std::move(shared));
    if (found.ok()) {
      if (builds_ > 0) Evict();
      return found;
    }
    // Not Use()'s lock any more: it is gone with the error.
    KERF_ASSIGN_OR_RETURN(const EntryLock exclusive,
                          EntryLock::Acquire(lock_path, Kind::kExclusive, patience));
    // Who waited for the lock may find that another has built it.
    if (ReadReference(fs_, Entry(key)).ok()) continue;
    const Status built = BuildEntry(key, build);
    if (!built.ok()) {
      (void)fs_.Remove(lock_path);
      return built.error();
    }
  }
  return Unavailable("the reference " + Entry(key) +
                     " is removed again and again; is KERF_CACHE_LIMIT too small?");
}

Result<Reference> ReferenceCache::Use(const std::string& key, EntryLock lock) {
  KERF_ASSIGN_OR_RETURN(Reference reference, ReadReference(fs_, Entry(key)));
  lock.Touch();
  in_use_.emplace(key, std::move(lock));
  return reference;
}

Status ReferenceCache::BuildEntry(const std::string& key, const Build& build) {
  ++builds_;
  const std::string temporary = Entry(key) + ".tmp";
  KERF_RETURN_IF_ERROR(RemoveIfThere(fs_, temporary));  // of a process that was killed
  KERF_RETURN_IF_ERROR(fs_.CreateDir(temporary));
  KERF_RETURN_IF_ERROR(fs_.SetMode(temporary, 0700));
  const Status status = [&]() -> Status {
    KERF_ASSIGN_OR_RETURN(const std::string made, build(temporary));
    const Result<Reference> whole = ReadReference(fs_, made);
    if (!whole.ok()) return whole.error();
    KERF_RETURN_IF_ERROR(RemoveIfThere(fs_, Entry(key)));  // damaged
    return fs_.Rename(made, Entry(key));
  }();
  Status removed = RemoveIfThere(fs_, temporary);
  KERF_RETURN_IF_ERROR(status);
  return removed;
}

void ReferenceCache::Evict() {
  const auto names = fs_.List(Folder());
  if (!names.ok()) return;
  std::vector<struct Entry> entries;
  uint64_t total = 0;
  for (const DirEntry& name : *names) {
    if (name.kind != FileKind::kDirectory) continue;
    const std::string key = name.name.substr(0, name.name.find('.'));
    const auto lock = fs_.Stat(Entry(key) + ".lock");
    const uint64_t bytes =
        sandbox::MeasureTree(JoinPath(Folder(), name.name), {UINT64_MAX, UINT64_MAX}).bytes;
    total += bytes;
    entries.push_back({name.name, bytes, lock.ok() && lock->has_value() ? (*lock)->mtime_ns : 0});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.used_ns < b.used_ns; });
  for (const struct Entry& entry : entries) {
    if (total <= limit_bytes_) return;
    const std::string key = entry.key.substr(0, entry.key.find('.'));
    const std::string lock_path = Entry(key) + ".lock";
    // Somebody uses or makes it, and every user of this object does too.
    const auto lock = EntryLock::TryExclusive(lock_path);
    if (!lock.has_value()) continue;
    // The manifest first: what is left after a crash in between is not taken for a reference.
    (void)fs_.Remove(JoinPath(JoinPath(Folder(), entry.key), "manifest.json"));
    if (!sandbox::RemoveTree(JoinPath(Folder(), entry.key)).ok()) continue;
    (void)fs_.Remove(lock_path);
    total -= entry.bytes;
  }
}

}  // namespace kerf::task
