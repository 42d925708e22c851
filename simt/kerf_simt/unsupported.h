// Words for things the emulator does not have: using one is a compile error that says so.
#pragma once

#define KERF_SIMT_MISSING(name, what)                 \
  template <typename... A>                            \
  inline int name(A...) {                             \
    static_assert(sizeof...(A) > 999, "simt: " what); \
    return 0;                                         \
  }

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
KERF_SIMT_MISSING(tex1Dfetch, "textures are not emulated; read the tensor through a pointer")
KERF_SIMT_MISSING(tex1D, "textures are not emulated; read the tensor through a pointer")
KERF_SIMT_MISSING(tex2D, "textures are not emulated; read the tensor through a pointer")
KERF_SIMT_MISSING(tex3D, "textures are not emulated; read the tensor through a pointer")
KERF_SIMT_MISSING(surf2Dread, "surfaces are not emulated; read the tensor through a pointer")
KERF_SIMT_MISSING(surf2Dwrite, "surfaces are not emulated; write the tensor through a pointer")
KERF_SIMT_MISSING(cudaCreateTextureObject,
                  "textures are not emulated; read the tensor through a pointer")
KERF_SIMT_MISSING(cudaLaunchKernelEx,
                  "cudaLaunchKernelEx (clusters, attributes) is not emulated; use <<<…>>>")
KERF_SIMT_MISSING(cudaLaunchKernelExC,
                  "cudaLaunchKernelExC (clusters, attributes) is not emulated; use <<<…>>>")
KERF_SIMT_MISSING(cudaGraphLaunch, "CUDA graphs are not emulated")
KERF_SIMT_MISSING(cudaStreamBeginCapture, "CUDA graphs are not emulated")
#undef KERF_SIMT_MISSING
