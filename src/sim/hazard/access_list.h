// Accesses of one pipe to one memory that others may still conflict with, oldest first.
//
// Bounded: an access that was repeated on the same bytes counts for both, what everybody knows to
// be complete is dropped, and beyond kMost the oldest go (docs/not-modelled.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/log/instruction_log.h"

namespace kerf::sim {

struct Access {
  uint64_t begin = 0, end = 0;  // the whole range
  uint64_t step = 0;            // between rows; 0 = the range is one piece
  uint32_t row_bytes = 0;
  uint32_t position = 0;     // in its pipe
  uint32_t instruction = 0;  // in its core
  uint8_t access = 0;        // kRead, kWrite, kAtomic

  [[nodiscard]] bool writes() const { return (access & kerf_log::kWrite) != 0; }
};

Access AccessOf(const Operand& operand);

// Whether they touch a common byte.
bool Overlap(const Access& a, const Access& b);

class AccessList {
 public:
  static constexpr size_t kMost = 4096;
  static constexpr size_t kChunk = 64;

  // true: it has grown, call Shrink().
  [[nodiscard]] bool Add(const Access& access) {
    Append(access);
    return entries_.size() >= limit_;
  }
  // Drops what is at or before `known_to_all`, and repetitions.
  void Shrink(uint32_t known_to_all);

  // Calls visit for accesses after `known` whose ranges meet, newest first, until it returns false.
  template <typename Visit>
  void ForUnordered(const Access& access, uint32_t known, Visit visit) const {
    if (access.begin >= end_ || access.end <= begin_) return;
    for (size_t chunk = (entries_.size() + kChunk - 1) / kChunk; chunk-- > 0;) {
      const size_t first = chunk * kChunk;
      const size_t last = std::min(first + kChunk, entries_.size());
      if (entries_[last - 1].position <= known) return;
      if (access.begin >= bounds_[chunk].end || access.end <= bounds_[chunk].begin) continue;
      for (size_t i = last; i-- > first;) {
        const Access& other = entries_[i];
        if (other.position <= known) return;
        if (access.begin < other.end && other.begin < access.end && !visit(other)) return;
      }
    }
  }

  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  struct Bounds {
    uint64_t begin = UINT64_MAX, end = 0;
  };
  void Append(const Access& access);

  std::vector<Access> entries_;
  std::vector<Bounds> bounds_;  // per kChunk entries
  uint64_t begin_ = UINT64_MAX, end_ = 0;
  size_t limit_ = 256;  // look again at this size
};

}  // namespace kerf::sim
