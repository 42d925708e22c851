#include "loop/verify/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace kerf::verify {
namespace {

constexpr int kResamples = 1000;

// xorshift: short, and the same on every machine.
uint64_t NextRandom(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

}  // namespace

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank = static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }

Interval MedianRatio(const std::vector<double>& a, const std::vector<double>& b) {
  KERF_CHECK(a.size() == b.size(), "a ratio needs as many samples of one side as of the other");
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) {
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  }
  if (ratios.empty()) return {};
  uint64_t state = 0x2545F4914F6CDD1DULL;
  std::vector<double> medians;
  std::vector<double> drawn(ratios.size());
  for (int k = 0; k < kResamples; ++k) {
    for (double& one : drawn) one = ratios[NextRandom(state) % ratios.size()];
    medians.push_back(Median(drawn));
  }
  return {Median(ratios), Quantile(medians, 0.025), Quantile(medians, 0.975)};
}

}  // namespace kerf::verify
