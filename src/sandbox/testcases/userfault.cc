// Stops the kernel in the middle of a copy, the usual help in winning races against it.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::syscall(SYS_userfaultfd, 1) >= 0) Escaped("userfaultfd");
  Repelled();
}
