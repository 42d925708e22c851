// Signals and copies between the memories of several devices, as far as one device can tell.
//
// Windows of other ranks are ordinary memory here (platform_comm/comm_context.h).
#pragma once

#include "kerf_pto/move.h"

namespace pto::comm {

enum class NotifyOp : uint8_t { AtomicAdd, Set };
enum class WaitCmp : uint8_t { EQ, NE, GT, GE, LT, LE };

// One or more int32 in global memory.
struct Signal : GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>> {
  using GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>::GlobalTensor;
};
template <int Rows, int Cols>
struct Signal2D : GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>,
                               Stride<Rows * Cols, Rows * Cols, Rows * Cols, Cols, 1>> {
  using GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>,
                     Stride<Rows * Cols, Rows * Cols, Rows * Cols, Cols, 1>>::GlobalTensor;
};

// options: 0 set instead of add
template <typename S>
RecordEvent TNOTIFY(const S& signal, int32_t value, NotifyOp op, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TNOTIFY, place)
      .Global(signal)
      .Value({0, value})
      .Option(0, op == NotifyOp::Set ? 1 : 0)
      .Run();
}

template <typename S>
bool Satisfied(const S& signal, int32_t value, WaitCmp compare) {
  for (int64_t r = 0; r < signal.GetShape(3); ++r) {
    for (int64_t c = 0; c < signal.GetShape(4); ++c) {
      const int32_t now = static_cast<const volatile int32_t*>(
          signal.data())[r * signal.GetStride(3) + c * signal.GetStride(4)];
      const bool good = compare == WaitCmp::EQ   ? now == value
                        : compare == WaitCmp::NE ? now != value
                        : compare == WaitCmp::GT ? now > value
                        : compare == WaitCmp::GE ? now >= value
                        : compare == WaitCmp::LT ? now < value
                                                 : now <= value;
      if (!good) return false;
    }
  }
  return true;
}

template <typename S>
RecordEvent TWAIT(const S& signal, int32_t value, WaitCmp compare, KERF_PTO_AT) {
  kerf_pto::Builder(kerf_pto::Op::TWAIT, place).Global(signal).Value({0, value}).Run();
  while (!Satisfied(signal, value, compare)) kerf_pto::TheCore().Pause(kerf_pto::SiteOf(place));
  return {};
}
template <typename S>
bool TTEST(const S& signal, int32_t value, WaitCmp compare, KERF_PTO_AT) {
  kerf_pto::Builder(kerf_pto::Op::TWAIT, place).Global(signal).Value({0, value}).Run();
  return Satisfied(signal, value, compare);
}

// --- copies through a stage tile ---
// Calls visit(rows, cols, where) for pieces of a view that fit the stage; where(g) is the offset of
// the piece in another view of the same shape, in elements.
template <typename T, typename F>
void ForPieces(const kerf_pto::GlobalRef& all, F&& visit) {
  for (int64_t a = 0; a < all.shape[0]; ++a)
    for (int64_t b = 0; b < all.shape[1]; ++b)
      for (int64_t c = 0; c < all.shape[2]; ++c)
        for (int64_t r = 0; r < all.shape[3]; r += T::Rows)
          for (int64_t k = 0; k < all.shape[4]; k += T::Cols) {
            const auto where = [=](const kerf_pto::GlobalRef& g) {
              return a * g.stride[0] + b * g.stride[1] + c * g.stride[2] + r * g.stride[3] +
                     k * g.stride[4];
            };
            const int64_t rows = all.shape[3] - r < T::Rows ? all.shape[3] - r : T::Rows;
            const int64_t cols = all.shape[4] - k < T::Cols ? all.shape[4] - k : T::Cols;
            visit(rows, cols, where);
          }
}

// One piece between the stage and global memory; options as of TSTORE.
template <typename T>
void MovePiece(kerf_pto::Op op, const T& stage, const kerf_pto::GlobalRef& whole, int64_t at,
               int64_t rows, int64_t cols, AtomicType atomic, const kerf_pto::Place& place) {
  kerf_pto::Builder move(op, place);
  move.Tile(stage).Option(0, static_cast<int64_t>(atomic));
  kerf_pto::Call& call = move.call;
  call.tile[0].valid_rows = static_cast<int32_t>(rows);
  call.tile[0].valid_cols = static_cast<int32_t>(cols);
  call.global[0] = whole;
  call.global[0].data =
      static_cast<char*>(whole.data) + at * static_cast<int64_t>(sizeof(typename T::DType));
  call.global[0].shape[0] = call.global[0].shape[1] = call.global[0].shape[2] = 1;
  call.global[0].shape[3] = rows;
  call.global[0].shape[4] = cols;
  call.globals = 1;
  move.Run();
}

inline void PassFlag(pipe_t from, pipe_t to, const kerf_pto::Place& place) {
  set_flag(from, to, EVENT_ID0, place);
  wait_flag(from, to, EVENT_ID0, place);
}

// Loaded on MTE2, stored on MTE3. `shape` says how much; what was stored last is waited for.
template <typename T>
void CopyThrough(const kerf_pto::GlobalRef& to, const kerf_pto::GlobalRef& from,
                 const kerf_pto::GlobalRef& shape, const T& stage, AtomicType atomic, bool& first,
                 const kerf_pto::Place& place) {
  ForPieces<T>(shape, [&](int64_t rows, int64_t cols, const auto& where) {
    if (!first) PassFlag(PIPE_MTE3, PIPE_MTE2, place);
    first = false;
    MovePiece(kerf_pto::Op::TLOAD, stage, from, where(from), rows, cols, AtomicType::AtomicNone,
              place);
    PassFlag(PIPE_MTE2, PIPE_MTE3, place);
    MovePiece(kerf_pto::Op::TSTORE, stage, to, where(to), rows, cols, atomic, place);
  });
}
template <AtomicType Atomic = AtomicType::AtomicNone, typename D, typename S, typename T>
RecordEvent TPUT(const D& dst, const S& src, T& stage, KERF_PTO_AT) {
  bool first = true;
  CopyThrough(dst.Ref(), src.Ref(), src.Ref(), stage, Atomic, first, place);
  return {};
}
template <AtomicType Atomic = AtomicType::AtomicNone, typename D, typename S, typename T,
          typename U, std::enable_if_t<kerf_pto::kIsTile<U>, int> = 0>
RecordEvent TPUT(const D& dst, const S& src, T& stage, U&, KERF_PTO_AT) {
  return TPUT<Atomic>(dst, src, stage, place);
}
template <typename D, typename S, typename T>
RecordEvent TGET(const D& dst, const S& src, T& stage, KERF_PTO_AT) {
  return TPUT<AtomicType::AtomicNone>(dst, src, stage, place);
}

// --- groups of ranks; the second stage of the forms that have one is not needed here ---
template <typename G>
struct ParallelGroup {
  using value_type = G;
  G* tensors = nullptr;
  int nranks = 0;
  int rootIdx = 0;
  ParallelGroup() = default;
  ParallelGroup(G* array, int size, int root) : tensors(array), nranks(size), rootIdx(root) {}
  static ParallelGroup Create(G* array, int size, int root) { return {array, size, root}; }
  int GetRootIdx() const { return rootIdx; }
  int GetSize() const { return nranks; }
  G& operator[](int rank) const { return tensors[rank]; }
};
enum class ReduceOp : uint8_t { Sum, Max, Min };
enum class CollEngine : uint8_t { AIV, CCU };

// Rows of `whole` that belong to a rank with `rows` of them.
inline kerf_pto::GlobalRef RankRows(kerf_pto::GlobalRef whole, kerf_pto::Type type, int rank,
                                    int64_t rows, int64_t element) {
  whole.type = type;
  whole.data = static_cast<char*>(whole.data) + rank * rows * whole.stride[3] * element;
  return whole;
}

template <CollEngine Engine = CollEngine::AIV, typename P, typename S, typename T, typename... U>
RecordEvent TBROADCAST(const P& group, const S& src, T& stage, U&...) {
  static_assert(Engine == CollEngine::AIV, "kerf: TBROADCAST is simulated for CollEngine::AIV");
  bool first = true;
  for (int rank = 0; rank < group.nranks; ++rank)
    CopyThrough(group.tensors[rank].Ref(), src.Ref(), src.Ref(), stage, AtomicType::AtomicNone,
                first, kerf_pto::Place::current());
  return {};
}
template <CollEngine Engine = CollEngine::AIV, typename P, typename D, typename T, typename... U>
RecordEvent TGATHER(const P& group, const D& dst, T& stage, U&...) {
  static_assert(Engine == CollEngine::AIV, "kerf: TGATHER is simulated for CollEngine::AIV");
  bool first = true;
  for (int rank = 0; rank < group.nranks; ++rank) {
    const kerf_pto::GlobalRef from = group.tensors[rank].Ref();
    const auto to = RankRows(dst.Ref(), from.type, rank, from.shape[3], sizeof(typename T::DType));
    CopyThrough(to, from, from, stage, AtomicType::AtomicNone, first, kerf_pto::Place::current());
  }
  return {};
}
template <CollEngine Engine = CollEngine::AIV, typename P, typename S, typename T, typename... U>
RecordEvent TSCATTER(const P& group, const S& src, T& stage, U&...) {
  static_assert(Engine == CollEngine::AIV, "kerf: TSCATTER is simulated for CollEngine::AIV");
  bool first = true;
  for (int rank = 0; rank < group.nranks; ++rank) {
    const kerf_pto::GlobalRef to = group.tensors[rank].Ref();
    const auto from = RankRows(src.Ref(), to.type, rank, to.shape[3], sizeof(typename T::DType));
    CopyThrough(to, from, to, stage, AtomicType::AtomicNone, first, kerf_pto::Place::current());
  }
  return {};
}

// Piece by piece: the first rank's into `sum`, the others' into `receive` and from there added.
template <CollEngine Engine = CollEngine::AIV, typename P, typename D, typename T>
RecordEvent TREDUCE(const P& group, const D& dst, T& sum, T& receive, ReduceOp op, KERF_PTO_AT) {
  static_assert(Engine == CollEngine::AIV, "kerf: TREDUCE is simulated for CollEngine::AIV");
  const auto combine = op == ReduceOp::Sum   ? kerf_pto::Op::TADD
                       : op == ReduceOp::Max ? kerf_pto::Op::TMAX
                                             : kerf_pto::Op::TMIN;
  bool first = true;
  ForPieces<T>(group.tensors[0].Ref(), [&](int64_t rows, int64_t cols, const auto& where) {
    if (!first) PassFlag(PIPE_MTE3, PIPE_MTE2, place);
    first = false;
    for (int rank = 0; rank < group.nranks; ++rank) {
      const kerf_pto::GlobalRef from = group.tensors[rank].Ref();
      if (rank > 1) PassFlag(PIPE_V, PIPE_MTE2, place);
      MovePiece(kerf_pto::Op::TLOAD, rank == 0 ? sum : receive, from, where(from), rows, cols,
                AtomicType::AtomicNone, place);
      PassFlag(PIPE_MTE2, PIPE_V, place);
      if (rank == 0) continue;
      if (rank > 1) pipe_barrier(PIPE_V, place);
      kerf_pto::Builder call(combine, place);
      call.Tile(sum).Tile(sum).Tile(receive);
      for (kerf_pto::TileRef& tile : call.call.tile) {
        tile.valid_rows = static_cast<int32_t>(rows);
        tile.valid_cols = static_cast<int32_t>(cols);
      }
      call.Run();
    }
    PassFlag(PIPE_V, PIPE_MTE3, place);
    MovePiece(kerf_pto::Op::TSTORE, sum, dst.Ref(), where(dst.Ref()), rows, cols,
              AtomicType::AtomicNone, place);
  });
  return {};
}
template <CollEngine Engine = CollEngine::AIV, typename P, typename D, typename T>
RecordEvent TREDUCE(const P& group, const D& dst, T& sum, T& ping, T&, ReduceOp op, KERF_PTO_AT) {
  return TREDUCE<Engine>(group, dst, sum, ping, op, place);
}

// --- copies by the DMA engine: done at once, on no pipe ---
namespace sdma {
struct SdmaBaseConfig {
  uint32_t queue_num = 1;
  uint64_t block_bytes = 0;
  uint32_t comm_block_num = 0;
};
}  // namespace sdma
struct AsyncSession {
  bool valid = true;
};
struct AsyncEvent {
  uint64_t handle = 1;
  bool valid() const { return handle != 0; }
  bool Wait(const AsyncSession&) const { return true; }
  bool Test(const AsyncSession&) const { return true; }
};
template <typename T, typename... Rest>
bool BuildAsyncSession(T&&, Rest&&...) {
  return true;
}
template <typename D, typename S>
AsyncEvent TPUT_ASYNC(const D& dst, const S& src, AsyncSession&, KERF_PTO_AT) {
  kerf_pto::Builder(kerf_pto::Op::TPUT_ASYNC, place).Global(dst).Global(src).Run();
  return {};
}
template <typename D, typename S>
AsyncEvent TGET_ASYNC(const D& dst, const S& src, AsyncSession&, KERF_PTO_AT) {
  kerf_pto::Builder(kerf_pto::Op::TGET_ASYNC, place).Global(dst).Global(src).Run();
  return {};
}

}  // namespace pto::comm

namespace pto {

struct PrefetchAsyncContext {
  comm::AsyncSession session;
  template <typename... T>
  explicit PrefetchAsyncContext(T&&...) {}
};
// Warms a cache that is not simulated.
template <typename G, typename C>
comm::AsyncEvent TPREFETCH_ASYNC(const G&, C&, KERF_PTO_AT) {
  (void)place;
  return {};
}

}  // namespace pto
