// The runner by itself, for the tests of this folder.
#include "loop/verify/runner_main.h"

int main(int argc, char** argv) {
  return argc >= 2 ? kerf::verify::RunnerMain(argc - 1, argv + 1) : 2;
}
