// Where the wrong elements of a tensor lie, said the way a programmer looks for the cause: a tail
// that was not computed, a block of rows, every fourth element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/tensor.h"

namespace kerf::verify {

// Needs memory for the number of axes only. A plain value; one for each thread, merged at the end.
class Where {
 public:
  explicit Where(std::vector<int64_t> shape);

  // The elements [begin, end) are wrong. Runs may come in any order, but must not overlap.
  void AddRun(int64_t begin, int64_t end);
  void Merge(const Where& other);

  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] int64_t first() const { return first_; }
  [[nodiscard]] int64_t last() const { return last_; }
  // Smallest and largest coordinate of a wrong element on each axis.
  [[nodiscard]] const std::vector<int64_t>& box_low() const { return low_; }
  [[nodiscard]] const std::vector<int64_t>& box_high() const { return high_; }
  // "every element", "every element from flat index 960", "only axis 1: the last 3 of 128", …;
  // empty when nothing is wrong.
  [[nodiscard]] std::string Text() const;

 private:
  [[nodiscard]] std::string AxisText(size_t axis) const;

  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  int64_t elements_ = 1;
  int64_t count_ = 0;
  int64_t first_ = 0;
  int64_t last_ = 0;
  int64_t step_ = 0;  // greatest common divisor of all distances to the first one found
  std::vector<int64_t> low_;
  std::vector<int64_t> high_;
};

}  // namespace kerf::verify
