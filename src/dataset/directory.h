// Folders by descriptor: every name is looked up relative to one that is open, and no symbolic link
// is followed, so that nobody can swap a part of the path between two calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::dataset {

// A file that is written piece by piece.
class NewFile {
 public:
  NewFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status Write(std::string_view bytes);
  // The last word on whether it was written: network file systems tell here.
  Status Close();

 private:
  int fd_ = -1;
  std::string path_;
};

class Directory {
 public:
  Directory() = default;
  ~Directory();
  Directory(Directory&& other) noexcept;
  Directory& operator=(Directory&& other) noexcept;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // The folder at `path`, made with its parents when it is missing. kDenied when its last part is a
  // link.
  static Result<Directory> OpenOrMake(const std::string& path);

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  Result<Directory> OpenFolder(const std::string& name) const;
  // Makes it; an error when something of that name is there.
  Result<Directory> MakeFolder(const std::string& name) const;
  // nullopt when nothing is there.
  [[nodiscard]] std::optional<FileKind> KindOf(const std::string& name) const;
  [[nodiscard]] Result<std::vector<DirEntry>> List() const;
  // Fails when something of that name is there.
  [[nodiscard]] Result<NewFile> Create(const std::string& name, int mode) const;
  Status WriteNew(const std::string& name, std::string_view bytes, int mode) const;
  // A regular file of up to `most` bytes.
  [[nodiscard]] Result<std::string> Read(const std::string& name, uint64_t most) const;
  // The same file under a second name; false when this file system cannot.
  bool Link(const std::string& name, const Directory& to, const std::string& new_name) const;
  Status Move(const std::string& name, const Directory& to, const std::string& new_name) const;
  // Only when nothing stands there.
  Status MoveNew(const std::string& name, const Directory& to, const std::string& new_name) const;
  // Both at once; kUnavailable when this file system cannot.
  Status Exchange(const std::string& name, const Directory& other,
                  const std::string& name_there) const;
  // With everything in it; links are removed, not followed.
  Status RemoveAll(const std::string& name) const;
  Status RemoveEmpty(const std::string& name) const;
  // For this process alone until it ends; false when another has it.
  [[nodiscard]] bool Lock() const;
  Status SyncFileSystem() const;

 private:
  Directory(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_ = -1;
  std::string path_;
};

}  // namespace kerf::dataset
