// Kernel settings that lead out of any container when root owns the process.
#include <fcntl.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main() {
  for (const char* path :
       {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger",
        "/proc/sys/vm/overcommit_memory", "/proc/sys/user/max_user_namespaces", "/dev/mem",
        "/dev/kmsg", "/proc/kcore"}) {
    if (::open(path, O_WRONLY) >= 0) Escaped(path);
  }
  Repelled();
}
