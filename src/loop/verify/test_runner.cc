// The runner by itself, for the tests of this folder.
#include "loop/verify/runner_main.h"

// In a sanitized build: looking for leaks at exit would trace the process, which the sandbox
// forbids.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT

int main(int argc, char** argv) {
  return argc >= 2 ? kerf::verify::RunnerMain(argc - 1, argv + 1) : 2;
}
