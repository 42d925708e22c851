// References that have been made, by content.
//
//   ROOT/references/KEY/       a reference (docs/formats/reference.md)
//   ROOT/references/KEY.lock   shared while it is used, exclusive while it is made or deleted; its
//   time
//                              is that of the last use
//   ROOT/references/KEY.tmp/   being made
//
// A reference is made in KEY.tmp and renamed, so that a half-made one is never seen. Of two
// processes that want the same one, one makes it and the other waits.
//
// What Get() returned stays on the disk as long as the cache object lives; after that it goes when
// the cache is larger than its limit and others were used more recently.
//
// Not thread-safe; each thread may have its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "artifact/reference.h"
#include "base/file_system.h"
#include "base/result.h"
#include "loop/task/entry_lock.h"

namespace kerf::task {

class ReferenceCache {
 public:
  // `root` is the cache folder (base/cache_dir.h).
  static Result<ReferenceCache> Open(FileSystem& fs, const std::string& root, uint64_t limit_bytes);

  // Fills the folder it is given and returns the folder, in it or it itself, that holds the
  // reference.
  using Build = std::function<Result<std::string>(const std::string& folder)>;

  // The reference of `key` (lowercase hex digits), built when it is missing or damaged. Waits for
  // another process that builds it, as long as `patience`.
  Result<Reference> Get(const std::string& key, const Build& build,
                        std::chrono::milliseconds patience);

  // How many of the calls had to build.
  [[nodiscard]] int builds() const { return builds_; }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  ReferenceCache(FileSystem& fs, std::string root, uint64_t limit_bytes)
      : fs_(fs), root_(std::move(root)), limit_bytes_(limit_bytes) {}

  [[nodiscard]] std::string Folder() const { return JoinPath(root_, "references"); }
  [[nodiscard]] std::string Entry(const std::string& key) const { return JoinPath(Folder(), key); }
  Result<Reference> Use(const std::string& key, EntryLock lock);
  Status BuildEntry(const std::string& key, const Build& build);
  // Removes least recently used entries, never one that anybody uses, until the limit is kept.
  void Evict();

  FileSystem& fs_;
  std::string root_;
  uint64_t limit_bytes_;
  std::map<std::string, EntryLock> in_use_;  // by key
  int builds_ = 0;
};

}  // namespace kerf::task
