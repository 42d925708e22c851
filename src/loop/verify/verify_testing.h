// Tensors for the tests of this folder.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "loop/verify/compare.h"
#include "loop/verify/element.h"

namespace kerf::verify {

// A tensor that owns its bytes.
struct OwnedTensor {
  TensorSpec spec;
  std::vector<unsigned char> bytes;

  OwnedTensor(DType dtype, std::vector<int64_t> shape)
      : spec{dtype, std::move(shape)}, bytes(spec.bytes()) {}
  OwnedTensor(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values)
      : OwnedTensor(dtype, std::move(shape)) {
    for (size_t i = 0; i < values.size(); ++i) Set(static_cast<int64_t>(i), values[i]);
  }

  // Both count components.
  void Set(int64_t index, double value) { EncodeElement(spec.dtype, value, bytes.data(), index); }
  [[nodiscard]] double Get(int64_t index) const {
    return DecodeElement(spec.dtype, bytes.data(), index);
  }
  [[nodiscard]] TensorView view() const { return {spec, bytes.data()}; }
};

template <typename T>
OwnedTensor Tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  return {dtype, std::move(shape), std::vector<double>(values.begin(), values.end())};
}

inline std::vector<double> Normal(size_t count, uint64_t seed, double scale = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

inline Comparison CompareTo(const OwnedTensor& candidate, const Expected& expected,
                            const PoisonPattern* poison = nullptr, int threads = 1) {
  return Compare(candidate.view(), expected, Budget::Make(expected, threads), poison, threads);
}

}  // namespace kerf::verify
