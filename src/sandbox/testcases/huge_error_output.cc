// Prints errors without end.
#include <cstdio>

int main() {
  for (;;) std::fputs("all work and no play makes a dull kernel\n", stderr);
}
