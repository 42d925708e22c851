// Text of CUDA C for matrix products and convolutions, the counterpart of contraction.h.
//
// A caller collects the emitted kernels with their launchers, puts CudaContractionPrelude() of them
// all in front, and calls
//
//   static cudaError_t NAME(const A* a, const B* b, PARAMETERS, cudaStream_t stream)
//
// with device pointers. Specs and epilogues are those of contraction.h; the text of an epilogue is
// device code and runs once for every output element. Elements of float16 and bfloat16 are `const
// uint16_t*`.
//
// float16 and bfloat16 products with float32 sums use tensor cores where the target has them
// (mma.sync, compute capability 8.0 and later); everything else is computed with fused
// multiply-adds in the accumulation type, never in TF32.
#pragma once

#include <string>

#include "base/result.h"
#include "synth/contraction.h"

namespace kerf::synth {

struct CudaTarget {
  int processors = 132;      // multiprocessors: tiles are chosen so that all have work
  bool tensor_cores = true;  // mma.sync, ldmatrix and cp.async may be used
  // Tensor-core instructions are spelled as shuffles, for an emulator without inline PTX. Slow.
  bool emulated = false;
};

// What `functions`, the emitted text of a source, uses. Inline PTX only where tensor cores are
// used, so that other sources run on an emulator too.
std::string CudaContractionPrelude(const std::string& functions, const CudaTarget& target = {});

Result<std::string> EmitCudaMatmul(const MatmulSpec& spec, const std::string& function_name,
                                   const Epilogue& epilogue, const CudaTarget& target = {});

// As a product of weights with the image's columns, which are read in place.
Result<std::string> EmitCudaConv(const ConvSpec& spec, const std::string& function_name,
                                 const Epilogue& epilogue, const CudaTarget& target = {});

}  // namespace kerf::synth
