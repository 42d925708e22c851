// The part of cooperative groups that stays inside a block: thread_block, tiles of a warp,
// coalesced threads.
#pragma once

#include "kerf_simt/thread.h"

namespace cooperative_groups {

class thread_block {
 public:
  void sync(int line = __builtin_LINE()) const {
    kerf_simt::Barrier(kerf_simt::BarrierKind::kSync, 0, line);
  }
  static unsigned thread_rank() { return static_cast<unsigned>(kerf_simt::LinearThread()); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// Threads of one warp, as a mask of its lanes. Ranks count within the mask.
class warp_group {
 public:
  explicit warp_group(uint64_t mask) : mask_(mask) {}
  unsigned size() const { return static_cast<unsigned>(__builtin_popcountll(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcountll(mask_ & ((uint64_t{1} << __lane_id()) - 1)));
  }
  void sync(int line = __builtin_LINE()) const { Collective(kerf_simt::WarpOp::kSync, 0, line); }
  int any(int predicate, int line = __builtin_LINE()) const {
    return static_cast<int>(Collective(kerf_simt::WarpOp::kAny, predicate != 0, line));
  }
  int all(int predicate, int line = __builtin_LINE()) const {
    return static_cast<int>(Collective(kerf_simt::WarpOp::kAll, predicate != 0, line));
  }
  kerf_simt_mask ballot(int predicate, int line = __builtin_LINE()) const {
    uint64_t votes = Collective(kerf_simt::WarpOp::kBallot, predicate != 0, line);
    kerf_simt_mask ranks = 0;
    unsigned rank = 0;
    for (uint64_t left = mask_; left != 0; left &= left - 1, ++rank) {
      if ((votes >> __builtin_ctzll(left) & 1) != 0) ranks |= kerf_simt_mask{1} << rank;
    }
    return ranks;
  }
  template <typename T>
  T shfl(T value, int rank, int line = __builtin_LINE()) const {
    return From(value, rank, line);
  }
  template <typename T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    int rank = static_cast<int>(thread_rank()) - static_cast<int>(delta);
    return From(value, rank < 0 ? static_cast<int>(thread_rank()) : rank, line);
  }
  template <typename T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    unsigned rank = thread_rank() + delta;
    return From(value, static_cast<int>(rank >= size() ? thread_rank() : rank), line);
  }
  template <typename T>
  T shfl_xor(T value, unsigned lane_mask, int line = __builtin_LINE()) const {
    unsigned rank = thread_rank() ^ lane_mask;
    return From(value, static_cast<int>(rank >= size() ? thread_rank() : rank), line);
  }

 protected:
  uint64_t Collective(kerf_simt::WarpOp op, uint64_t value, int line) const {
    return kerf_simt::WarpCollective(op, mask_, value, 0, warpSize, line);
  }
  template <typename T>
  T From(T value, int rank, int line) const {
    uint64_t left = mask_;
    for (unsigned r = static_cast<unsigned>(rank) % size(); r > 0; --r) left &= left - 1;
    return kerf_simt::Shuffle(kerf_simt::WarpOp::kShuffle, mask_, value, __builtin_ctzll(left),
                              warpSize, line);
  }
  uint64_t mask_;
};

template <unsigned Size, typename Parent = thread_block>
class thread_block_tile : public warp_group {
  static_assert(Size <= KERF_SIMT_WARP && (Size & (Size - 1)) == 0,
                "simt: tiles are powers of two up to the size of a warp");

 public:
  thread_block_tile()
      : warp_group(((Size == 64 ? 0 : uint64_t{1} << (Size & 63)) - 1)
                   << (__lane_id() / Size * Size)) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return __lane_id() % Size; }
  static unsigned meta_group_rank() {
    return static_cast<unsigned>(kerf_simt::LinearThread()) / Size;
  }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
};
template <unsigned Size, typename Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

class coalesced_group : public warp_group {
 public:
  explicit coalesced_group(uint64_t mask) : warp_group(mask) {}
};
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(
      kerf_simt::WarpCollective(kerf_simt::WarpOp::kActive, 0, 0, 0, warpSize, line));
}

template <typename Group>
inline void sync(const Group& g, int line = __builtin_LINE()) {
  g.sync(line);
}
template <typename Group>
inline unsigned thread_rank(const Group& g) {
  return g.thread_rank();
}

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <typename Group, typename T, typename Op>
inline T reduce(const Group& g, T value, Op op, int line = __builtin_LINE()) {
  for (unsigned offset = 1; offset < g.size(); offset *= 2) {
    unsigned rank = g.thread_rank();
    T other =
        g.shfl(value, static_cast<int>((rank ^ offset) < g.size() ? rank ^ offset : rank), line);
    if ((rank ^ offset) < g.size()) value = op(value, other);
  }
  return g.shfl(value, 0, line);
}

template <typename Group, typename T, typename Op>
inline T inclusive_scan(const Group& g, T value, Op op, int line = __builtin_LINE()) {
  for (unsigned offset = 1; offset < g.size(); offset *= 2) {
    T other = g.shfl_up(value, offset, line);
    if (g.thread_rank() >= offset) value = op(other, value);
  }
  return value;
}
template <typename Group, typename T>
inline T inclusive_scan(const Group& g, T value, int line = __builtin_LINE()) {
  return inclusive_scan(g, value, plus<T>(), line);
}
template <typename Group, typename T, typename Op>
inline T exclusive_scan(const Group& g, T value, Op op, int line = __builtin_LINE()) {
  T before = g.shfl_up(inclusive_scan(g, value, op, line), 1, line);
  return g.thread_rank() == 0 ? T{} : before;
}
template <typename Group, typename T>
inline T exclusive_scan(const Group& g, T value, int line = __builtin_LINE()) {
  return exclusive_scan(g, value, plus<T>(), line);
}

template <typename T = int>
inline int this_grid(T = 0) {
  static_assert(sizeof(T) > 999,
                "simt: grid-wide barriers are not emulated; split the kernel in two");
  return 0;
}
template <typename T = int>
inline int this_cluster(T = 0) {
  static_assert(sizeof(T) > 999, "simt: thread block clusters are not emulated");
  return 0;
}

}  // namespace cooperative_groups
