#include <cstdint>

constexpr int kIsFirst = 7;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  Update(args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[kIsFirst], args[8]);
}
