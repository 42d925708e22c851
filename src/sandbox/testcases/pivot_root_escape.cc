// Changes the root.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::syscall(SYS_pivot_root, "/tmp", "/tmp") == 0) Escaped("pivot_root");
  Repelled();
}
