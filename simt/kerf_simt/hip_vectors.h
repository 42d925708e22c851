// Arithmetic on vector types, which HIP has and CUDA does not.
#pragma once

#include "kerf_simt/types.h"

#define KERF_SIMT_VECTOR_OPERATOR(V, base, op, two, rest)                                    \
  KERF_SIMT_INLINE V operator op(const V& a, const V& b) { return V{two(op) rest(op)}; }     \
  KERF_SIMT_INLINE V& operator op##=(V& a, const V& b) { return a = a op b; }                \
  KERF_SIMT_INLINE V operator op(const V& a, base s) { return a op kerf_simt::Splat<V>(s); } \
  KERF_SIMT_INLINE V operator op(base s, const V& b) { return kerf_simt::Splat<V>(s) op b; } \
  KERF_SIMT_INLINE V& operator op##=(V& a, base s) { return a = a op s; }
#define KERF_SIMT_TWO(op) a.x op b.x, a.y op b.y
#define KERF_SIMT_NOTHING(op)
#define KERF_SIMT_THIRD(op) , a.z op b.z
#define KERF_SIMT_FOURTH(op) , a.z op b.z, a.w op b.w
#define KERF_SIMT_VECTOR_OPERATORS(V, base, n, rest)         \
  namespace kerf_simt {                                      \
  template <>                                                \
  KERF_SIMT_INLINE V Splat<V>(base s) {                      \
    V v;                                                     \
    for (int i = 0; i < n; ++i) (&v.x)[i] = s;               \
    return v;                                                \
  }                                                          \
  }                                                          \
  KERF_SIMT_VECTOR_OPERATOR(V, base, +, KERF_SIMT_TWO, rest) \
  KERF_SIMT_VECTOR_OPERATOR(V, base, -, KERF_SIMT_TWO, rest) \
  KERF_SIMT_VECTOR_OPERATOR(V, base, *, KERF_SIMT_TWO, rest) \
  KERF_SIMT_VECTOR_OPERATOR(V, base, /, KERF_SIMT_TWO, rest)
#define KERF_SIMT_ALL_VECTORS(name, base)                         \
  KERF_SIMT_VECTOR_OPERATORS(name##2, base, 2, KERF_SIMT_NOTHING) \
  KERF_SIMT_VECTOR_OPERATORS(name##3, base, 3, KERF_SIMT_THIRD)   \
  KERF_SIMT_VECTOR_OPERATORS(name##4, base, 4, KERF_SIMT_FOURTH)

namespace kerf_simt {
template <typename V>
V Splat(decltype(V::x) s);
}  // namespace kerf_simt
KERF_SIMT_ALL_VECTORS(float, float)
KERF_SIMT_ALL_VECTORS(double, double)
KERF_SIMT_ALL_VECTORS(int, int)
KERF_SIMT_ALL_VECTORS(uint, unsigned int)
