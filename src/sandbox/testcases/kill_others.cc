// Kills everything it can name: init, the parent, all, and a process of the host (argv[1]).
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

int main(int, char** argv) {
  const pid_t host = std::atoi(argv[1]);
  for (const int signal : {SIGTERM, SIGINT, SIGKILL, SIGSTOP}) {
    ::kill(1, signal);
    ::kill(::getppid(), signal);
    ::kill(host, signal);
    if (signal != SIGSTOP) ::kill(-1, signal);  // not us
  }
  // init is still there to take us for its child, and the test looks whether the host's lives.
  if (::getppid() != 1) Escaped("init is gone");
  Repelled();
}
