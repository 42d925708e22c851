// The largest errors of a tensor, in units of their budgets: the worst few by name and the 99.9 %
// quantile. Exact up to the width of a histogram bin (an eighth of an octave), although almost no
// element has to be looked at: once enough errors above a bin were seen, nothing in or below that
// bin can change the quantile any more. notable_ratio() is that line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kerf::verify {

class Tail {
 public:
  static constexpr size_t kWorst = 10;
  struct Entry {
    double ratio = 0;
    int64_t index = 0;
  };

  // `elements`: of the whole tensor, also where this tail sees a part of it only.
  explicit Tail(int64_t elements);

  // Ratios up to this need not be added.
  [[nodiscard]] double notable_ratio() const { return notable_; }
  void Add(double ratio, int64_t index);
  void Merge(const Tail& other);

  [[nodiscard]] double max_ratio() const { return worst_.empty() ? 0 : worst_.front().ratio; }
  // At most one element in a thousand is worse; rounded up to the end of its bin.
  [[nodiscard]] double Quantile999() const;
  // Descending; of equal ones the first in the tensor.
  [[nodiscard]] const std::vector<Entry>& worst() const { return worst_; }

 private:
  static constexpr int kBinsPerOctave = 8;
  static constexpr int kOctaves = 64;  // from 2^-32 to 2^32 budgets
  static constexpr int kBins = kOctaves * kBinsPerOctave;

  static int BinOf(double ratio);
  static double BinEdge(int bin);  // lower
  void InsertWorst(Entry entry);
  void UpdateNotable();

  int64_t rank_;  // how many elements stand at or above the quantile
  std::array<int64_t, kBins> counts_{};
  int floor_bin_ = 0;  // bins below it are full enough
  int64_t above_ = 0;  // sum of counts_ from floor_bin_
  double notable_ = 0;
  std::vector<Entry> worst_;
};

}  // namespace kerf::verify
