// The language's own library.
#include <kerf/kernel.h>
#include <math.h>
#include <algorithm>
#include <cmath>
#include <vector>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  std::vector<float> room(x, x + n);
  std::transform(room.begin(), room.end(), y, [](float v) { return v / (1 + std::exp(-v)); });
  return 0;
}
