// Writes a program (a copy of itself) and runs it, wherever it can write.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "sandbox/testcases/attack.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "again") == 0) return 42;
  for (const char* folder : {"/w", "/tmp", "/dev/shm"}) {
    const std::string path = std::string(folder) + "/copy";
    const int from = ::open("/proc/self/exe", O_RDONLY);
    const int to = ::open(path.c_str(), O_WRONLY | O_CREAT, 0755);
    while (::sendfile(to, from, nullptr, 1 << 20) > 0) {
    }
    ::close(to);
    if (::fork() == 0) {
      ::execl(path.c_str(), path.c_str(), "again", nullptr);
      ::_exit(0);
    }
    int status = 0;
    ::wait(&status);
    if (WEXITSTATUS(status) == 42) Escaped(path.c_str());
  }
  Repelled();
}
