#include "loop/verify/tail.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace kerf::verify {
namespace {

// Exponent and the three leading bits of the mantissa number the bins.
constexpr int kShift = 49;
constexpr int kFirstBin = (1023 - 32) << 3;

}  // namespace

Tail::Tail(int64_t elements) : rank_(elements / 1000 + 1) {}

int Tail::BinOf(double ratio) {
  const auto number = static_cast<int>(std::bit_cast<uint64_t>(ratio) >> kShift);
  return std::clamp(number - kFirstBin, 0, kBins - 1);
}

double Tail::BinEdge(int bin) {
  if (bin <= 0) return 0;
  if (bin >= kBins) return std::numeric_limits<double>::infinity();
  return std::bit_cast<double>(static_cast<uint64_t>(bin + kFirstBin) << kShift);
}

void Tail::InsertWorst(Entry entry) {
  const auto at =
      std::upper_bound(worst_.begin(), worst_.end(), entry, [](const Entry& a, const Entry& b) {
        return a.ratio > b.ratio || (a.ratio == b.ratio && a.index < b.index);
      });
  worst_.insert(at, entry);
  if (worst_.size() > kWorst) worst_.pop_back();
}

void Tail::UpdateNotable() {
  while (floor_bin_ < kBins && above_ >= rank_)
    above_ -= counts_[static_cast<size_t>(floor_bin_++)];
  const double least_of_worst = worst_.size() < kWorst ? 0 : worst_.back().ratio;
  notable_ = std::min(BinEdge(floor_bin_), least_of_worst);
}

void Tail::Add(double ratio, int64_t index) {
  if (ratio <= 0) return;
  if (worst_.size() < kWorst || ratio > worst_.back().ratio) InsertWorst({ratio, index});
  const int bin = BinOf(ratio);
  ++counts_[static_cast<size_t>(bin)];
  if (bin >= floor_bin_) ++above_;
  UpdateNotable();
}

void Tail::Merge(const Tail& other) {
  for (const Entry& entry : other.worst_) InsertWorst(entry);
  for (int bin = 0; bin < kBins; ++bin) {
    counts_[static_cast<size_t>(bin)] += other.counts_[static_cast<size_t>(bin)];
  }
  // Each side knows its counts from its own line on, and that its quantile does not lie below.
  floor_bin_ = std::max(floor_bin_, other.floor_bin_);
  above_ = 0;
  for (int bin = floor_bin_; bin < kBins; ++bin) above_ += counts_[static_cast<size_t>(bin)];
  UpdateNotable();
}

double Tail::Quantile999() const { return std::min(BinEdge(floor_bin_), max_ratio()); }

}  // namespace kerf::verify
