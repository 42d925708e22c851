// Makes the read-only view writable.
#include <sys/mount.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0) Escaped("remount");
  Repelled();
}
