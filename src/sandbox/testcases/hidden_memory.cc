// Takes memory that belongs to no process: files in memory and System V segments, never mapped.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <vector>

#include "sandbox/testcases/attack.h"

int main() {
  const std::vector<char> block(8 << 20, 'x');
  const bool segments = ::shmget(IPC_PRIVATE, 4096, 0600) >= 0;
  const int first = ::memfd_create("hidden", 0);
  if (first < 0 && !segments) Repelled();
  for (int i = 0; i < 100; ++i) {
    const int fd = ::memfd_create("hidden", 0);
    if (fd < 0 || ::write(fd, block.data(), block.size()) < 0) break;
  }
  Escaped("800 MiB");
}
