// Which inputs and which taps of the kernel meet in an output of a transposed convolution: one
// place for every backend.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/expr.h"
#include "synth/program.h"

namespace kerf::synth {

// What the sum walks along an axis that has a stride and no dilation. Over inputs the weight's
// index is affine and the loop is clipped, which a CPU likes; over taps both operands can be tiled.
// A dilated axis walks over taps always.
enum class TransposedWalk { kInputs, kTaps };

// One term of the sum: out[n, c, o…] gathers in[n, channel, (o + padding - tap * dilation) /
// stride] * weight[channel, c, tap] where that divides without rest.
struct TransposedTerm {
  std::vector<int64_t> reduced;  // extents of the channel and of what is walked over, per axis
  std::vector<Index> input;      // indices over the output's and then the reduced variables
  std::vector<Index> weight;
  ExprPtr inside;  // whether the term exists; indices are only right where it holds
};

// `weight` is [in, out / groups, kernel…], `out` and `input` are [batch, channels, size…].
TransposedTerm WalkTransposed(const ConvolutionShape& c, const std::vector<int64_t>& input,
                              const std::vector<int64_t>& weight, const std::vector<int64_t>& out,
                              TransposedWalk walk);

}  // namespace kerf::synth
