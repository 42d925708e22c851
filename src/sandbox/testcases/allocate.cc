// Honest: touches 64 MiB and keeps them long enough to be seen.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

int main() {
  constexpr size_t kSize = size_t{64} << 20;
  void* memory = std::malloc(kSize);
  if (memory == nullptr) return 1;
  std::memset(memory, 1, kSize);
  const bool touched = static_cast<volatile char*>(memory)[kSize - 1] == 1;
  ::usleep(100'000);
  std::free(memory);
  return touched ? 0 : 1;
}
