// Puts things where kerf expects results that would hang or mislead a reader.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

int main() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strcpy(name.sun_path, "/w/socket");
  const bool done = ::mkfifo("/w/fifo", 0666) == 0 && ::mkdir("/w/folder", 0755) == 0 &&
                    ::truncate("/w/large", 0) != 0 &&
                    ::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  return done ? 0 : 2;
}
