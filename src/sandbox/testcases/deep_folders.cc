// Nests folders deeper than a path can be long, and locks them.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

int main() {
  const std::string name(250, 'd');
  for (int i = 0; i < 100; ++i) {
    if (::mkdir(name.c_str(), 0700) != 0 || ::chdir(name.c_str()) != 0) return 2;
  }
  ::mkdir("locked", 0700);
  ::mkdir("locked/inner", 0700);
  return ::chmod("locked", 0) == 0 ? 0 : 2;
}
