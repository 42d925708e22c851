// Input bytes, cut into lines that stay where they were read for as long as somebody keeps them.
//
// Memory comes in chunks. A chunk that nobody keeps any more is filled again: fresh memory would
// cost a page fault every 4 KB, and would not be in any cache.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"

namespace kerf::trace {

class LineBuffer {
 public:
  static constexpr size_t kChunk = size_t{2} << 20;

  LineBuffer();

  // Reads once from `fd`; false at the end of the input.
  Result<bool> Read(int fd);
  // The next line, without its LF, to do with as one likes; none when the rest has no LF. `at_end`:
  // the rest is a line.
  std::optional<std::span<char>> Next(bool at_end);
  // What keeps the last line, while it exists.
  [[nodiscard]] std::shared_ptr<const void> Keeper() const { return chunk_; }
  // Bytes that are no line yet.
  [[nodiscard]] size_t pending() const { return end_ - begin_; }

 private:
  class Pool;

  void MoveOn();

  std::shared_ptr<Pool> pool_;
  std::shared_ptr<char> chunk_;
  size_t capacity_ = 0;
  size_t begin_ = 0;     // of the first line that was not given out
  size_t end_ = 0;       // of what was read
  size_t searched_ = 0;  // up to here there is no LF
};

}  // namespace kerf::trace
