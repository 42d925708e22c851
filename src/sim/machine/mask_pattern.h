// The columns that a MaskPattern of an instruction keeps or fills.
#pragma once

#include <cstdint>

namespace kerf::sim {

struct MaskPlaces {
  int64_t first, step;
};
// By MaskPattern's numbers; 7 is all of them.
inline MaskPlaces PlacesOf(int64_t pattern) {
  constexpr MaskPlaces kPlaces[] = {{0, 1}, {0, 2}, {1, 2}, {0, 4}, {1, 4}, {2, 4}, {3, 4}, {0, 1}};
  return kPlaces[pattern & 7];
}

}  // namespace kerf::sim
