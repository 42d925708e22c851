// Stops, and would never end by itself.
#include <signal.h>

int main() {
  for (;;) ::raise(SIGSTOP);
}
