// Is this output right? Shape and dtype must be equal, NaN and infinity must stand where they
// belong, every element must keep its budget and the whole must keep its RMS limits.
// docs/comparison.md has the model.
//
// A wrong output is a Comparison like any other; nothing here fails.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "loop/verify/budget.h"
#include "loop/verify/measure.h"

namespace kerf::verify {

struct Mismatch {
  int64_t index = 0;        // flat, of the element
  std::string coordinates;  // "[3, 17]"
  std::string part;         // "re" or "im" of a complex element, otherwise empty
  double wanted = 0;        // by the oracle where there is one
  double reference = 0;
  double got = 0;
  double budget = 0;
  double ratio = 0;  // error in budgets; infinity where no number belongs; steps for integers
};

struct Comparison {
  enum class Status {
    kIdentical,  // bit for bit the reference
    kWithin,
    kWrongShape,
    kWrongDType,
    kUntouched,  // never written at all
    kPartlyUntouched,
    kNonFinite,  // NaN or infinity where none belongs, or a number where one does
    kWrongValue,
  };

  Status status = Status::kWrongShape;
  TensorSpec got;
  TensorSpec wanted;

  int64_t elements = 0;
  int64_t beyond = 0;  // elements that are wrong, for whatever reason
  int64_t not_finite_wrong = 0;
  int64_t untouched = 0;
  double max_error = 0;  // absolute, over finite elements, as are the next two
  double mean_error = 0;
  double rms_error = 0;
  double max_ratio = 0;   // in budgets
  double p999_ratio = 0;  // one element in a thousand is worse
  double rms_ratio = 0;   // RMS error over its limit, of the worst magnitude class
  // Descending by ratio, up to ten; also of an output that is right.
  std::vector<Mismatch> worst;
  std::string where;  // of the wrong elements; empty when there are none
  std::vector<int64_t> box_low;
  std::vector<int64_t> box_high;

  [[nodiscard]] bool right() const {
    return status == Status::kIdentical || status == Status::kWithin;
  }
  [[nodiscard]] bool identical() const { return status == Status::kIdentical; }
  [[nodiscard]] double share_beyond() const {
    return elements == 0 ? 0 : static_cast<double>(beyond) / static_cast<double>(elements);
  }
  // One line for people.
  [[nodiscard]] std::string Summary() const;
  // One JSON object.
  void Write(JsonWriter& json) const;
  [[nodiscard]] std::string ToJson() const;
};

// "identical", "within", "wrong_shape", …; stable, part of the verdict.
const char* StatusName(Comparison::Status status);

// `budget` was made from `expected`. `poison` is what the candidate's buffer held before, or null.
Comparison Compare(const TensorView& candidate, const Expected& expected, const Budget& budget,
                   const PoisonPattern* poison, int threads);
// The same for elements that are made on the way, of the output's own spec.
Comparison CompareSource(const ElementSource& candidate, const Expected& expected,
                         const Budget& budget, const PoisonPattern* poison, int threads);

// RMS error over its limit, of the worst magnitude class.
double WorstRmsRatio(const TileSums& sums, const Budget& budget);

}  // namespace kerf::verify
