// Switches off address randomisation and makes data executable.
#include <sys/personality.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::personality(0xffffffff) < 0) return 2;  // asking is honest
  if (::personality(ADDR_NO_RANDOMIZE) >= 0) Escaped("ADDR_NO_RANDOMIZE");
  if (::personality(READ_IMPLIES_EXEC) >= 0) Escaped("READ_IMPLIES_EXEC");
  Repelled();
}
