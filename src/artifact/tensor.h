// A tensor without its bytes: element type and shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

enum class DType {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat8E4M3,  // finite only: S.1111.111 is NaN, there is no infinity
  kFloat8E5M2,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};

constexpr size_t kDTypeCount = 17;

const char* DTypeName(DType dtype);  // "float32", "float8_e4m3fn", …: torch's and numpy's words
std::optional<DType> ParseDType(std::string_view name);
size_t DTypeBytes(DType dtype);
bool IsFloat(DType dtype);  // the real ones
bool IsComplex(DType dtype);
bool IsInteger(DType dtype);  // bool is none

struct TensorSpec {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;

  [[nodiscard]] int64_t numel() const;
  [[nodiscard]] uint64_t bytes() const {
    return static_cast<uint64_t>(numel()) * DTypeBytes(dtype);
  }
  // "float32[16, 1024]"
  [[nodiscard]] std::string ToString() const;
  bool operator==(const TensorSpec&) const = default;
};

// False for negative sizes and for products that do not fit: every spec that came from outside is
// asked.
bool IsSound(const TensorSpec& spec);

// "[3, 17]": the coordinates of the flat index of a contiguous tensor.
std::string CoordinatesText(const TensorSpec& spec, int64_t flat_index);

}  // namespace kerf
