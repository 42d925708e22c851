// NVRTC in a process of its own: kerf itself, started in the sandbox as
// `kerf __nvrtc SOURCE OUTPUT ARCH CUDA_INCLUDE KERF_INCLUDE NAME…`.
//
// Writes the device code to OUTPUT and the compiler's words to stderr.
#pragma once

namespace kerf::verify {

constexpr const char* kNvrtcWord = "__nvrtc";

// The words after kNvrtcWord. Returns the exit code: 0 done, 1 the source does not compile, 3 there
// is no NVRTC.
int NvrtcMain(int argc, char** argv);

}  // namespace kerf::verify
