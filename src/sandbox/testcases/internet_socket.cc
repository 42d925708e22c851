// Connects to a port of the host (argv[1]) and to the world; tries families no namespace contains.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <initializer_list>

#include "sandbox/testcases/attack.h"

void Try(const char* address, int port, int type) {
  const int fd = ::socket(AF_INET, type, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<unsigned short>(port));
  ::inet_pton(AF_INET, address, &to.sin_addr);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) Escaped(address);
}

int main(int, char** argv) {
  Try("127.0.0.1", std::atoi(argv[1]), SOCK_STREAM);
  Try("127.0.0.1", std::atoi(argv[1]), SOCK_DGRAM);
  Try("192.0.2.1", 53, SOCK_DGRAM);
  for (const int family : {AF_PACKET, AF_VSOCK, AF_ALG, AF_BLUETOOTH, AF_RDS, AF_CAN, AF_XDP}) {
    if (::socket(family, SOCK_DGRAM, 0) >= 0 || ::socket(family, SOCK_STREAM, 0) >= 0) {
      Escaped("a strange socket");
    }
  }
  Repelled();
}
