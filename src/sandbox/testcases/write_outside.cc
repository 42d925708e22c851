// Writes everywhere but into the work folder and /tmp. argv[1] is a file of the caller's.
#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main(int, char** argv) {
  const char* host = argv[1];
  for (const char* path : {host, "/kerf-was-here", "/etc/kerf-was-here", "/usr/kerf-was-here",
                           "/dev/kerf-was-here", "/proc/kerf-was-here", "/program/kerf-was-here"}) {
    if (::open(path, O_WRONLY | O_CREAT, 0666) >= 0) Escaped(path);
  }
  if (::open("/etc/passwd", O_WRONLY) >= 0) Escaped("/etc/passwd");
  if (::unlink("/etc/passwd") == 0) Escaped("unlink");
  Repelled();
}
