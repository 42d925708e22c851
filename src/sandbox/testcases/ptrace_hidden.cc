// The same from a grandchild, while the program itself ends as if nothing had happened a bit later.
#include <sys/ptrace.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::fork() == 0) {
    if (::fork() == 0) ::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr);
    return 0;
  }
  ::usleep(300'000);
  return 0;
}
