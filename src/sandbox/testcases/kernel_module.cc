// Loads a kernel module.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::syscall(SYS_finit_module, 0, "", 0) == 0) Escaped("finit_module");
  Repelled();
}
