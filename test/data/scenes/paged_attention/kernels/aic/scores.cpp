// sij = qi . kj; args[9] in this comment is nobody's slot.
#include <cstdint>

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  auto qi = args[0];
  auto kj = args[1];
  auto sij = args[2];
  Scores(qi, kj, sij);
}
