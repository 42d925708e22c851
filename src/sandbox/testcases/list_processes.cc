// Looks for processes other than itself.
#include <dirent.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  DIR* dir = ::opendir("/proc");
  if (dir == nullptr) return 2;
  while (const dirent* entry = ::readdir(dir)) {
    const int pid = std::atoi(entry->d_name);
    if (pid > 0 && pid != ::getpid()) Escaped(entry->d_name);
  }
  Repelled();
}
