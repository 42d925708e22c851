#include "sim/hazard/access_list.h"

#include <algorithm>
#include <tuple>

namespace kerf::sim {
namespace {

// Whether [begin, end) meets a row of `rows`.
bool MeetsRow(uint64_t begin, uint64_t end, const Access& rows) {
  if (end <= rows.begin || begin >= rows.end) return false;
  if (rows.step == 0) return true;
  const uint64_t row = begin <= rows.begin ? 0 : (begin - rows.begin) / rows.step;
  // The row that `begin` falls into or behind, and the next one.
  for (uint64_t k = row; k <= row + 1; ++k) {
    const uint64_t at = rows.begin + k * rows.step;
    if (at >= rows.end || at >= end) return false;
    if (begin < at + rows.row_bytes) return true;
  }
  return false;
}

}  // namespace

Access AccessOf(const Operand& operand) {
  Access access;
  access.begin = operand.address;
  access.end = operand.address + operand.bytes;
  access.access = operand.access & (kerf_log::kRead | kerf_log::kWrite | kerf_log::kAtomic);
  // What an instruction clobbers it writes.
  if ((operand.access & kerf_log::kScratch) != 0) access.access |= kerf_log::kWrite;
  if (access.access == 0) access.access = kerf_log::kRead;
  if (operand.layout != Layout::kNd && operand.layout != Layout::kDn) return access;
  const bool rows_first = operand.layout == Layout::kNd;
  const uint64_t bits = kerf_log::DtypeBits(operand.dtype);
  const uint64_t step = (rows_first ? operand.columns : operand.rows) * bits / 8;
  const uint64_t length =
      ((rows_first ? operand.valid_columns : operand.valid_rows) * bits + 7) / 8;
  const uint64_t rows = rows_first ? operand.valid_rows : operand.valid_columns;
  // `bytes` decides how far it reaches; a log whose shape says otherwise is taken as one piece.
  if (rows < 2 || length == 0 || length >= step || length > UINT32_MAX) return access;
  access.step = step;
  access.row_bytes = static_cast<uint32_t>(length);
  return access;
}

bool Overlap(const Access& a, const Access& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (a.step == 0) return MeetsRow(a.begin, a.end, b);
  if (b.step == 0) return MeetsRow(b.begin, b.end, a);
  // From the first row that can meet the other; a range of at most some thousand rows.
  const uint64_t first = b.begin > a.begin ? (b.begin - a.begin) / a.step : 0;
  for (uint64_t at = a.begin + first * a.step; at < a.end && at < b.end; at += a.step) {
    if (MeetsRow(at, std::min(at + a.row_bytes, a.end), b)) return true;
  }
  return false;
}

void AccessList::Append(const Access& access) {
  if (entries_.size() % kChunk == 0) bounds_.emplace_back();
  entries_.push_back(access);
  Bounds& bounds = bounds_.back();
  bounds.begin = std::min(bounds.begin, access.begin);
  bounds.end = std::max(bounds.end, access.end);
  begin_ = std::min(begin_, access.begin);
  end_ = std::max(end_, access.end);
}

void AccessList::Shrink(uint32_t known_to_all) {
  std::vector<Access> kept;
  for (const Access& entry : entries_) {
    if (entry.position > known_to_all) kept.push_back(entry);
  }
  // Of accesses to the same bytes in the same way the newest says everything: who does not know it
  // to be complete does not know the others either, and the other way round it is reported again.
  const auto key = [](const Access& a) {
    return std::tie(a.begin, a.end, a.step, a.row_bytes, a.access);
  };
  std::stable_sort(kept.begin(), kept.end(),
                   [&](const Access& a, const Access& b) { return key(a) < key(b); });
  std::vector<Access> unique;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i + 1 < kept.size() && key(kept[i]) == key(kept[i + 1])) continue;
    unique.push_back(kept[i]);
  }
  std::sort(unique.begin(), unique.end(),
            [](const Access& a, const Access& b) { return a.position < b.position; });
  const size_t drop = unique.size() > kMost / 2 ? unique.size() - kMost / 2 : 0;
  entries_.clear();
  bounds_.clear();
  begin_ = UINT64_MAX;
  end_ = 0;
  for (size_t i = drop; i < unique.size(); ++i) Append(unique[i]);
  limit_ = std::min(kMost, std::max<size_t>(256, 2 * entries_.size()));
}

}  // namespace kerf::sim
