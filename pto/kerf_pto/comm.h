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

// Through the stage tile, piece by piece: loaded on MTE2, stored on MTE3.
template <AtomicType Atomic = AtomicType::AtomicNone, typename D, typename S, typename T>
RecordEvent TPUT(const D& dst, const S& src, T& stage, KERF_PTO_AT) {
  const kerf_pto::GlobalRef to = dst.Ref();
  const kerf_pto::GlobalRef from = src.Ref();
  constexpr int64_t size = sizeof(typename T::DType);
  bool first = true;
  const auto piece = [&](int64_t to_at, int64_t from_at, int64_t rows, int64_t cols) {
    if (!first) {
      set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0, place);
      wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0, place);
    }
    first = false;
    const auto view = [&](const kerf_pto::GlobalRef& whole, int64_t at) {
      kerf_pto::GlobalRef part = whole;
      part.data = static_cast<char*>(whole.data) + at * size;
      part.shape[0] = part.shape[1] = part.shape[2] = 1;
      part.shape[3] = rows;
      part.shape[4] = cols;
      return part;
    };
    kerf_pto::Builder load(kerf_pto::Op::TLOAD, place);
    load.Tile(stage);
    load.call.tile[0].valid_rows = static_cast<int32_t>(rows);
    load.call.tile[0].valid_cols = static_cast<int32_t>(cols);
    load.call.global[0] = view(from, from_at);
    load.call.globals = 1;
    load.Run();
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0, place);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0, place);
    kerf_pto::Builder store(kerf_pto::Op::TSTORE, place);
    store.Tile(stage).Option(0, static_cast<int64_t>(Atomic));
    store.call.tile[0] = load.call.tile[0];
    store.call.global[0] = view(to, to_at);
    store.call.globals = 1;
    store.Run();
  };
  for (int64_t a = 0; a < from.shape[0]; ++a)
    for (int64_t b = 0; b < from.shape[1]; ++b)
      for (int64_t c = 0; c < from.shape[2]; ++c)
        for (int64_t r = 0; r < from.shape[3]; r += T::Rows)
          for (int64_t k = 0; k < from.shape[4]; k += T::Cols) {
            const auto at = [&](const kerf_pto::GlobalRef& g) {
              return a * g.stride[0] + b * g.stride[1] + c * g.stride[2] + r * g.stride[3] +
                     k * g.stride[4];
            };
            const int64_t rows = from.shape[3] - r < T::Rows ? from.shape[3] - r : T::Rows;
            const int64_t cols = from.shape[4] - k < T::Cols ? from.shape[4] - k : T::Cols;
            piece(at(to), at(from), rows, cols);
          }
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
