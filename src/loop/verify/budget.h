// How far each element of an output may lie from the right answer. docs/comparison.md derives the
// model; in short, with o the oracle, r the reference and u the unit roundoff of the output:
//
//   element i   |c_i - o_i| <= relative * u * |o_i| + floor[binary exponent of |o_i|]
//   RMS         RMS(c - o) <= a small multiple of RMS(r - o), also for the small elements alone
//
// The floors come from what the reference itself got wrong at that magnitude. When the result of
// the same computation in the next lower precision is given, both limits shrink until it fails.
//
//   const Budget budget = Budget::Make(expected, threads);
//   const Comparison result = Compare(candidate, expected, budget, &poison, threads);
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "loop/verify/element.h"
#include "loop/verify/tile_kernels.h"

namespace kerf::verify {

// What is known about the right answer of one output. The views must outlive every use; all have
// the same shape.
struct Expected {
  // The trusted result, in the output's dtype.
  TensorView reference;
  // The same computation in float64 or complex128; for integer outputs of any type. Without it
  // the reference is all there is, and the budget is a weak one.
  std::optional<TensorView> oracle;
  // The same computation in the next lower precision, stored in any float type.
  std::optional<TensorView> lower;
  // How many terms go into one element (reduction_length.h).
  double reduction_length = 1;
  // How far each element moves when the inputs move by their own size times a small number, in
  // units of that number: float32.
  std::optional<TensorView> condition;

  // The oracle where there is one.
  [[nodiscard]] const TensorView& wanted() const { return oracle ? *oracle : reference; }
};

// Elements whose expected magnitude lies below a bound, tested on their own, so that garbage in
// small elements does not hide behind the error of large ones.
struct MagnitudeClass {
  double below = 0;  // infinity for the class of all
  int64_t count = 0;
  double rms_expected = 0;
  double rms_reference_error = 0;
  std::optional<double> rms_lower_error;
  double rms_limit = 0;
};

// Made once for an output, used for any number of candidates, from any thread.
class Budget {
 public:
  static Budget Make(const Expected& expected, int threads);

  // Raises the limits of elements to at least `times` those of `other`, and those of the whole to
  // `times_rms`. The other was made for an output of the same operator on alike inputs.
  void AllowAsMuchAs(const Budget& other, double times, double times_rms);

  // Integers and bool: every element must be equal.
  [[nodiscard]] bool exact() const { return exact_; }
  // There was no oracle: the reference's error is assumed, not known.
  [[nodiscard]] bool weak_oracle() const { return weak_oracle_; }
  // Every element of the reference is the oracle rounded once, so that it tells nothing about the
  // rounding errors of an ordinary computation; the allowance for reductions is a guess then.
  [[nodiscard]] bool rounded_once() const { return rounded_once_; }
  // Reference and oracle differ by more than rounding explains: one of them is wrong, or the
  // operator is ill-conditioned here. The floors are worthless then, and so is the case.
  [[nodiscard]] bool reference_disagrees() const;
  // The lower-precision result is within the budget: this case cannot tell the two apart.
  [[nodiscard]] bool lower_precision_would_pass() const { return lower_would_pass_; }
  // RMS error of the lower-precision result over the limit, where it is known.
  [[nodiscard]] std::optional<double> lower_margin() const;
  // 1, or how far the limits were scaled down to reject the lower precision.
  [[nodiscard]] double tightened() const { return tightened_; }

  [[nodiscard]] double unit_roundoff() const { return unit_roundoff_; }
  [[nodiscard]] double relative() const { return relative_; }
  [[nodiscard]] double growth() const { return growth_; }
  [[nodiscard]] double reduction_length() const { return reduction_length_; }
  [[nodiscard]] const std::array<MagnitudeClass, kClassCount>& classes() const { return classes_; }

  // For an element of this expected magnitude.
  [[nodiscard]] double ElementBudget(double magnitude) const;
  // Points into this object.
  [[nodiscard]] ElementLimits limits() const;

  // One JSON object.
  void Write(JsonWriter& json) const;
  [[nodiscard]] std::string ToJson() const;

 private:
  friend class BudgetMaker;

  bool exact_ = false;
  bool weak_oracle_ = false;
  bool rounded_once_ = false;
  bool lower_would_pass_ = false;
  double tightened_ = 1;
  double unit_roundoff_ = 0;
  double relative_ = 0;  // in units of unit_roundoff_
  double growth_ = 0;
  double reduction_length_ = 1;
  std::array<MagnitudeClass, kClassCount> classes_{};
  uint32_t top_exponent_ = 0;  // of the largest element that is expected
  // Above this there are enough elements to know the reference's errors; a few smaller ones may be
  // right by luck.
  uint32_t bottom_exponent_ = 0;
  std::vector<double> floors_ = std::vector<double>(kExponents, 0.0);
};

}  // namespace kerf::verify
