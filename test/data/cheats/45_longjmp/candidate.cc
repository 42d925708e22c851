// Jumps out of the call, into a frame that is gone.
#include <kerf/kernel.h>
#include <math.h>
#include <setjmp.h>

static jmp_buf where;
__attribute__((constructor)) static void Set() { (void)setjmp(where); }

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  longjmp(where, 1);
}
