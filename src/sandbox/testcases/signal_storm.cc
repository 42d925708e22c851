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
      const bool deadly = signal == SIGKILL || signal == SIGSTOP || signal == 32 || signal == 33;
      if (!deadly) ::kill(-1, signal);  // 32 and 33 are libc's own and cannot be ignored
      ::kill(1, signal);
    }
  }
}
