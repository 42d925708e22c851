// Pieces of text that the emitters of contractions share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "synth/contraction.h"

namespace kerf::synth {

// Replaces every @NAME@ of a template. A placeholder that stands alone on its line takes as many
// lines as its text has, each indented like the placeholder, and the line goes away when the text
// is empty.
std::string Fill(const std::string& text, const std::map<std::string, std::string>& values);

// "const float*", "const uint16_t*" (float16, bfloat16).
std::string PointerType(DType dtype);
// "float": the C++ type a sum of `dtype` is kept in.
std::string ElementType(DType dtype);
// "tiles::FromHalf(x)": an element of `dtype` as a value of the accumulation type.
std::string Converted(DType dtype, DType accumulate, const std::string& element);

// Text of element (row, col) of an operand in batch `batch`, converted to the accumulation type
// `Sum`.
std::string OperandElement(const Operand& operand, const std::vector<int64_t>& batch_sizes,
                           DType accumulate, const std::string& pointer, const std::string& row,
                           const std::string& col);

// kInvalidInput when a parameter has a name that the emitted functions use themselves.
Status CheckParameters(const Epilogue& epilogue);

// kInvalidInput when sizes, groups or types are not those of a convolution.
Status CheckConv(const ConvSpec& spec);

bool CanBeElement(DType dtype);
bool CanBeAccumulated(DType dtype);

// ", const float* bias, float* y" and ", bias, y".
std::string DeclaredParameters(const std::vector<Parameter>& parameters);
std::string PassedParameters(const std::vector<Parameter>& parameters);

// Offset of the linear index `index` over dimensions `sizes` that have `strides`: "batch * 64", or
// with divisions where the dimensions do not collapse into one.
std::string OffsetText(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                       const std::string& index);

// "(col / 56)", "(col % 56)": the coordinates of a linear index.
std::vector<std::string> Coordinates(const std::vector<int64_t>& sizes, const std::string& index);

int64_t CeilDiv(int64_t value, int64_t by);
int64_t Product(const std::vector<int64_t>& sizes);
std::string Number(int64_t value);

}  // namespace kerf::synth
