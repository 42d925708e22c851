// Looks for descriptors that someone forgot to close.
#include <fcntl.h>

#include "sandbox/testcases/attack.h"

int main() {
  for (int fd = 3; fd < 4096; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) Escaped("a descriptor was inherited");
  }
  Repelled();
}
