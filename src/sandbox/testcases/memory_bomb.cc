// Takes memory and touches it until none is left.
#include <sys/mman.h>

#include <cstring>

int main() {
  constexpr size_t kStep = size_t{8} << 20;
  for (;;) {
    void* memory =
        ::mmap(nullptr, kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) std::memset(memory, 1, kStep);
  }
}
