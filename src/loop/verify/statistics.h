// Medians and intervals of timing samples. Deterministic: the resampling generator is fixed.
#pragma once

#include <cstdint>
#include <vector>

namespace kerf::verify {

// Of a copy, by nearest rank; q in [0, 1]. 0 when there is nothing.
double Quantile(std::vector<double> values, double q);
double Median(const std::vector<double>& values);

struct Interval {
  double middle = 0;
  double low = 0;
  double high = 0;
};

// The median of a[i] / b[i] with its 95 % bootstrap interval. The two have the same length.
Interval MedianRatio(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace kerf::verify
