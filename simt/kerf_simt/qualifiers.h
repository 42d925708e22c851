// The words CUDA and HIP add to C++, as far as a macro can stand for them. `__shared__`, `<<<…>>>`
// and
// `__noinline__` cannot be macros (libstdc++ writes __attribute__((__noinline__))): kerf's rewriter
// replaces them before the compiler sees the source.
#pragma once

#if !defined(KERF_SIMT_WARP)
#if defined(KERF_SIMT_HIP)
#define KERF_SIMT_WARP 64
#else
#define KERF_SIMT_WARP 32
#endif
#endif

#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ \
  inline  // not always_inline: GCC refuses that for a function whose address is taken
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...) _Pragma("GCC error \"simt: clusters are not emulated\"")

#define KERF_SIMT_INLINE inline __attribute__((always_inline))
// In the runtime's objects and in the candidate, never between two candidates in one process.
#define KERF_SIMT_HIDDEN __attribute__((visibility("hidden")))

#if !defined(__clang__)
#define __builtin_assume(condition) ((void)0)
#endif
