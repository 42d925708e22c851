// Becomes root of a namespace of its own.
#include <sched.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::unshare(CLONE_NEWUSER) == 0) Escaped("unshare");
  Repelled();
}
