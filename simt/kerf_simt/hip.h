// What hipcc gives a source before its first line: kerf compiles HIP candidates with -include
// kerf_simt/hip.h.
#pragma once

#define KERF_SIMT_HIP 1
#if !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif

#include "kerf_simt/cuda.h"
#include "kerf_simt/hip_names.h"
#include "kerf_simt/hip_vectors.h"

#if !defined(KERF_SIMT_TORCH)
#define __HIPCC__ 1
#endif
