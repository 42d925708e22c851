// What the text of a kernel source says about its arguments, without compiling it.
#pragma once

#include <string>
#include <string_view>

#include "artifact/replay_kernel.h"

namespace kerf::kernel {

// The text with comments, string and character literals and `#if 0` blocks blanked; as long as
// before, with the same lines.
std::string CodeOnly(std::string_view text);

KernelFacts ScanKernel(std::string_view text);

}  // namespace kerf::kernel
