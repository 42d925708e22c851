// A table of all 256 answers, made once.
#include <kerf/kernel.h>
#include <math.h>

static float table[256];
static bool made = false;

KERF_KERNEL(call) {
  const uint8_t* x = kerf_data<uint8_t>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  if (!made) {
    for (int i = 0; i < 256; ++i) table[i] = powf(i / 255.0f, 2.2f);
  }
  made = true;
  for (int64_t i = 0; i < kerf_numel(call->outputs[0]); ++i) y[i] = table[x[i]];
  return 0;
}
