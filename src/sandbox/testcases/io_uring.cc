// Makes system calls that no filter sees.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  char parameters[256] = {};
  if (::syscall(SYS_io_uring_setup, 4, parameters) >= 0) Escaped("io_uring_setup");
  if (errno != ENOSYS) return 2;
  Repelled();
}
