// The forms of code that a matrix product can take; contraction_matmul.cc says when each is right.
#pragma once

#include <map>
#include <string>

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

// ---- for the files of the forms

// What the placeholders of a template stand for; those that every form has are set by
// EmitMatmulForm.
using FormValues = std::map<std::string, std::string>;

// Text of one element of an operand, converted.
std::string ProductElement(const MatmulSpec& spec, const Operand& operand,
                           const std::string& pointer, const std::string& row,
                           const std::string& col);

// The emitted function that hands finished sums to the epilogue.
extern const char* const kStoreSums;

std::string EmitBlocked(const MatmulSpec& spec, FormValues values, const CpuTarget& target);
// Stream, or dot products; `short_is_a` tells which operand has few rows (columns).
std::string EmitNarrow(const MatmulSpec& spec, FormValues values, bool short_is_a, bool dot);

}  // namespace kerf::synth
