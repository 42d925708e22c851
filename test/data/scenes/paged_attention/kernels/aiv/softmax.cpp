#include <cstdint>

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
  Softmax(args[0], args[1], args[2], args[3], /* scale: */ args[4]);
}
