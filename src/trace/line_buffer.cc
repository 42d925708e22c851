#include "trace/line_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace kerf::trace {
namespace {

// A short input needs no more than this.
constexpr size_t kFirstChunk = size_t{256} << 10;
// One read; and the room below which a chunk is left for the next one.
constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kLeastRoom = size_t{64} << 10;
// Chunks that wait to be filled again.
constexpr size_t kMaxSpare = 16;

struct ChunkDeleter {
  void operator()(char* chunk) const {
    ::operator delete[](chunk, std::align_val_t(LineBuffer::kChunk));
  }
};
using Chunk = std::unique_ptr<char[], ChunkDeleter>;

// Aligned so that the system can give it as one page: 512 small ones are 512 faults.
Chunk NewChunk() {
  constexpr size_t kSize = LineBuffer::kChunk;
  Chunk chunk(static_cast<char*>(::operator new[](kSize, std::align_val_t(kSize))));
  (void)::madvise(chunk.get(), kSize, MADV_HUGEPAGE);  // else small pages, and no harm
  return chunk;
}

}  // namespace

// Lines are let go of in other threads.
class LineBuffer::Pool {
 public:
  Chunk Take() {
    const std::lock_guard lock(mu_);
    if (spare_.empty()) return NewChunk();
    Chunk chunk = std::move(spare_.back());
    spare_.pop_back();
    return chunk;
  }
  void Give(Chunk chunk) {
    const std::lock_guard lock(mu_);
    if (spare_.size() < kMaxSpare) spare_.push_back(std::move(chunk));
  }

 private:
  std::mutex mu_;
  std::vector<Chunk> spare_;  // guarded by mu_
};

LineBuffer::LineBuffer() : pool_(std::make_shared<Pool>()) {}

Result<bool> LineBuffer::Read(int fd) {
  if (capacity_ - end_ < kLeastRoom) MoveOn();
  ssize_t n = 0;
  do {
    n = ::read(fd, chunk_.get() + end_, std::min(kReadBytes, capacity_ - end_));
  } while (n < 0 && errno == EINTR);
  if (n < 0) return ErrnoError("read", "the input", errno);
  end_ += static_cast<size_t>(n);
  return n > 0;
}

// The unfinished line goes along. One that takes half a chunk gets a larger one of its own.
void LineBuffer::MoveOn() {
  const size_t rest = pending();
  std::shared_ptr<char> next;
  if (chunk_ != nullptr && rest <= kChunk / 2) {
    capacity_ = kChunk;
    next = {pool_->Take().release(), [pool = pool_](char* chunk) { pool->Give(Chunk(chunk)); }};
  } else {
    capacity_ = std::max(kFirstChunk, 4 * rest);
    next = {new char[capacity_], std::default_delete<char[]>()};  // not filled with zeros
  }
  if (rest > 0) std::memcpy(next.get(), chunk_.get() + begin_, rest);
  searched_ -= std::min(searched_, begin_);
  chunk_ = std::move(next);
  begin_ = 0;
  end_ = rest;
}

std::optional<std::span<char>> LineBuffer::Next(bool at_end) {
  if (begin_ == end_) return std::nullopt;
  // What was searched before has no LF in it: a long line is not searched again from its start.
  const size_t from = std::max(begin_, searched_);
  char* const bytes = chunk_.get();
  const auto* found = static_cast<const char*>(std::memchr(bytes + from, '\n', end_ - from));
  if (found == nullptr) {
    searched_ = end_;
    if (!at_end) return std::nullopt;
  }
  const size_t stop = found == nullptr ? end_ : static_cast<size_t>(found - bytes);
  const std::span<char> line(bytes + begin_, stop - begin_);
  begin_ = std::min(stop + 1, end_);
  return line;
}

}  // namespace kerf::trace
