// Reads a file of the caller's, and the usual places where keys lie.
#include <dirent.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::fopen(argv[i], "r") != nullptr) Escaped(argv[i]);
  }
  for (const char* path : {"/root", "/home", "/var", "/run", "/sys", "/oldroot", "/mnt"}) {
    if (::opendir(path) != nullptr) Escaped(path);
  }
  Repelled();
}
