// Reads the caller's key ring, which no namespace hides.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::syscall(SYS_keyctl, 0, -4, 0) >= 0) Escaped("keyctl");
  Repelled();
}
