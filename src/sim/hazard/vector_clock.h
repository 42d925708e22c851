// How much of each pipe of a block is known to be complete.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace kerf::sim {

// Per core of a block: the scalar unit, six pipes, and the scalar unit's stores, which the pipes do
// not see just because they were issued later.
inline constexpr size_t kLanes = 8;
inline constexpr size_t kScalarStores = 7;
inline constexpr size_t kClockSize = 3 * kLanes;

struct VectorClock {
  std::array<uint32_t, kClockSize> at{};

  void Join(const VectorClock& other) {
    for (size_t i = 0; i < kClockSize; ++i) at[i] = std::max(at[i], other.at[i]);
  }
};

}  // namespace kerf::sim
