#include "base/check.h"

#include <unistd.h>

#include <cstdio>

namespace kerf {

void CheckFailed(const char* file, int line, const char* condition, const char* sentence) {
  std::fprintf(stderr, "kerf: bug: %s (%s) at %s:%d. Please report it with the command you ran.\n",
               sentence, condition, file, line);
  // _exit: destructors may run on the state that was just found broken.
  _exit(70);
}

}  // namespace kerf
