// Ignores all that can be ignored and waits.
#include <signal.h>
#include <unistd.h>

int main() {
  for (int signal = 1; signal < 65; ++signal) ::signal(signal, SIG_IGN);
  for (;;) ::pause();
}
