// Elements of every type as double, and what their formats can hold. A complex tensor is twice as
// many elements of its component type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "artifact/tensor.h"

namespace kerf::verify {

// The bytes of a contiguous tensor that somebody else owns; they may be mapped from a file.
struct TensorView {
  TensorSpec spec;
  const void* data = nullptr;
};

// float32 for complex64, float64 for complex128, otherwise the type itself.
DType ComponentType(DType dtype);
// 2 for the complex types, otherwise 1.
int64_t ComponentsOf(DType dtype);

// Of a real float type.
struct FloatFormat {
  int mantissa_bits = 0;  // stored ones
  int min_exponent = 0;   // of the smallest normal number
  double max_finite = 0;
  double overflow = 0;  // the smallest magnitude that rounds to what lies beyond max_finite
  bool has_infinity = true;
  double unit_roundoff = 0;  // half the distance from 1 to the next number
  double smallest = 0;       // smallest positive number
};
// The dtype must be a real float type.
const FloatFormat& FormatOf(DType dtype);

// `index` counts components. Integers beyond 2^53 are rounded; bool gives its byte.
double DecodeElement(DType dtype, const void* data, int64_t index);
void DecodeElements(DType dtype, const void* data, size_t count, double* out);

// Rounds to nearest even. What float8_e4m3fn cannot hold becomes NaN, as in torch; integers are
// clamped to their range and NaN becomes 0.
void EncodeElement(DType dtype, double value, void* data, int64_t index);

}  // namespace kerf::verify
