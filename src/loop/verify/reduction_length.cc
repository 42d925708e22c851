#include "loop/verify/reduction_length.h"

#include <algorithm>

namespace kerf::verify {
namespace {

using Sizes = std::vector<int64_t>;

// The sizes of an input that the output does not have, each matched once; ones do not count.
Sizes Leftover(const TensorSpec& input, const TensorSpec& output) {
  Sizes unmatched = output.shape;
  Sizes left;
  for (const int64_t size : input.shape) {
    const auto at = std::find(unmatched.begin(), unmatched.end(), size);
    if (at != unmatched.end()) {
      unmatched.erase(at);
    } else if (size > 1) {
      left.push_back(size);
    }
  }
  return left;
}

bool Shares(const Sizes& left, const TensorSpec& other) {
  return std::any_of(left.begin(), left.end(), [&](int64_t size) {
    return std::find(other.shape.begin(), other.shape.end(), size) != other.shape.end();
  });
}

double Product(const Sizes& sizes) {
  double product = 1;
  for (const int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

bool SquareLike(const TensorSpec& a, const TensorSpec& b, const TensorSpec& output) {
  const size_t rank = output.shape.size();
  return rank >= 2 && output.shape[rank - 1] == output.shape[rank - 2] && a.shape == output.shape &&
         b.shape == output.shape;
}

// The terms of a product of two inputs. What is summed over stands in both inputs and not in the
// output; the smaller one is the weight, whose window axes (convolution) are summed over as well,
// while the larger one may have lost a border to the window.
double Contraction(const TensorSpec& a, const TensorSpec& b, const TensorSpec& output) {
  if (SquareLike(a, b, output)) return static_cast<double>(output.shape.back());
  const TensorSpec& small = a.numel() <= b.numel() ? a : b;
  const TensorSpec& large = a.numel() <= b.numel() ? b : a;
  const Sizes left = Leftover(small, output);
  if (!left.empty()) return Shares(left, large) ? Product(left) : 1;
  const Sizes other = Leftover(large, output);
  return !other.empty() && Shares(other, small) ? Product(other) : 1;
}

}  // namespace

double EstimateReductionLength(const std::vector<TensorSpec>& inputs, const TensorSpec& output) {
  const auto elements = static_cast<double>(std::max<int64_t>(1, output.numel()));
  double length = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    length = std::max(length, static_cast<double>(inputs[i].numel()) / elements);
    for (size_t j = i + 1; j < inputs.size(); ++j) {
      length = std::max(length, Contraction(inputs[i], inputs[j], output));
    }
  }
  return length;
}

}  // namespace kerf::verify
