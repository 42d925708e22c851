#include <cstdint>

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  auto block = get_block_idx(args);
#ifdef __DAV_CUBE__
  Cube(block, args[0], args[1], args[2], args[3], args[4], args[6], args[7], args[8]);
#endif
#ifdef __DAV_VEC__
  Vector(block, args[5], args[6], args[7], args[8], args[9], args[10], args[16]);
#endif
}
