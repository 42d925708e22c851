// Makes a node for the first disk and reads it.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main() {
  for (const char* path : {"/tmp/disk", "/w/disk"}) {
    if (::mknod(path, S_IFBLK | 0600, makedev(8, 0)) == 0) Escaped(path);
    if (::mknod(path, S_IFCHR | 0600, makedev(1, 1)) == 0) Escaped(path);
  }
  Repelled();
}
