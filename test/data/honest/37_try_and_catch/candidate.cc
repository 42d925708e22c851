// Handles an exception of its own.
#include <kerf/kernel.h>
#include <math.h>
#include <new>
#include <stdexcept>
#include <vector>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  try {
    std::vector<float> room(n > 100 ? size_t{1} << 60 : 16);
    y[0] = room[0];
  } catch (const std::length_error&) {
    // No room: in place, then.
  } catch (const std::bad_alloc&) {
  }
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  return 0;
}
