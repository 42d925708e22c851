// Spins in short-lived processes, each far below the limit.
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main() {
  for (;;) {
    if (::fork() == 0) {
      while (::clock() < CLOCKS_PER_SEC / 20) {
      }
      ::_exit(0);
    }
    ::wait(nullptr);
  }
}
