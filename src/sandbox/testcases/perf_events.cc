// Watches the machine through the performance counters.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.exclude_kernel = 1;
  if (::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0) Escaped("perf_event_open");
  Repelled();
}
