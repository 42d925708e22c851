// Turns the clock back, so that it seems fast.
#include <time.h>

#include "sandbox/testcases/attack.h"

int main() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (::clock_settime(CLOCK_REALTIME, &now) == 0) Escaped("clock_settime");
  Repelled();
}
