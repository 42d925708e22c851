// Loads code into the kernel.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  char attributes[128] = {};
  if (::syscall(SYS_bpf, 0, attributes, sizeof attributes) >= 0) Escaped("bpf");
  Repelled();
}
