#include "loop/verify/where.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace kerf::verify {

Where::Where(std::vector<int64_t> shape)
    : shape_(std::move(shape)), strides_(shape_.size(), 1), low_(shape_), high_(shape_.size(), -1) {
  for (size_t axis = shape_.size(); axis-- > 0;) {
    strides_[axis] = elements_;
    elements_ *= shape_[axis];
  }
}

void Where::AddRun(int64_t begin, int64_t end) {
  if (begin >= end) return;
  if (count_ == 0) first_ = last_ = begin;
  step_ = std::gcd(step_, begin - first_);
  if (end - begin > 1) step_ = 1;
  first_ = std::min(first_, begin);
  last_ = std::max(last_, end - 1);
  count_ += end - begin;
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    const int64_t from = begin / strides_[axis];
    const int64_t to = (end - 1) / strides_[axis];
    if (from / shape_[axis] != to / shape_[axis]) {
      // The run goes over the end of the axis: it holds its last and its first coordinate.
      low_[axis] = 0;
      high_[axis] = shape_[axis] - 1;
    } else {
      low_[axis] = std::min(low_[axis], from % shape_[axis]);
      high_[axis] = std::max(high_[axis], to % shape_[axis]);
    }
  }
}

void Where::Merge(const Where& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  step_ = std::gcd(std::gcd(step_, other.step_), std::abs(other.first_ - first_));
  first_ = std::min(first_, other.first_);
  last_ = std::max(last_, other.last_);
  count_ += other.count_;
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    low_[axis] = std::min(low_[axis], other.low_[axis]);
    high_[axis] = std::max(high_[axis], other.high_[axis]);
  }
}

std::string Where::AxisText(size_t axis) const {
  const int64_t size = shape_[axis];
  const int64_t width = high_[axis] - low_[axis] + 1;
  const std::string of = " of " + std::to_string(size);
  std::string text = "axis " + std::to_string(axis) + ": ";
  if (width == 1) return text + "index " + std::to_string(low_[axis]) + of;
  if (high_[axis] == size - 1) return text + "the last " + std::to_string(width) + of;
  if (low_[axis] == 0) return text + "the first " + std::to_string(width) + of;
  return text + std::to_string(low_[axis]) + ".." + std::to_string(high_[axis]) + of;
}

std::string Where::Text() const {
  if (count_ == 0) return "";
  if (count_ == elements_) return "every element";
  if (count_ == 1) return "only flat index " + std::to_string(first_);
  const int64_t span = last_ - first_ + 1;
  if (count_ == span && last_ == elements_ - 1) {
    return "every element from flat index " + std::to_string(first_);
  }
  if (count_ == span && first_ == 0) {
    return "every element before flat index " + std::to_string(last_ + 1);
  }
  std::string axes;
  int64_t volume = 1;
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    const int64_t width = high_[axis] - low_[axis] + 1;
    volume *= width;
    if (width == shape_[axis] || shape_.size() == 1) continue;
    if (!axes.empty()) axes += "; ";
    axes += AxisText(axis);
  }
  if (!axes.empty()) {
    return "only " + axes + (volume == count_ ? " (all elements there)" : "");
  }
  if (count_ == span) {
    return "flat indices " + std::to_string(first_) + ".." + std::to_string(last_) +
           ", all of them";
  }
  if (step_ > 1) {
    return "flat indices " + std::to_string(first_) + " + multiples of " + std::to_string(step_);
  }
  char share[64];
  std::snprintf(share, sizeof share, "scattered, %.3g%% of the elements",
                100.0 * static_cast<double>(count_) / static_cast<double>(elements_));
  return share;
}

}  // namespace kerf::verify
