// One pass over a candidate's elements: statistics, the worst ones, where the wrong ones lie. It
// decides nothing; compare.h does.
#pragma once

#include <cstdint>
#include <functional>

#include "loop/verify/element.h"
#include "loop/verify/poison.h"
#include "loop/verify/tail.h"
#include "loop/verify/tile_kernels.h"
#include "loop/verify/where.h"

namespace kerf::verify {

// Gives `count` components from `begin`: a pointer into a tensor, or `scratch` (room for
// kTileElements of them) after filling it. Called by several threads.
using ElementSource = std::function<const void*(int64_t begin, size_t count, void* scratch)>;
ElementSource SourceOf(const TensorView& view);

struct Measurement {
  Measurement(const TensorSpec& spec, int64_t components) : tail(components), where(spec.shape) {}

  TileSums sums;
  Tail tail;
  Where where;                   // elements that are beyond their budget or wrong otherwise
  int64_t not_finite_wrong = 0;  // components: NaN or infinity where none belongs, or the reverse
  int64_t untouched = 0;         // components that still hold the poison
  bool identical = true;         // every bit equals the reference's
};

struct Subject {
  DType dtype = DType::kFloat32;  // component type of the candidate; float
  ElementSource candidate;
  const PoisonPattern* poison = nullptr;  // may be null
};

// `wanted` is the oracle, or the reference where there is none.
Measurement MeasureFloats(const Subject& subject, const TensorView& reference,
                          const TensorView& wanted, const ElementLimits& limits, int threads,
                          Simd simd = BestSimd());

// Integers and bool: exact. `oracle` may be null; an element that equals it is right as well.
Measurement MeasureIntegers(const Subject& subject, const TensorView& reference,
                            const TensorView* oracle, int threads);

}  // namespace kerf::verify
