// Children that send every signal to everybody, all the time.
#include <signal.h>
#include <unistd.h>

int main() {
  for (int signal = 1; signal < 65; ++signal) ::signal(signal, SIG_IGN);
  for (int i = 0; i < 4; ++i) {
    if (::fork() == 0) break;
  }
  for (;;) {
    for (int signal = 1; signal < 65; ++signal) {
      if (signal != SIGKILL && signal != SIGSTOP) ::kill(-1, signal);
      ::kill(1, signal);
    }
  }
}
