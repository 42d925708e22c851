// Small C++ functions that emitted kernels contain when they need them: vectorisable
// transcendentals, NaN-correct extremes, half types. The text is data; a kernel holds only what it
// uses.
#pragma once

#include <set>
#include <string>

namespace kerf::synth {

// The functions named and all they call, in an order that compiles. A name that is unknown is a
// bug.
std::string HelperText(const std::set<std::string>& names);

}  // namespace kerf::synth
