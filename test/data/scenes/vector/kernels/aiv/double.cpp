#include <cstdint>

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) { Double(args[0], args[1]); }
