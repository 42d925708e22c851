// The inner loop of a comparison: one tile of candidate elements against the expected ones, several
// at a time where the processor allows it. Differences are exact or rounded once; the statistics of
// candidates up to float32 may be summed in float32 within a tile.
//
// A kernel does the same for each element and leaves whatever needs thought to its caller: it
// marks elements beyond their budget, and it lists the ones whose error is large enough to matter
// for the tail statistics. NaN and infinity are always in both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "artifact/tensor.h"

namespace kerf::verify {

constexpr size_t kTileElements = 4096;
// All elements, those clearly smaller than the typical one, those far smaller (budget.h).
constexpr size_t kClassCount = 3;

// A double has that many; as indices they are biased, as in its bits.
constexpr size_t kExponents = 2048;

// The budget of an element whose expected magnitude is m: relative * m + floors[exponent of m].
struct ElementLimits {
  double relative = 0;
  const double* floors = nullptr;  // kExponents of them
  std::array<double, kClassCount - 1> class_below{};
  // A power of two that brings the errors which matter near 1: the squares of what is far larger or
  // smaller would not fit a double.
  double error_scale = 1;
  // Hints for speed. Most magnitudes have exponents from here to kWindow - 2 above it: their floors
  // are kept in registers.
  uint32_t window_begin = 0;
  // As error_scale, for the smallest class: float32 holds less.
  double tiny_scale = 1;
};
// One floor of the window is for zero and denormals.
constexpr uint32_t kWindow = 32;

struct TileSums {
  double max_abs = 0;
  double sum_abs = 0;
  // By class; of finite differences only, after multiplying with error_scale.
  std::array<double, kClassCount> sum_squares{};

  void Add(const TileSums& other);
};

struct TileFindings {
  bool any_beyond = false;
  std::array<uint64_t, kTileElements / 64> beyond{};  // one bit for each element
  size_t notable_count = 0;
  std::array<uint16_t, kTileElements + 16>
      notable{};  // indices, ascending; room for a whole vector
};

struct Tile {
  const void* candidate = nullptr;
  const void* expected = nullptr;
  // Magnitudes to take the budget from, where they are not |expected|: complex elements.
  const double* magnitude = nullptr;
  size_t count = 0;  // at most kTileElements
};

// Adds to `sums`, overwrites `findings`. Notable is what exceeds notable_ratio times its budget.
using TileKernel = void (*)(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                            TileSums& sums, TileFindings& findings);

enum class Simd { kPortable, kAvx2, kAvx512 };
// The best this processor has.
Simd BestSimd();

// A kernel that reads these two types as they are, or null: then the caller decodes both to double
// first. There is always one for two float64.
TileKernel FindTileKernel(DType candidate, DType expected, Simd simd);

double FloorOf(const ElementLimits& limits, double magnitude);
inline double BudgetOf(const ElementLimits& limits, double magnitude) {
  return limits.relative * magnitude + FloorOf(limits, magnitude);
}

// For the kernels: the elements from `begin`, one by one, of a tile that holds doubles.
void MeasureOneByOne(const double* candidate, const double* expected, const double* magnitude,
                     size_t begin, size_t count, const ElementLimits& limits, double notable_ratio,
                     TileSums& sums, TileFindings& findings);
TileKernel FindAvx2Kernel(DType candidate, DType expected);
TileKernel FindAvx512Kernel(DType candidate, DType expected);

}  // namespace kerf::verify
