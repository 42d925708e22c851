// Arithmetic of 16-bit floats, for __half and __nv_bfloat16 alike.
//
// A device rounds each operation once. Sums, products, quotients and roots of such short numbers
// may be computed in float and rounded again: float has more than twice their digits, so the second
// rounding cannot spoil the result. Only fma needs more; it is computed in double and rounded to
// odd on the way.
#pragma once

#include <math.h>
#include <string.h>

#include "kerf_simt/atomics.h"
#include "kerf_simt/device_math.h"
#include "kerf_simt/types.h"

namespace kerf_simt {

// The last bit of the result tells that something was cut off, which is all a later rounding needs
// to know.
inline float OddFloat(double d) {
  float f = static_cast<float>(d);
  if (static_cast<double>(f) == d || d != d) return f;
  uint32_t bits = BitCast<uint32_t>(f);
  if ((bits & 1) == 0) bits += fabs(static_cast<double>(f)) > fabs(d) ? -1 : 1;
  return BitCast<float>(bits);
}

inline double OddSum(double a, double b) {
  double s = a + b;
  double bb = s - a;
  double error = (a - (s - bb)) + (b - bb);
  uint64_t bits = BitCast<uint64_t>(s);
  if (error != 0 && error == error && (bits & 1) == 0) bits += (error > 0) == (s > 0) ? 1 : -1;
  return BitCast<double>(bits);
}

inline uint16_t HalfBits(float f) {
  const uint32_t x = BitCast<uint32_t>(f);
  const auto sign = static_cast<uint16_t>(x >> 16 & 0x8000);
  uint32_t a = x & 0x7fffffff;
  if (a > 0x7f800000) return 0x7fff;
  if (a >= 0x477ff000) return sign | 0x7c00;  // 65520 and more
  if (a >= 0x38800000)
    return sign | static_cast<uint16_t>((a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13);
  if (a <= 0x33000000) return sign;  // at most half of the smallest number
  const uint32_t mantissa = (a & 0x7fffff) | 0x800000;
  const uint32_t shift = 126 - (a >> 23);
  const uint32_t kept = mantissa >> shift;
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  return sign | static_cast<uint16_t>(kept + (rest > half || (rest == half && (kept & 1) != 0)));
}

inline float HalfValue(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  uint32_t exponent = h >> 10 & 31;
  uint32_t mantissa = h & 0x3ff;
  if (exponent == 31) return BitCast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return BitCast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float f = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24
  return sign != 0 ? -f : f;
}

KERF_SIMT_INLINE uint16_t BfloatBits(float f) {
  const uint32_t x = BitCast<uint32_t>(f);
  if ((x & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16);
}
KERF_SIMT_INLINE float BfloatValue(uint16_t h) {
  return BitCast<float>(static_cast<uint32_t>(h) << 16);
}

// Towards zero.
inline uint16_t HalfBitsCut(float f) {
  uint16_t h = HalfBits(f);
  if ((h & 0x7fff) > 0x7c00) return h;
  if ((h & 0x7fff) == 0x7c00 && (BitCast<uint32_t>(f) & 0x7fffffff) != 0x7f800000) return h - 1;
  return fabsf(HalfValue(h)) > fabsf(f) ? h - 1 : h;
}

}  // namespace kerf_simt

// H is the type, H2 the pair; Bits and Value convert from and to float.
#define KERF_SIMT_HALF_TYPE(H, H2, Raw, Bits, Value)                               \
  struct Raw {                                                                     \
    unsigned short x;                                                              \
  };                                                                               \
  struct __attribute__((aligned(2))) H {                                           \
    unsigned short __x;                                                            \
    H() = default;                                                                 \
    KERF_SIMT_INLINE H(const Raw& r) : __x(r.x) {}                                 \
    KERF_SIMT_INLINE H(float v) : __x(kerf_simt::Bits(v)) {}                       \
    KERF_SIMT_INLINE H(double v) : __x(kerf_simt::Bits(kerf_simt::OddFloat(v))) {} \
    KERF_SIMT_INLINE H(int v) : H(static_cast<double>(v)) {}                       \
    KERF_SIMT_INLINE H(unsigned v) : H(static_cast<double>(v)) {}                  \
    KERF_SIMT_INLINE H(short v) : H(static_cast<float>(v)) {}                      \
    KERF_SIMT_INLINE H(unsigned short v) : H(static_cast<float>(v)) {}             \
    KERF_SIMT_INLINE H(long v) : H(static_cast<double>(v)) {}                      \
    KERF_SIMT_INLINE H(unsigned long v) : H(static_cast<double>(v)) {}             \
    KERF_SIMT_INLINE H(long long v) : H(static_cast<double>(v)) {}                 \
    KERF_SIMT_INLINE H(unsigned long long v) : H(static_cast<double>(v)) {}        \
    KERF_SIMT_INLINE operator float() const { return kerf_simt::Value(__x); }      \
    KERF_SIMT_INLINE operator Raw() const { return Raw{__x}; }                     \
  };                                                                               \
  struct __attribute__((aligned(4))) H2 {                                          \
    H x, y;                                                                        \
    H2() = default;                                                                \
    KERF_SIMT_INLINE H2(H a, H b) : x(a), y(b) {}                                  \
  };

#define KERF_SIMT_HALF_OPERATOR(H, H2, op)                                                         \
  KERF_SIMT_INLINE H operator op(const H& a, const H& b) {                                         \
    return H(static_cast<float>(a) op static_cast<float>(b));                                      \
  }                                                                                                \
  KERF_SIMT_INLINE H& operator op##=(H& a, const H& b) { return a = a op b; }                      \
  KERF_SIMT_INLINE H2 operator op(const H2& a, const H2& b) { return H2(a.x op b.x, a.y op b.y); } \
  KERF_SIMT_INLINE H2& operator op##=(H2& a, const H2& b) { return a = a op b; }

#define KERF_SIMT_HALF_COMPARE(H, H2, name, op)                                        \
  KERF_SIMT_INLINE bool operator op(const H& a, const H& b) {                          \
    return static_cast<float>(a) op static_cast<float>(b);                             \
  }                                                                                    \
  KERF_SIMT_INLINE bool __h##name(H a, H b) { return a op b; }                         \
  KERF_SIMT_INLINE H2 __h##name##2(H2 a, H2 b) {                                       \
    return H2(H(a.x op b.x ? 1.0f : 0.0f), H(a.y op b.y ? 1.0f : 0.0f));               \
  }                                                                                    \
  KERF_SIMT_INLINE bool __hb##name##2(H2 a, H2 b) { return a.x op b.x && a.y op b.y; } \
  KERF_SIMT_INLINE bool operator op(const H2& a, const H2& b) { return __hb##name##2(a, b); }

#define KERF_SIMT_HALF_BINARY(H, H2, name, expression)          \
  KERF_SIMT_INLINE H __h##name(H a, H b) { return expression; } \
  KERF_SIMT_INLINE H2 __h##name##2(H2 a, H2 b) {                \
    return H2(__h##name(a.x, b.x), __h##name(a.y, b.y));        \
  }

// f is applied to a float.
#define KERF_SIMT_HALF_UNARY(H, H2, name, f)                              \
  KERF_SIMT_INLINE H h##name(H a) { return H(f(static_cast<float>(a))); } \
  KERF_SIMT_INLINE H2 h2##name(H2 a) { return H2(h##name(a.x), h##name(a.y)); }

namespace kerf_simt {
template <typename H>
KERF_SIMT_INLINE H HalfFma(H a, H b, H c) {
  return H(OddSum(
      static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b)),
      static_cast<double>(static_cast<float>(c))));
}
KERF_SIMT_INLINE float Reciprocal(float x) { return 1.0f / x; }
KERF_SIMT_INLINE float ExpTen(float x) {
  return static_cast<float>(::pow(10.0, static_cast<double>(x)));
}
KERF_SIMT_INLINE float MaxNan(float a, float b) { return a != a ? a : b != b ? b : fmaxf(a, b); }
KERF_SIMT_INLINE float MinNan(float a, float b) { return a != a ? a : b != b ? b : fminf(a, b); }
}  // namespace kerf_simt

#define KERF_SIMT_HALF_FUNCTIONS(H, H2)                                                          \
  KERF_SIMT_HALF_OPERATOR(H, H2, +)                                                              \
  KERF_SIMT_HALF_OPERATOR(H, H2, -)                                                              \
  KERF_SIMT_HALF_OPERATOR(H, H2, *)                                                              \
  KERF_SIMT_HALF_OPERATOR(H, H2, /)                                                              \
  KERF_SIMT_HALF_COMPARE(H, H2, eq, ==)                                                          \
  KERF_SIMT_HALF_COMPARE(H, H2, ne, !=)                                                          \
  KERF_SIMT_HALF_COMPARE(H, H2, lt, <)                                                           \
  KERF_SIMT_HALF_COMPARE(H, H2, le, <=)                                                          \
  KERF_SIMT_HALF_COMPARE(H, H2, gt, >)                                                           \
  KERF_SIMT_HALF_COMPARE(H, H2, ge, >=)                                                          \
  KERF_SIMT_INLINE H __hneg(H a) {                                                               \
    a.__x ^= 0x8000;                                                                             \
    return a;                                                                                    \
  }                                                                                              \
  KERF_SIMT_INLINE H __habs(H a) {                                                               \
    a.__x &= 0x7fff;                                                                             \
    return a;                                                                                    \
  }                                                                                              \
  KERF_SIMT_INLINE H2 __hneg2(H2 a) { return H2(__hneg(a.x), __hneg(a.y)); }                     \
  KERF_SIMT_INLINE H2 __habs2(H2 a) { return H2(__habs(a.x), __habs(a.y)); }                     \
  KERF_SIMT_INLINE H operator-(const H& a) { return __hneg(a); }                                 \
  KERF_SIMT_INLINE H operator+(const H& a) { return a; }                                         \
  KERF_SIMT_INLINE H2 operator-(const H2& a) { return __hneg2(a); }                              \
  KERF_SIMT_INLINE H& operator++(H& a) { return a = a + H(1.0f); }                               \
  KERF_SIMT_INLINE H& operator--(H& a) { return a = a - H(1.0f); }                               \
  KERF_SIMT_HALF_BINARY(H, H2, add, a + b)                                                       \
  KERF_SIMT_HALF_BINARY(H, H2, sub, a - b)                                                       \
  KERF_SIMT_HALF_BINARY(H, H2, mul, a* b)                                                        \
  KERF_SIMT_INLINE H __hdiv(H a, H b) { return a / b; }                                          \
  KERF_SIMT_INLINE H2 __h2div(H2 a, H2 b) { return a / b; }                                      \
  KERF_SIMT_INLINE H __hadd_rn(H a, H b) { return a + b; }                                       \
  KERF_SIMT_INLINE H __hsub_rn(H a, H b) { return a - b; }                                       \
  KERF_SIMT_INLINE H __hmul_rn(H a, H b) { return a * b; }                                       \
  KERF_SIMT_INLINE H2 __hadd2_rn(H2 a, H2 b) { return a + b; }                                   \
  KERF_SIMT_INLINE H2 __hsub2_rn(H2 a, H2 b) { return a - b; }                                   \
  KERF_SIMT_INLINE H2 __hmul2_rn(H2 a, H2 b) { return a * b; }                                   \
  KERF_SIMT_INLINE H __hadd_sat(H a, H b) { return H(__saturatef(static_cast<float>(a + b))); }  \
  KERF_SIMT_INLINE H __hmul_sat(H a, H b) { return H(__saturatef(static_cast<float>(a * b))); }  \
  KERF_SIMT_HALF_BINARY(H, H2, max, H(fmaxf(static_cast<float>(a), static_cast<float>(b))))      \
  KERF_SIMT_HALF_BINARY(H, H2, min, H(fminf(static_cast<float>(a), static_cast<float>(b))))      \
  KERF_SIMT_INLINE H __hmax_nan(H a, H b) { return H(kerf_simt::MaxNan(a, b)); }                 \
  KERF_SIMT_INLINE H __hmin_nan(H a, H b) { return H(kerf_simt::MinNan(a, b)); }                 \
  KERF_SIMT_INLINE H __hfma(H a, H b, H c) { return kerf_simt::HalfFma(a, b, c); }               \
  KERF_SIMT_INLINE H2 __hfma2(H2 a, H2 b, H2 c) {                                                \
    return H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                     \
  }                                                                                              \
  KERF_SIMT_INLINE H __hfma_relu(H a, H b, H c) { return __hmax(__hfma(a, b, c), H(0.0f)); }     \
  KERF_SIMT_INLINE H __hfma_sat(H a, H b, H c) {                                                 \
    return H(__saturatef(static_cast<float>(__hfma(a, b, c))));                                  \
  }                                                                                              \
  KERF_SIMT_INLINE bool __hisnan(H a) { return static_cast<float>(a) != static_cast<float>(a); } \
  KERF_SIMT_INLINE int __hisinf(H a) {                                                           \
    return static_cast<float>(a) == INFINITY ? 1 : static_cast<float>(a) == -INFINITY ? -1 : 0;  \
  }                                                                                              \
  KERF_SIMT_HALF_UNARY(H, H2, exp, ::expf)                                                       \
  KERF_SIMT_HALF_UNARY(H, H2, exp2, ::exp2f)                                                     \
  KERF_SIMT_HALF_UNARY(H, H2, exp10, kerf_simt::ExpTen)                                          \
  KERF_SIMT_HALF_UNARY(H, H2, log, ::logf)                                                       \
  KERF_SIMT_HALF_UNARY(H, H2, log2, ::log2f)                                                     \
  KERF_SIMT_HALF_UNARY(H, H2, log10, ::log10f)                                                   \
  KERF_SIMT_HALF_UNARY(H, H2, sqrt, ::sqrtf)                                                     \
  KERF_SIMT_HALF_UNARY(H, H2, rsqrt, ::rsqrtf)                                                   \
  KERF_SIMT_HALF_UNARY(H, H2, rcp, kerf_simt::Reciprocal)                                        \
  KERF_SIMT_HALF_UNARY(H, H2, sin, ::sinf)                                                       \
  KERF_SIMT_HALF_UNARY(H, H2, cos, ::cosf)                                                       \
  KERF_SIMT_HALF_UNARY(H, H2, tanh, ::tanhf)                                                     \
  KERF_SIMT_HALF_UNARY(H, H2, floor, ::floorf)                                                   \
  KERF_SIMT_HALF_UNARY(H, H2, ceil, ::ceilf)                                                     \
  KERF_SIMT_HALF_UNARY(H, H2, trunc, ::truncf)                                                   \
  KERF_SIMT_HALF_UNARY(H, H2, rint, ::rintf)                                                     \
  KERF_SIMT_INLINE float __low2float(H2 a) { return a.x; }                                       \
  KERF_SIMT_INLINE float __high2float(H2 a) { return a.y; }                                      \
  KERF_SIMT_ATOMIC(atomicAdd, H, old + v)                                                        \
  KERF_SIMT_ATOMIC(atomicAdd, H2, old + v)
