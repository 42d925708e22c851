// Opens files without end.
#include <fcntl.h>

#include "sandbox/testcases/attack.h"

int main() {
  for (int i = 0; i < 100'000; ++i) {
    if (::open("/dev/null", O_RDONLY) < 0) {
      if (errno != EMFILE) return 2;
      Repelled();
    }
  }
  Escaped("no limit on open files");
}
