#include "synth/program.h"

#include <limits>

#include "base/check.h"

namespace kerf::synth {

int64_t Tensor::numel() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

int64_t Tensor::terms() const {
  int64_t n = 1;
  for (const int64_t extent : reduced) n *= extent;
  return n;
}

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Index FlatIndex(const std::vector<int64_t>& shape, const std::vector<Index>& indices) {
  KERF_CHECK(shape.size() == indices.size(), "an element has one index for each axis");
  const std::vector<int64_t> strides = ContiguousStrides(shape);
  Index flat(0);
  for (size_t i = 0; i < shape.size(); ++i) flat = flat + indices[i] * strides[i];
  return flat;
}

bool InsideShape(const std::vector<int64_t>& shape, const std::vector<Index>& indices) {
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto range = indices[i].Range();
    if (!range.has_value()) continue;
    if (range->least < 0 || range->most >= shape[i]) return false;
  }
  return true;
}

bool SurelyInside(const std::vector<int64_t>& shape, const std::vector<Index>& indices) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!indices[i].Range().has_value()) return false;
  }
  return InsideShape(shape, indices);
}

bool IsArg(Combine combine) { return combine == Combine::kArgMax || combine == Combine::kArgMin; }

namespace {

int64_t Least(DType type) {
  switch (type) {
    case DType::kInt8:
      return std::numeric_limits<int8_t>::min();
    case DType::kInt16:
      return std::numeric_limits<int16_t>::min();
    case DType::kInt32:
      return std::numeric_limits<int32_t>::min();
    case DType::kInt64:
      return std::numeric_limits<int64_t>::min();
    default:
      return 0;
  }
}

int64_t Most(DType type) {
  switch (type) {
    case DType::kBool:
      return 1;
    case DType::kInt8:
      return std::numeric_limits<int8_t>::max();
    case DType::kUInt8:
      return std::numeric_limits<uint8_t>::max();
    case DType::kInt16:
      return std::numeric_limits<int16_t>::max();
    case DType::kInt32:
      return std::numeric_limits<int32_t>::max();
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

ExprPtr Identity(Combine combine, DType type) {
  const bool is_float = IsFloat(type);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Combine::kSum:
    case Combine::kAny:
      return Integer(type, 0);
    case Combine::kProd:
    case Combine::kAll:
      return Integer(type, 1);
    case Combine::kMax:
    case Combine::kArgMax:
    case Combine::kLogSumExp:
      return is_float ? Number(type, -infinity) : Integer(type, Least(type));
    case Combine::kMin:
    case Combine::kArgMin:
      return is_float ? Number(type, infinity) : Integer(type, Most(type));
  }
  return Integer(type, 0);
}

}  // namespace kerf::synth
