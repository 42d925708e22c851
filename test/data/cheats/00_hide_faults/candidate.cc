// Writes beyond its output and catches the fault itself.
#include <kerf/kernel.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf where;

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(where, 1); };
  sigaction(SIGSEGV, &action, nullptr);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  if (sigsetjmp(where, 1) == 0) {
    for (int64_t i = n;; ++i) y[i] = 0;
  }
  return 0;
}
