// How a fuzzer says that a property does not hold: abort(), which libFuzzer reports with the input
// that did it.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace kerf {

inline void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace kerf
