// Nests folders deeper than a path can be long, and locks them.
#include <sys/stat.h>
#include <unistd.h>

int main() {
  for (int i = 0; i < 3000; ++i) {
    if (::mkdir("d", 0700) != 0 || ::chdir("d") != 0) return 2;
  }
  ::mkdir("locked", 0700);
  ::mkdir("locked/inner", 0700);
  return ::chmod("locked", 0) == 0 ? 0 : 2;
}
