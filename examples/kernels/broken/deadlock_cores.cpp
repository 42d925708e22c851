// Broken: the cube waits for the vector cores, which wait for the cube, before either has
// signalled. The arguments are those of attention_step.json; none is used.
#include <cstdint>
#include <pto/pto-inst.hpp>

using namespace pto;

// Between the cube and the vector cores, on signal 5.
constexpr uint64_t kToOther = 1 | 2 << 4 | 5 << 8;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t*) {
  wait_flag_dev(5);
#ifdef __DAV_CUBE__
  ffts_cross_core_sync(PIPE_FIX, kToOther);
#else
  ffts_cross_core_sync(PIPE_MTE3, kToOther);
#endif
}
