// Small device functions that emitted CUDA kernels contain when they need them.
#pragma once

#include <set>
#include <string>

namespace kerf::synth {

// The functions named and all they call, in an order that compiles. A name that is unknown is a
// bug.
std::string CudaHelperText(const std::set<std::string>& names);

}  // namespace kerf::synth
