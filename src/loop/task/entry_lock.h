// A lock on a file that may be removed: shared while what it stands for is used, exclusive while
// that is made or deleted. Ends with the process, however that ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/child_posix.h"
#include "base/result.h"

namespace kerf::task {

class EntryLock {
 public:
  enum class Kind { kShared, kExclusive };

  // Makes the file when it is missing. When it returns, `path` names the file that is locked, not
  // one that was removed meanwhile. kTimeout when others hold it for longer than `patience`.
  static Result<EntryLock> Acquire(const std::string& path, Kind kind,
                                   std::chrono::milliseconds patience);
  // The exclusive lock at once, or nullopt.
  static std::optional<EntryLock> TryExclusive(const std::string& path);

  // Sets the file's time to now: what is used least recently goes first.
  void Touch() const;

 private:
  explicit EntryLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace kerf::task
