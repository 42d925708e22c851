// A whole file as one view, however large: mapped, not read. What was looked at and is not needed
// for now can be let go of, so that memory stays small.
//
// A file that another program cuts shorter meanwhile ends this one (SIGBUS).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kerf::dataset {

class MappedFile {
 public:
  // Of a pipe or a terminal all is read into memory first. Folders are refused.
  static Result<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view bytes() const;
  // [begin, end) will be looked at soon, from its beginning to its end: its pages are brought in
  // at once, not a few with each first look. Thread-safe.
  void Expect(uint64_t begin, uint64_t end) const;
  // The pages that lie wholly within [begin, end) leave this process's memory; looking at them
  // again brings them back. Thread-safe.
  void Release(uint64_t begin, uint64_t end) const;

 private:
  std::string path_;
  std::string text_;  // when it could not be mapped
  void* address_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace kerf::dataset
