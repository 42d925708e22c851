// How a test program tells what happened: exit code 0 when the attack was repelled, 1 and a line on
// stderr when it got through. Programs that the sandbox must end do not come to that.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

[[noreturn]] inline void Escaped(const char* what) {
  std::fprintf(stderr, "escaped: %s\n", what);
  std::exit(1);
}

[[noreturn]] inline void Repelled() { std::exit(0); }
