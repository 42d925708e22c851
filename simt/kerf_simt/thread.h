// Barriers, warp operations and the other things a thread says to its neighbours. The line of the
// caller comes along as a default argument, for the reports.
#pragma once

#include <string.h>

#include "kerf_simt/runtime.h"

#define KERF_SIMT_LINE int kerf_simt_line = __builtin_LINE()

KERF_SIMT_INLINE void __syncthreads(KERF_SIMT_LINE) {
  kerf_simt::Barrier(kerf_simt::BarrierKind::kSync, 0, kerf_simt_line);
}
KERF_SIMT_INLINE int __syncthreads_count(int predicate, KERF_SIMT_LINE) {
  return kerf_simt::Barrier(kerf_simt::BarrierKind::kCount, predicate != 0, kerf_simt_line);
}
KERF_SIMT_INLINE int __syncthreads_and(int predicate, KERF_SIMT_LINE) {
  return kerf_simt::Barrier(kerf_simt::BarrierKind::kAnd, predicate != 0, kerf_simt_line);
}
KERF_SIMT_INLINE int __syncthreads_or(int predicate, KERF_SIMT_LINE) {
  return kerf_simt::Barrier(kerf_simt::BarrierKind::kOr, predicate != 0, kerf_simt_line);
}

// One OS thread runs a block, so the compiler is the only one who could reorder.
KERF_SIMT_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
KERF_SIMT_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
KERF_SIMT_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
KERF_SIMT_INLINE void __nanosleep(unsigned) { kerf_simt::Yield(); }

namespace kerf_simt {

template <typename T>
KERF_SIMT_INLINE T Shuffle(WarpOp op, uint64_t mask, T value, int arg, int width, int line) {
  static_assert(sizeof(T) <= 32, "simt: a shuffle moves at most 32 bytes");
  T result;
  for (unsigned at = 0; at < sizeof(T); at += 8) {
    uint64_t word = 0;
    unsigned n = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
    memcpy(&word, reinterpret_cast<const char*>(&value) + at, n);
    word = WarpCollective(op, mask, word, arg, width, line);
    memcpy(reinterpret_cast<char*>(&result) + at, &word, n);
  }
  return result;
}

// Before a statement that assigns to volatile memory: the lanes of a warp go on in order, after all
// have come.
KERF_SIMT_INLINE void Step(int line = __builtin_LINE()) {
  WarpCollective(WarpOp::kStep, 0, 0, 0, warpSize, line);
}

template <typename T>
KERF_SIMT_INLINE uint64_t Bits(T value) {
  static_assert(sizeof(T) <= 8, "simt: at most 8 bytes");
  uint64_t word = 0;
  memcpy(&word, &value, sizeof(T));
  return word;
}

}  // namespace kerf_simt

#if defined(KERF_SIMT_HIP)
typedef unsigned long long kerf_simt_mask;
#else
typedef unsigned int kerf_simt_mask;
#endif

#define KERF_SIMT_SHUFFLE(name, op, argument)                                                   \
  template <typename T>                                                                         \
  KERF_SIMT_INLINE T name##_sync(kerf_simt_mask mask, T value, argument, int width = warpSize,  \
                                 KERF_SIMT_LINE) {                                              \
    return kerf_simt::Shuffle(kerf_simt::WarpOp::op, mask, value, static_cast<int>(arg), width, \
                              kerf_simt_line);                                                  \
  }                                                                                             \
  template <typename T>                                                                         \
  KERF_SIMT_INLINE T name(T value, argument, int width = warpSize, KERF_SIMT_LINE) {            \
    return kerf_simt::Shuffle(kerf_simt::WarpOp::op, 0, value, static_cast<int>(arg), width,    \
                              kerf_simt_line);                                                  \
  }
KERF_SIMT_SHUFFLE(__shfl, kShuffle, int arg)
KERF_SIMT_SHUFFLE(__shfl_up, kShuffleUp, unsigned int arg)
KERF_SIMT_SHUFFLE(__shfl_down, kShuffleDown, unsigned int arg)
KERF_SIMT_SHUFFLE(__shfl_xor, kShuffleXor, int arg)
#undef KERF_SIMT_SHUFFLE

#if defined(KERF_SIMT_HIP)
KERF_SIMT_INLINE void __syncwarp(kerf_simt_mask mask = ~0ull, KERF_SIMT_LINE) {
#else
KERF_SIMT_INLINE void __syncwarp(kerf_simt_mask mask = 0xffffffffu, KERF_SIMT_LINE) {
#endif
  kerf_simt::WarpCollective(kerf_simt::WarpOp::kSync, mask, 0, 0, warpSize, kerf_simt_line);
}
KERF_SIMT_INLINE kerf_simt_mask __activemask(KERF_SIMT_LINE) {
  return static_cast<kerf_simt_mask>(
      kerf_simt::WarpCollective(kerf_simt::WarpOp::kActive, 0, 0, 0, warpSize, kerf_simt_line));
}

#define KERF_SIMT_VOTE(name, op, result)                                                           \
  KERF_SIMT_INLINE result name##_sync(kerf_simt_mask mask, int predicate, KERF_SIMT_LINE) {        \
    return static_cast<result>(kerf_simt::WarpCollective(                                          \
        kerf_simt::WarpOp::op, mask, predicate != 0, 0, warpSize, kerf_simt_line));                \
  }                                                                                                \
  KERF_SIMT_INLINE result name(int predicate, KERF_SIMT_LINE) {                                    \
    return static_cast<result>(kerf_simt::WarpCollective(kerf_simt::WarpOp::op, 0, predicate != 0, \
                                                         0, warpSize, kerf_simt_line));            \
  }
KERF_SIMT_VOTE(__any, kAny, int)
KERF_SIMT_VOTE(__all, kAll, int)
KERF_SIMT_VOTE(__uni, kUniform, int)
KERF_SIMT_VOTE(__ballot, kBallot, kerf_simt_mask)
#undef KERF_SIMT_VOTE

template <typename T>
KERF_SIMT_INLINE kerf_simt_mask __match_any_sync(kerf_simt_mask mask, T value, KERF_SIMT_LINE) {
  return static_cast<kerf_simt_mask>(kerf_simt::WarpCollective(
      kerf_simt::WarpOp::kMatchAny, mask, kerf_simt::Bits(value), 0, warpSize, kerf_simt_line));
}
template <typename T>
KERF_SIMT_INLINE kerf_simt_mask __match_all_sync(kerf_simt_mask mask, T value, int* predicate,
                                                 KERF_SIMT_LINE) {
  auto same = static_cast<kerf_simt_mask>(kerf_simt::WarpCollective(
      kerf_simt::WarpOp::kMatchAll, mask, kerf_simt::Bits(value), 0, warpSize, kerf_simt_line));
  *predicate = same != 0;
  return same;
}

#define KERF_SIMT_REDUCE(name, type, op)                                                    \
  KERF_SIMT_INLINE type name(kerf_simt_mask mask, type value, KERF_SIMT_LINE) {             \
    return static_cast<type>(kerf_simt::WarpCollective(                                     \
        kerf_simt::WarpOp::op, mask, static_cast<uint64_t>(static_cast<int64_t>(value)), 0, \
        warpSize, kerf_simt_line));                                                         \
  }
KERF_SIMT_REDUCE(__reduce_add_sync, int, kAdd)
KERF_SIMT_REDUCE(__reduce_add_sync, unsigned, kAdd)
KERF_SIMT_REDUCE(__reduce_min_sync, int, kMinSigned)
KERF_SIMT_REDUCE(__reduce_max_sync, int, kMaxSigned)
KERF_SIMT_REDUCE(__reduce_min_sync, unsigned, kMinUnsigned)
KERF_SIMT_REDUCE(__reduce_max_sync, unsigned, kMaxUnsigned)
KERF_SIMT_REDUCE(__reduce_and_sync, unsigned, kAnd)
KERF_SIMT_REDUCE(__reduce_or_sync, unsigned, kOr)
KERF_SIMT_REDUCE(__reduce_xor_sync, unsigned, kXor)
#undef KERF_SIMT_REDUCE

KERF_SIMT_INLINE unsigned __lane_id() {
  return static_cast<unsigned>(kerf_simt::LinearThread()) % warpSize;
}
KERF_SIMT_INLINE void __trap(KERF_SIMT_LINE) {
  kerf_simt::Trap("trap", "__trap was called", kerf_simt_line);
}
KERF_SIMT_INLINE void __brkpt() {}
KERF_SIMT_INLINE long long clock64() { return kerf_simt::ClockNanoseconds(); }
KERF_SIMT_INLINE long long wall_clock64() { return kerf_simt::ClockNanoseconds(); }
KERF_SIMT_INLINE unsigned long long __globaltimer() { return kerf_simt::ClockNanoseconds(); }
