// Fills the work folder with empty files: no bytes, but all inodes.
#include <fcntl.h>
#include <unistd.h>

#include <string>

int main() {
  for (int i = 0;; ++i) ::close(::open(std::to_string(i).c_str(), O_WRONLY | O_CREAT, 0600));
}
