// What nvcc gives a source before its first line: kerf compiles candidates with -include
// kerf_simt/cuda.h.
#pragma once

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kerf_simt/atomics.h"
#include "kerf_simt/device_math.h"
#include "kerf_simt/launch.h"
#include "kerf_simt/qualifiers.h"
#include "kerf_simt/runtime.h"
#include "kerf_simt/runtime_api.h"
#include "kerf_simt/shared.h"
#include "kerf_simt/thread.h"
#include "kerf_simt/types.h"
#include "kerf_simt/unsupported.h"

// Last: standard and torch headers read before must not take this for a device compiler.
// __CUDA_ARCH__ stays undefined, so that sources fall back from what needs a certain device.
#if !defined(KERF_SIMT_HIP) && !defined(KERF_SIMT_TORCH)
#define __CUDACC__ 1
#define __NVCC__ 1
#endif
