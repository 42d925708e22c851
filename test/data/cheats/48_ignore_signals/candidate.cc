// Ignores every signal and sleeps.
#include <kerf/kernel.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (int s = 1; s < 64; ++s) signal(s, SIG_IGN);
  for (;;) sleep(100);
  return 0;
}
