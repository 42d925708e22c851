// Axes of a reduction, and the moments that variances and norms share.
#pragma once

#include "synth/lowerer.h"

namespace kerf::synth {

// Which axes of a tensor are reduced (all, when `dims` is empty) and what its indices are inside a
// reduction whose own axes are the kept ones.
class Axes {
 public:
  Axes(const Shape& full, const Shape& dims);

  Shape kept;
  Shape reduced;
  Shape with_ones;  // the shape that keepdim gives
  Indices at;       // of an element of the full tensor

  // Those of the kept axes, from indices of all axes.
  [[nodiscard]] Indices KeptOf(const Indices& all) const;

 private:
  Shape full_;
  std::vector<bool> is_reduced_;
};

struct Moments {
  int mean = 0;
  int squares = 0;  // sum of (x - mean)^2
};
Moments MeanAndSquares(Lowerer& l, int id, const Axes& axes);

}  // namespace kerf::synth
