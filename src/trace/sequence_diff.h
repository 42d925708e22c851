// What changed between two sequences of numbers: the engine of text_diff.h, and what aligns the
// steps of two tasks.
//
// Minimal (the fewest removed and added elements) as long as the sequences differ in up to some
// thousand places; beyond that still correct, but perhaps longer than needed, so that a million
// elements take seconds and not hours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kerf::trace {

// Elements [a_begin, a_end) of the old sequence became [b_begin, b_end) of the new one; either may
// be empty. What stands between two changes is the same on both sides.
struct Change {
  size_t a_begin = 0;
  size_t a_end = 0;
  size_t b_begin = 0;
  size_t b_end = 0;
};

// In order; empty when the sequences are equal. The values should be small (0, 1, 2 …): a table is
// made of them.
std::vector<Change> DiffSequences(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);

}  // namespace kerf::trace
