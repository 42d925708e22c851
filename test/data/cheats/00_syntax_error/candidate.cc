// No semicolon.
#include <kerf/kernel.h>

KERF_KERNEL(call) { return 0 }
