// The folder in which processes of one user on one machine agree about devices; what is in it:
// docs/formats/device_locks.md.
//
// It must belong to us alone: whoever can write in it can hand one device to two processes, and a
// link planted in it would lead our writes elsewhere. Everything goes through the descriptor of the
// checked folder and follows no links, so that nothing can be swapped after the check.
//
// Thread-safe after opening.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/child_posix.h"
#include "base/result.h"
#include "device/environment.h"

namespace kerf::device {

class RuntimeDir {
 public:
  // $KERF_DEVICE_DIR, else $XDG_RUNTIME_DIR/kerf/devices, else /tmp/kerf-UID/devices; made with
  // mode 0700 when missing. kDenied with the reason when it is not safe.
  static Result<RuntimeDir> Open(const Environment& environment);
  // `path` itself; missing parents are made too.
  static Result<RuntimeDir> OpenPath(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }

  // Names are relative, without ".."; the last component is never followed when it is a link.
  [[nodiscard]] Result<Fd> OpenFile(const std::string& name, int flags) const;
  // At most 64 KiB of a regular file; kNotFound when there is none.
  [[nodiscard]] Result<std::string> Read(const std::string& name) const;
  // A reader sees the old text or the new. `name` has one writer at a time or the last one wins.
  [[nodiscard]] Status Replace(const std::string& name, std::string_view text) const;
  // Whether there was something to remove.
  [[nodiscard]] Result<bool> Remove(const std::string& name) const;
  [[nodiscard]] Status MakeDir(const std::string& name) const;
  // Unsorted, without "." and "..".
  [[nodiscard]] Result<std::vector<std::string>> List(const std::string& name) const;
  // Whether `name` still names the file behind `fd`: a lock on a file that was removed or replaced
  // excludes nobody.
  [[nodiscard]] bool IsStillAt(const Fd& fd, const std::string& name) const;

 private:
  RuntimeDir(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  [[nodiscard]] std::string Full(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  Fd fd_;
};

}  // namespace kerf::device
