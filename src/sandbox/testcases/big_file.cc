// One file without end.
#include <fcntl.h>
#include <unistd.h>

#include <vector>

int main() {
  const std::vector<char> block(1 << 20, 'x');
  const int fd = ::open("big", O_WRONLY | O_CREAT, 0600);
  while (::write(fd, block.data(), block.size()) > 0) {
  }
  return 0;
}
