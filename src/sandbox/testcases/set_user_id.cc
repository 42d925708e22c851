// Leaves a set-user-id program of the caller's behind, by every call that can make one.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main() {
  const int plain = ::open("plain", O_WRONLY | O_CREAT, 0755);
  ::chmod("plain", 04755);
  ::fchmod(plain, 02755);
  ::fchmodat(AT_FDCWD, "plain", 06755, 0);
  ::syscall(452, AT_FDCWD, "plain", 04755, 0);  // fchmodat2
  ::close(::open("opened", O_WRONLY | O_CREAT, 04755));
  ::mknod("made", S_IFREG | 04755, 0);
  for (const char* path : {"plain", "opened", "made"}) {
    struct stat info {};
    if (::stat(path, &info) == 0 && (info.st_mode & 06000) != 0) Escaped(path);
  }
  Repelled();
}
