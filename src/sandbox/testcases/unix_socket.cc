// Connects to sockets of the host: a path (argv[1]) and an abstract name (argv[2]).
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

#include "sandbox/testcases/attack.h"

void Try(const char* name, bool abstract) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const size_t skip = abstract ? 1 : 0;
  std::strncpy(to.sun_path + skip, name, sizeof to.sun_path - 2);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + skip +
                                           std::strlen(name) + (abstract ? 0 : 1));
  if (::connect(fd, reinterpret_cast<sockaddr*>(&to), size) == 0) Escaped(name);
}

int main(int, char** argv) {
  Try(argv[1], false);
  Try(argv[2], true);
  Repelled();
}
