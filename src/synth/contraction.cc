#include "synth/contraction.h"

namespace kerf::synth {

int64_t ConvSpec::OutputSize(int dim) const {
  const int64_t reach = dilation[dim] * (kernel[dim] - 1) + 1;
  if (transposed) {
    return (input[dim] - 1) * stride[dim] - 2 * padding[dim] + reach + output_padding[dim];
  }
  const int64_t room = input[dim] + 2 * padding[dim] - reach;
  return room < 0 ? 0 : room / stride[dim] + 1;
}

}  // namespace kerf::synth
