#include <cstdint>

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* slots) { Values(slots[0], slots[1], slots[2]); }
