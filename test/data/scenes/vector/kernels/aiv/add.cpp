#include <cstdint>

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) { Add(args[0], args[1], args[2]); }
