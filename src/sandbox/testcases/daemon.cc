// Leaves a daemon behind that ignores signals, holds the output open and writes a heartbeat.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

int main() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
      const int heart = ::open("/w/heartbeat", O_WRONLY | O_CREAT | O_APPEND, 0600);
      for (;;) {
        (void)!::write(heart, ".", 1);
        ::usleep(1000);
      }
    }
    return 0;
  }
  struct stat info {};
  while (::stat("/w/heartbeat", &info) != 0 || info.st_size == 0) ::usleep(1000);
  return 0;
}
