#include "artifact/tensor.h"

#include <array>

namespace kerf {
namespace {

struct DTypeRow {
  const char* name;
  size_t bytes;
};

constexpr std::array<DTypeRow, kDTypeCount> kDTypeRows = {{{"bool", 1},
                                                           {"int8", 1},
                                                           {"int16", 2},
                                                           {"int32", 4},
                                                           {"int64", 8},
                                                           {"uint8", 1},
                                                           {"uint16", 2},
                                                           {"uint32", 4},
                                                           {"uint64", 8},
                                                           {"float8_e4m3fn", 1},
                                                           {"float8_e5m2", 1},
                                                           {"float16", 2},
                                                           {"bfloat16", 2},
                                                           {"float32", 4},
                                                           {"float64", 8},
                                                           {"complex64", 8},
                                                           {"complex128", 16}}};

const DTypeRow& Row(DType dtype) { return kDTypeRows[static_cast<size_t>(dtype)]; }

std::string ListText(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

}  // namespace

const char* DTypeName(DType dtype) { return Row(dtype).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 0; i < kDTypeRows.size(); ++i) {
    if (name == kDTypeRows[i].name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

size_t DTypeBytes(DType dtype) { return Row(dtype).bytes; }

bool IsFloat(DType dtype) { return dtype >= DType::kFloat8E4M3 && dtype <= DType::kFloat64; }

bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

bool IsInteger(DType dtype) { return dtype >= DType::kInt8 && dtype <= DType::kUInt64; }

int64_t TensorSpec::numel() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

std::string TensorSpec::ToString() const { return DTypeName(dtype) + ListText(shape); }

bool IsSound(const TensorSpec& spec) {
  // Room for the largest element: bytes() must fit as well.
  constexpr int64_t kMost = INT64_MAX / 16;
  int64_t product = 1;  // of the sizes that are not 0: numel() must not overflow on its way to 0
  for (const int64_t size : spec.shape) {
    if (size < 0) return false;
    if (size > 0 && product > kMost / size) return false;
    if (size > 0) product *= size;
  }
  return true;
}

std::string CoordinatesText(const TensorSpec& spec, int64_t flat_index) {
  std::vector<int64_t> coordinates(spec.shape.size(), 0);
  for (size_t i = spec.shape.size(); i-- > 0;) {
    if (spec.shape[i] == 0) continue;
    coordinates[i] = flat_index % spec.shape[i];
    flat_index /= spec.shape[i];
  }
  return ListText(coordinates);
}

}  // namespace kerf
