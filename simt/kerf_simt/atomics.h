// Atomic operations. Real atomics, because blocks may run on several OS threads; each counts
// towards the yield that lets a spinning thread's neighbours run.
#pragma once

#include <string.h>

#include "kerf_simt/runtime.h"

namespace kerf_simt {

KERF_SIMT_INLINE void CountAtomic() {
  if (__builtin_expect(++current.atomics_since > 4096, 0)) Yield();
}

template <int Bytes>
struct Word;
template <>
struct Word<1> {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint64_t;
};

// *p = f(*p) as one step; returns what was there.
template <typename T, typename F>
KERF_SIMT_INLINE T AtomicUpdate(T* p, F f) {
  using Bits = typename Word<sizeof(T)>::Type;
  CountAtomic();
  auto* word = reinterpret_cast<Bits*>(p);
  Bits seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T old;
    memcpy(static_cast<void*>(&old), &seen, sizeof(T));
    T wanted = f(old);
    Bits bits;
    memcpy(&bits, static_cast<const void*>(&wanted), sizeof(T));
    if (__atomic_compare_exchange_n(word, &seen, bits, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return old;
  }
}

}  // namespace kerf_simt

// Each in three scopes, which are one here.
#define KERF_SIMT_ATOMIC(name, type, expression)                                                   \
  KERF_SIMT_INLINE type name(type* p, type v) {                                                    \
    return kerf_simt::AtomicUpdate(p,                                                              \
                                   [v]([[maybe_unused]] type old) -> type { return expression; }); \
  }                                                                                                \
  KERF_SIMT_INLINE type name##_block(type* p, type v) { return name(p, v); }                       \
  KERF_SIMT_INLINE type name##_system(type* p, type v) { return name(p, v); }

#define KERF_SIMT_ATOMIC_INTEGERS(name, expression) \
  KERF_SIMT_ATOMIC(name, int, expression)           \
  KERF_SIMT_ATOMIC(name, unsigned int, expression)  \
  KERF_SIMT_ATOMIC(name, unsigned long long, expression)

KERF_SIMT_ATOMIC(atomicAdd, int,
                 static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(v)))
KERF_SIMT_ATOMIC(atomicAdd, unsigned int, old + v)
KERF_SIMT_ATOMIC(atomicAdd, unsigned long long, old + v)
KERF_SIMT_ATOMIC(atomicAdd, float, old + v)
KERF_SIMT_ATOMIC(atomicAdd, double, old + v)
KERF_SIMT_ATOMIC(atomicSub, int,
                 static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(v)))
KERF_SIMT_ATOMIC(atomicSub, unsigned int, old - v)
KERF_SIMT_ATOMIC_INTEGERS(atomicExch, v)
KERF_SIMT_ATOMIC(atomicExch, float, v)
KERF_SIMT_ATOMIC_INTEGERS(atomicMin, old < v ? old : v)
KERF_SIMT_ATOMIC(atomicMin, long long, old < v ? old : v)
KERF_SIMT_ATOMIC_INTEGERS(atomicMax, old > v ? old : v)
KERF_SIMT_ATOMIC(atomicMax, long long, old > v ? old : v)
KERF_SIMT_ATOMIC_INTEGERS(atomicAnd, old& v)
KERF_SIMT_ATOMIC_INTEGERS(atomicOr, old | v)
KERF_SIMT_ATOMIC_INTEGERS(atomicXor, old ^ v)
KERF_SIMT_ATOMIC(atomicInc, unsigned int, old >= v ? 0u : old + 1)
KERF_SIMT_ATOMIC(atomicDec, unsigned int, old == 0 || old > v ? v : old - 1)
#if defined(KERF_SIMT_HIP)
KERF_SIMT_ATOMIC(atomicMin, float, old < v ? old : v)
KERF_SIMT_ATOMIC(atomicMax, float, old > v ? old : v)
KERF_SIMT_ATOMIC(atomicMin, double, old < v ? old : v)
KERF_SIMT_ATOMIC(atomicMax, double, old > v ? old : v)
KERF_SIMT_ATOMIC(atomicSub, float, old - v)
KERF_SIMT_ATOMIC(atomicExch, double, v)
KERF_SIMT_INLINE float unsafeAtomicAdd(float* p, float v) { return atomicAdd(p, v); }
KERF_SIMT_INLINE double unsafeAtomicAdd(double* p, double v) { return atomicAdd(p, v); }
KERF_SIMT_INLINE float atomicAddNoRet(float* p, float v) { return atomicAdd(p, v); }
#endif
// unsigned long is a type of its own in C++, of the width of unsigned long long.
KERF_SIMT_ATOMIC(atomicAdd, unsigned long, old + v)

#define KERF_SIMT_CAS(type)                                                                        \
  KERF_SIMT_INLINE type atomicCAS(type* p, type compare, type v) {                                 \
    return kerf_simt::AtomicUpdate(p, [=](type old) -> type { return old == compare ? v : old; }); \
  }                                                                                                \
  KERF_SIMT_INLINE type atomicCAS_block(type* p, type compare, type v) {                           \
    return atomicCAS(p, compare, v);                                                               \
  }                                                                                                \
  KERF_SIMT_INLINE type atomicCAS_system(type* p, type compare, type v) {                          \
    return atomicCAS(p, compare, v);                                                               \
  }
KERF_SIMT_CAS(int)
KERF_SIMT_CAS(unsigned int)
KERF_SIMT_CAS(unsigned short)
KERF_SIMT_CAS(unsigned long long)
#undef KERF_SIMT_CAS
#undef KERF_SIMT_ATOMIC_INTEGERS

// Loads and stores with a cache hint are loads and stores.
template <typename T>
KERF_SIMT_INLINE T __ldg(const T* p) {
  return *p;
}
#define KERF_SIMT_LOAD(name)            \
  template <typename T>                 \
  KERF_SIMT_INLINE T name(const T* p) { \
    return *p;                          \
  }
#define KERF_SIMT_STORE(name)                 \
  template <typename T>                       \
  KERF_SIMT_INLINE void name(T* p, T value) { \
    *p = value;                               \
  }
KERF_SIMT_LOAD(__ldcg)
KERF_SIMT_LOAD(__ldca)
KERF_SIMT_LOAD(__ldcs)
KERF_SIMT_LOAD(__ldlu)
KERF_SIMT_LOAD(__ldcv)
KERF_SIMT_STORE(__stwb)
KERF_SIMT_STORE(__stcg)
KERF_SIMT_STORE(__stcs)
KERF_SIMT_STORE(__stwt)
#undef KERF_SIMT_LOAD
#undef KERF_SIMT_STORE
