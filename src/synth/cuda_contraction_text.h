// Pieces that the emitters of CUDA contractions share.
#pragma once

#include <map>
#include <string>

#include "synth/contraction_matmul.h"
#include "synth/cuda_contraction.h"

namespace kerf::synth {

using CudaValues = std::map<std::string, std::string>;

// Text of one element of an operand, converted by device functions.
std::string CudaElement(const MatmulSpec& spec, const Operand& operand, const std::string& pointer,
                        const std::string& row, const std::string& col);

CudaValues CudaMatmulValues(const MatmulSpec& spec, const std::string& name,
                            const Epilogue& epilogue);

// cuda_contraction_mma.cc
std::string TensorCorePrelude(const CudaTarget& target);
bool CanUseTensorCores(const MatmulSpec& spec);
std::string EmitTensorCores(const MatmulSpec& spec, CudaValues values, const CudaTarget& target);

}  // namespace kerf::synth
