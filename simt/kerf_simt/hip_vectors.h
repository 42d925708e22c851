// Arithmetic on vector types, which HIP has and CUDA does not. Templates, so that operators a
// source defines itself are preferred, as with HIP.
#pragma once

#include "kerf_simt/types.h"

namespace kerf_simt {

template <typename V>
struct VectorOf {};
#define KERF_SIMT_VECTOR_OF(name, base) \
  template <>                           \
  struct VectorOf<name##2> {            \
    using Base = base;                  \
    static constexpr int kSize = 2;     \
  };                                    \
  template <>                           \
  struct VectorOf<name##3> {            \
    using Base = base;                  \
    static constexpr int kSize = 3;     \
  };                                    \
  template <>                           \
  struct VectorOf<name##4> {            \
    using Base = base;                  \
    static constexpr int kSize = 4;     \
  };
KERF_SIMT_VECTOR_OF(float, float)
KERF_SIMT_VECTOR_OF(double, double)
KERF_SIMT_VECTOR_OF(int, int)
KERF_SIMT_VECTOR_OF(uint, unsigned int)
#undef KERF_SIMT_VECTOR_OF

}  // namespace kerf_simt

#define KERF_SIMT_VECTOR_OPERATOR(op)                                                   \
  template <typename V, int N = kerf_simt::VectorOf<V>::kSize>                          \
  KERF_SIMT_INLINE V operator op(const V& a, const V& b) {                              \
    V v;                                                                                \
    for (int i = 0; i < N; ++i) (&v.x)[i] = (&a.x)[i] op(&b.x)[i];                      \
    return v;                                                                           \
  }                                                                                     \
  template <typename V, int N = kerf_simt::VectorOf<V>::kSize>                          \
  KERF_SIMT_INLINE V operator op(const V& a, typename kerf_simt::VectorOf<V>::Base b) { \
    V v;                                                                                \
    for (int i = 0; i < N; ++i) (&v.x)[i] = (&a.x)[i] op b;                             \
    return v;                                                                           \
  }                                                                                     \
  template <typename V, int N = kerf_simt::VectorOf<V>::kSize>                          \
  KERF_SIMT_INLINE V operator op(typename kerf_simt::VectorOf<V>::Base a, const V& b) { \
    V v;                                                                                \
    for (int i = 0; i < N; ++i) (&v.x)[i] = a op(&b.x)[i];                              \
    return v;                                                                           \
  }                                                                                     \
  template <typename V, typename B, int N = kerf_simt::VectorOf<V>::kSize>              \
  KERF_SIMT_INLINE V& operator op##=(V& a, const B& b) {                                \
    return a = a op b;                                                                  \
  }
KERF_SIMT_VECTOR_OPERATOR(+)
KERF_SIMT_VECTOR_OPERATOR(-)
KERF_SIMT_VECTOR_OPERATOR(*)
KERF_SIMT_VECTOR_OPERATOR(/)
#undef KERF_SIMT_VECTOR_OPERATOR
