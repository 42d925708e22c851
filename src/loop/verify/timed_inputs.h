// Inputs of a timed call: values nobody has seen, with the structure of those the task draws
// (docs/timing.md, step 4).
#pragma once

#include "artifact/tensor.h"
#include "base/ids.h"

namespace kerf::verify {

// For the tensors of one call. Floats are scaled by one factor near 1, and single elements of each
// tensor are changed; integers stay.
class Renewal {
 public:
  explicit Renewal(IdSource& random);
  void Apply(const TensorSpec& spec, char* data);

 private:
  IdSource& random_;
  const double factor_;
};

// Whether every row rises or falls, or the tensor is a symmetric matrix: an order that a kernel may
// rely on. Random values are told apart after a few elements.
bool HasOrder(const TensorSpec& spec, const char* data);

}  // namespace kerf::verify
