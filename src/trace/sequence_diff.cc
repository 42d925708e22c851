// Eugene Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), in its linear-space
// form: find the middle of a shortest edit path by walking from both ends at once, then solve the
// two halves. Three things around it:
//
// 1. Elements that only one side has are taken out first. They are in no common subsequence, so the
// result stays minimal,
//    and texts with nothing in common cost nothing.
// 2. Common beginnings and ends are skipped.
// 3. A search for the middle gives up after a number of edits that depends on the size, cuts at the
// point where the walk from
//    the front got furthest, and goes on behind it. That bounds the work, at the price of
//    minimality for sequences that differ in thousands of places.

#include "trace/sequence_diff.h"

#include <algorithm>

namespace kerf::trace {
namespace {

// Elements times edits per search: about a second.
constexpr int64_t kWorkBudget = int64_t{1} << 28;
constexpr int64_t kLeastEdits = 256;
constexpr int64_t kMostEdits = 8192;

using Index = int64_t;

struct Box {
  Index a_begin = 0;
  Index a_end = 0;
  Index b_begin = 0;
  Index b_end = 0;
};

class Differ {
 public:
  Differ(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b)
      : a_(a), b_(b), removed_(a.size(), false), added_(b.size(), false) {
    const auto size = static_cast<int64_t>(a.size() + b.size());
    max_edits_ = std::clamp(kWorkBudget / std::max<int64_t>(size, 1), kLeastEdits, kMostEdits);
    max_edits_ = std::min(max_edits_, size / 2 + 1);
    front_.resize(static_cast<size_t>(2 * max_edits_ + 3));
    back_.resize(front_.size());
  }

  void Run() { Solve({0, static_cast<Index>(a_.size()), 0, static_cast<Index>(b_.size())}); }

  [[nodiscard]] const std::vector<bool>& removed() const { return removed_; }
  [[nodiscard]] const std::vector<bool>& added() const { return added_; }

 private:
  // Where to cut a box in two.
  struct Cut {
    Index x = 0;
    Index y = 0;
  };

  // The part before a cut is solved by recursion and differs in half as many places (or in no more
  // than max_edits_), so the depth is logarithmic; the part behind it by the loop.
  void Solve(Box box) {
    while (true) {
      while (box.a_begin < box.a_end && box.b_begin < box.b_end &&
             At(a_, box.a_begin) == At(b_, box.b_begin)) {
        ++box.a_begin;
        ++box.b_begin;
      }
      while (box.a_begin < box.a_end && box.b_begin < box.b_end &&
             At(a_, box.a_end - 1) == At(b_, box.b_end - 1)) {
        --box.a_end;
        --box.b_end;
      }
      if (box.a_begin == box.a_end || box.b_begin == box.b_end) {
        for (Index i = box.a_begin; i < box.a_end; ++i) removed_[static_cast<size_t>(i)] = true;
        for (Index i = box.b_begin; i < box.b_end; ++i) added_[static_cast<size_t>(i)] = true;
        return;
      }
      const Cut cut = FindCut(box);
      Solve({box.a_begin, cut.x, box.b_begin, cut.y});
      box.a_begin = cut.x;
      box.b_begin = cut.y;
    }
  }

  // front_[k] is how far in a the walk from the front got on diagonal k = x - y; back_[k] the same
  // for the walk from the end, in coordinates that count from there. Both walks meet in the middle
  // of a shortest path.
  Cut FindCut(const Box& box) {
    const Index n = box.a_end - box.a_begin;
    const Index m = box.b_end - box.b_begin;
    const Index delta = n - m;
    const bool odd = (delta & 1) != 0;
    const auto slot = [&](Index k) { return static_cast<size_t>(k + max_edits_ + 1); };
    front_[slot(1)] = 0;
    back_[slot(1)] = 0;
    for (Index d = 0;; ++d) {
      for (Index k = LowestDiagonal(d, m); k <= HighestDiagonal(d, n); k += 2) {
        Index x = Next(front_, slot(k), k, d);
        while (x < n && x - k < m && At(a_, box.a_begin + x) == At(b_, box.b_begin + x - k)) ++x;
        front_[slot(k)] = x;
        const Index other = delta - k;
        if (odd && other >= -(d - 1) && other <= d - 1 && x + back_[slot(other)] >= n) {
          return {box.a_begin + x, box.b_begin + x - k};
        }
      }
      for (Index k = LowestDiagonal(d, m); k <= HighestDiagonal(d, n); k += 2) {
        Index x = Next(back_, slot(k), k, d);
        while (x < n && x - k < m && At(a_, box.a_end - 1 - x) == At(b_, box.b_end - 1 - x + k))
          ++x;
        back_[slot(k)] = x;
        const Index other = delta - k;
        if (!odd && other >= -d && other <= d && x + front_[slot(other)] >= n) {
          return {box.a_end - x, box.b_end - x + k};
        }
      }
      if (d == max_edits_) return FurthestFromFront(box, d);
    }
  }

  // Diagonals beyond the box hold nothing. Rounded so that the parity of d is kept.
  static Index LowestDiagonal(Index d, Index m) { return d <= m ? -d : -(2 * m - d); }
  static Index HighestDiagonal(Index d, Index n) { return d <= n ? d : 2 * n - d; }

  static Index Next(const std::vector<Index>& reached, size_t slot, Index k, Index d) {
    if (k == -d || (k != d && reached[slot - 1] < reached[slot + 1])) return reached[slot + 1];
    return reached[slot - 1] + 1;
  }

  [[nodiscard]] Cut FurthestFromFront(const Box& box, Index d) const {
    const Index n = box.a_end - box.a_begin;
    const Index m = box.b_end - box.b_begin;
    Cut best{box.a_begin + 1, box.b_begin};  // some progress in any case
    for (Index k = LowestDiagonal(d, m); k <= HighestDiagonal(d, n); k += 2) {
      const Index x = front_[static_cast<size_t>(k + max_edits_ + 1)];
      if (x > n || x - k > m) continue;
      const Cut cut{box.a_begin + x, box.b_begin + x - k};
      if (cut.x + cut.y > best.x + best.y) best = cut;
    }
    return best;
  }

  static uint32_t At(const std::vector<uint32_t>& sequence, Index i) {
    return sequence[static_cast<size_t>(i)];
  }

  const std::vector<uint32_t>& a_;
  const std::vector<uint32_t>& b_;
  std::vector<bool> removed_;
  std::vector<bool> added_;
  Index max_edits_ = 0;
  std::vector<Index> front_;
  std::vector<Index> back_;
};

// The elements of `sequence` that `other` has too, and where they stood.
struct Shared {
  std::vector<uint32_t> values;
  std::vector<size_t> places;
};

Shared KeepShared(const std::vector<uint32_t>& sequence, const std::vector<bool>& in_other) {
  Shared shared;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i] < in_other.size() && in_other[sequence[i]]) {
      shared.values.push_back(sequence[i]);
      shared.places.push_back(i);
    }
  }
  return shared;
}

std::vector<bool> ValuesOf(const std::vector<uint32_t>& sequence) {
  std::vector<bool> present;
  for (const uint32_t value : sequence) {
    if (value >= present.size()) present.resize(value + size_t{1}, false);
    present[value] = true;
  }
  return present;
}

std::vector<bool> Marks(size_t size, const Shared& shared, const std::vector<bool>& marked) {
  std::vector<bool> marks(size, true);
  for (size_t i = 0; i < shared.places.size(); ++i) marks[shared.places[i]] = marked[i];
  return marks;
}

}  // namespace

std::vector<Change> DiffSequences(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  const Shared shared_a = KeepShared(a, ValuesOf(b));
  const Shared shared_b = KeepShared(b, ValuesOf(a));
  Differ differ(shared_a.values, shared_b.values);
  differ.Run();
  const std::vector<bool> removed = Marks(a.size(), shared_a, differ.removed());
  const std::vector<bool> added = Marks(b.size(), shared_b, differ.added());
  std::vector<Change> changes;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    Change change{i, i, j, j};
    while (change.a_end < a.size() && removed[change.a_end]) ++change.a_end;
    while (change.b_end < b.size() && added[change.b_end]) ++change.b_end;
    if (change.a_end > i || change.b_end > j) changes.push_back(change);
    i = change.a_end + 1;
    j = change.b_end + 1;
  }
  return changes;
}

}  // namespace kerf::trace
