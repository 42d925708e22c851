// Types a command into the terminal kerf was started from.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::open("/dev/tty", O_RDWR) >= 0) Escaped("/dev/tty");
  // The upper half of the request is ignored by the kernel and must be by the filter.
  if (::ioctl(0, TIOCSTI | 0x100000000UL, "x") == 0) Escaped("TIOCSTI");
  Repelled();
}
