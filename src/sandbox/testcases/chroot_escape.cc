// The classic: chroot below, climb above.
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  ::mkdir("/tmp/jail", 0700);
  if (::chroot("/tmp/jail") == 0) Escaped("chroot");
  Repelled();
}
