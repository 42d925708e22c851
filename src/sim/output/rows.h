// Rows of one lane: the first whose last slice has ended takes the next one, so that slices of a
// row never overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kerf::sim {

class Rows {
 public:
  // Of a slice [start, end); `fresh` says whether the row is new.
  size_t Place(uint64_t start, uint64_t end, bool& fresh) {
    fresh = false;
    for (size_t row = 0; row < ends_.size(); ++row) {
      if (ends_[row] > start) continue;
      ends_[row] = end;
      return row;
    }
    fresh = true;
    ends_.push_back(end);
    return ends_.size() - 1;
  }

 private:
  std::vector<uint64_t> ends_;
};

}  // namespace kerf::sim
