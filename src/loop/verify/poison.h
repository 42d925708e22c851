// What an output buffer is filled with before a candidate runs: bytes that cannot be a right
// answer, so that an element which was never written is known as such. Floats get a NaN with an
// odd payload, integers and bool a value drawn from the seed. One-byte types have few values to
// choose from: there the pattern may meet a right answer, which then counts as written.
#pragma once

#include <cstdint>

#include "artifact/tensor.h"

namespace kerf::verify {

class PoisonPattern {
 public:
  PoisonPattern(DType dtype, uint64_t seed);

  void Fill(const TensorSpec& spec, void* data) const;
  // Whether this component (of the dtype given at construction) holds the pattern.
  [[nodiscard]] bool Matches(const void* component) const;

 private:
  uint64_t word_;  // its first bytes are the pattern of one component
  uint32_t bytes_;
};

}  // namespace kerf::verify
