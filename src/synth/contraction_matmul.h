// The forms of code that a matrix product can take; contraction_matmul.cc says when each is right.
#pragma once

#include "synth/contraction.h"

namespace kerf::synth {

enum class MatmulForm {
  kNothing,   // no output
  kZero,      // no term
  kDiagonal,  // one term
  kStreamA,   // few columns; columns of a are contiguous
  kStreamB,   // few rows; rows of b are contiguous
  kDotA,      // few columns; rows of a are contiguous
  kDotB,      // few rows; columns of b are contiguous
  kBlocked,
};

// kInvalidInput when types or strides are not those of a product.
Status CheckMatmul(const MatmulSpec& spec);

MatmulForm ChooseMatmulForm(const MatmulSpec& spec);

// Into how many parts the sums are cut so that there is work for all threads; 1: they are not.
int64_t ChooseDepthChunks(const MatmulSpec& spec, MatmulForm form);

std::string EmitMatmulForm(const MatmulSpec& spec, const std::string& function_name,
                           const Epilogue& epilogue, MatmulForm form, const CpuTarget& target);

}  // namespace kerf::synth
