// Makes a 32-bit system call, whose numbers mean something else.
#include "sandbox/testcases/attack.h"

int main() {
#if defined(__x86_64__)
  long result = 20;  // getpid there, writev here
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
  if (result > 0) Escaped("int 0x80");
  Repelled();
#else
  return 77;
#endif
}
