#include "loop/verify/tile_kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>

namespace kerf::verify {
namespace {

void PortableKernel(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                    TileSums& sums, TileFindings& findings) {
  findings.any_beyond = false;
  findings.notable_count = 0;
  findings.beyond.fill(0);
  MeasureOneByOne(static_cast<const double*>(tile.candidate),
                  static_cast<const double*>(tile.expected), tile.magnitude, 0, tile.count, limits,
                  notable_ratio, sums, findings);
}

#if defined(__x86_64__)
// clang 14's __builtin_cpu_supports does not know this one.
bool HasF16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

void TileSums::Add(const TileSums& other) {
  max_abs = std::max(max_abs, other.max_abs);
  sum_abs += other.sum_abs;
  for (size_t i = 0; i < kClassCount; ++i) sum_squares[i] += other.sum_squares[i];
}

double FloorOf(const ElementLimits& limits, double magnitude) {
  return limits.floors[std::bit_cast<uint64_t>(magnitude) >> 52 & (kExponents - 1)];
}

void MeasureOneByOne(const double* candidate, const double* expected, const double* magnitude,
                     size_t begin, size_t count, const ElementLimits& limits, double notable_ratio,
                     TileSums& sums, TileFindings& findings) {
  for (size_t i = 0; i < count; ++i) {
    const size_t at = begin + i;
    const double error = std::fabs(candidate[i] - expected[i]);
    const double size = magnitude != nullptr ? magnitude[i] : std::fabs(expected[i]);
    const bool finite = std::isfinite(error);
    const double budget = BudgetOf(limits, size);
    if (!finite || error > budget) {
      findings.any_beyond = true;
      findings.beyond[at / 64] |= uint64_t{1} << (at % 64);
    }
    if (!finite || error > notable_ratio * budget) {
      findings.notable[findings.notable_count++] = static_cast<uint16_t>(at);
    }
    if (!finite) continue;
    const double square = std::pow(error * limits.error_scale, 2);
    sums.max_abs = std::max(sums.max_abs, error);
    sums.sum_abs += error;
    sums.sum_squares[0] += square;
    for (size_t c = 1; c < kClassCount; ++c) {
      if (size < limits.class_below[c - 1]) sums.sum_squares[c] += square;
    }
  }
}

Simd BestSimd() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!HasF16c()) return Simd::kPortable;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return Simd::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Simd::kAvx2;
#endif
  return Simd::kPortable;
}

TileKernel FindTileKernel(DType candidate, DType expected, Simd simd) {
  if (simd == Simd::kAvx512) return FindAvx512Kernel(candidate, expected);
  if (simd == Simd::kAvx2) return FindAvx2Kernel(candidate, expected);
  const bool doubles = candidate == DType::kFloat64 && expected == DType::kFloat64;
  return doubles ? PortableKernel : nullptr;
}

}  // namespace kerf::verify
