// Fills the folder argv[1] with files of 1 MiB.
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

int main(int, char** argv) {
  const std::vector<char> block(1 << 20, 'x');
  for (int i = 0;; ++i) {
    const std::string path = std::string(argv[1]) + "/" + std::to_string(i);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || ::write(fd, block.data(), block.size()) < 0) ::usleep(1000);
    ::close(fd);
  }
}
