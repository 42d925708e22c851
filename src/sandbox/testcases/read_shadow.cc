// Reads the password file, directly and through ways back to the host's root.
#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main() {
  for (const char* path : {"/etc/shadow", "/../etc/shadow", "/proc/1/root/etc/shadow",
                           "/proc/self/root/etc/shadow", "/proc/self/cwd/../../etc/shadow"}) {
    if (std::fopen(path, "r") != nullptr) Escaped(path);
  }
  Repelled();
}
