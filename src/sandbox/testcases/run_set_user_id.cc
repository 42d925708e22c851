// Looks for capabilities and for whether a set-user-id program would give some.
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) Escaped("no_new_privs is off");
  struct statvfs info {};
  if (::statvfs("/usr/bin", &info) == 0 && (info.f_flag & ST_NOSUID) == 0) Escaped("nosuid is off");
  if (::setuid(0) == 0 || ::getuid() == 0 || ::geteuid() == 0) Escaped("root");
  std::FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
    if (std::strncmp(line, "Cap", 3) == 0 && std::strtoull(line + 7, nullptr, 16) != 0)
      Escaped(line);
  }
  Repelled();
}
