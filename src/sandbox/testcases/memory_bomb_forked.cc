// Many processes, each far below the limit, together above it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

int main() {
  constexpr size_t kSize = size_t{40} << 20;
  for (int i = 0; i < 16; ++i) {
    if (::fork() == 0) {
      void* memory =
          ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(memory, 1, kSize);
      for (;;) ::pause();
    }
  }
  for (;;) ::pause();
}
