// Device mathematics. What libm has under the same name comes from <math.h>; the fast variants
// (__expf and so on) are computed exactly, so a result may be closer to the truth here than on a
// device.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kerf_simt/types.h"

// glibc declares functions of these names, so they are macros.
#define __expf(x) (::kerf_simt::FastExp(x))
#define __exp10f(x) (::kerf_simt::FastExp10(x))
#define __logf(x) (::kerf_simt::FastLog(x))
#define __log2f(x) (::kerf_simt::FastLog2(x))
#define __log10f(x) (::kerf_simt::FastLog10(x))
#define __powf(x, y) (::kerf_simt::FastPow(x, y))
#define __sinf(x) (::kerf_simt::FastSin(x))
#define __cosf(x) (::kerf_simt::FastCos(x))
#define __tanf(x) (::kerf_simt::FastTan(x))
#define __tanhf(x) (::kerf_simt::FastTanh(x))
#define __sincosf(x, s, c) (::kerf_simt::FastSinCos(x, s, c))

namespace kerf_simt {
KERF_SIMT_INLINE float FastExp(float x) { return ::expf(x); }
KERF_SIMT_INLINE float FastExp10(float x) { return ::powf(10.0f, x); }
KERF_SIMT_INLINE float FastLog(float x) { return ::logf(x); }
KERF_SIMT_INLINE float FastLog2(float x) { return ::log2f(x); }
KERF_SIMT_INLINE float FastLog10(float x) { return ::log10f(x); }
KERF_SIMT_INLINE float FastPow(float x, float y) { return ::powf(x, y); }
KERF_SIMT_INLINE float FastSin(float x) { return ::sinf(x); }
KERF_SIMT_INLINE float FastCos(float x) { return ::cosf(x); }
KERF_SIMT_INLINE float FastTan(float x) { return ::tanf(x); }
KERF_SIMT_INLINE float FastTanh(float x) { return ::tanhf(x); }
KERF_SIMT_INLINE void FastSinCos(float x, float* s, float* c) {
  *s = ::sinf(x);
  *c = ::cosf(x);
}

template <typename To, typename From>
KERF_SIMT_INLINE To BitCast(From v) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  memcpy(&to, &v, sizeof(To));
  return to;
}
}  // namespace kerf_simt

#define KERF_SIMT_MIN_MAX(a, b, r)                                                        \
  KERF_SIMT_INLINE r min(a x, b y) {                                                      \
    return static_cast<r>(x) < static_cast<r>(y) ? static_cast<r>(x) : static_cast<r>(y); \
  }                                                                                       \
  KERF_SIMT_INLINE r max(a x, b y) {                                                      \
    return static_cast<r>(x) > static_cast<r>(y) ? static_cast<r>(x) : static_cast<r>(y); \
  }
KERF_SIMT_MIN_MAX(int, int, int)
KERF_SIMT_MIN_MAX(unsigned, unsigned, unsigned)
KERF_SIMT_MIN_MAX(int, unsigned, unsigned)
KERF_SIMT_MIN_MAX(unsigned, int, unsigned)
KERF_SIMT_MIN_MAX(long, long, long)
KERF_SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
KERF_SIMT_MIN_MAX(long, unsigned long, unsigned long)
KERF_SIMT_MIN_MAX(unsigned long, long, unsigned long)
KERF_SIMT_MIN_MAX(long long, long long, long long)
KERF_SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
KERF_SIMT_MIN_MAX(long long, unsigned long long, unsigned long long)
KERF_SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
#if defined(KERF_SIMT_HIP)
KERF_SIMT_MIN_MAX(int, long, long)
KERF_SIMT_MIN_MAX(long, int, long)
KERF_SIMT_MIN_MAX(int, long long, long long)
KERF_SIMT_MIN_MAX(long long, int, long long)
#endif
#undef KERF_SIMT_MIN_MAX
KERF_SIMT_INLINE float min(float x, float y) { return fminf(x, y); }
KERF_SIMT_INLINE float max(float x, float y) { return fmaxf(x, y); }
KERF_SIMT_INLINE double min(double x, double y) { return fmin(x, y); }
KERF_SIMT_INLINE double max(double x, double y) { return fmax(x, y); }
KERF_SIMT_INLINE double min(float x, double y) { return fmin(static_cast<double>(x), y); }
KERF_SIMT_INLINE double max(float x, double y) { return fmax(static_cast<double>(x), y); }
KERF_SIMT_INLINE double min(double x, float y) { return fmin(x, static_cast<double>(y)); }
KERF_SIMT_INLINE double max(double x, float y) { return fmax(x, static_cast<double>(y)); }
KERF_SIMT_INLINE unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }
KERF_SIMT_INLINE unsigned umax(unsigned x, unsigned y) { return x > y ? x : y; }
KERF_SIMT_INLINE long long llmin(long long x, long long y) { return x < y ? x : y; }
KERF_SIMT_INLINE long long llmax(long long x, long long y) { return x > y ? x : y; }

KERF_SIMT_INLINE float rsqrtf(float x) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
KERF_SIMT_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
KERF_SIMT_INLINE float rsqrt(float x) { return rsqrtf(x); }
KERF_SIMT_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KERF_SIMT_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
KERF_SIMT_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
KERF_SIMT_INLINE float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
KERF_SIMT_INLINE float rnorm3df(float x, float y, float z) { return rsqrtf(x * x + y * y + z * z); }
KERF_SIMT_INLINE float norm4df(float x, float y, float z, float w) {
  return sqrtf(x * x + y * y + z * z + w * w);
}
KERF_SIMT_INLINE float fdividef(float x, float y) { return x / y; }
KERF_SIMT_INLINE float __fdividef(float x, float y) { return x / y; }
KERF_SIMT_INLINE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
KERF_SIMT_INLINE double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
KERF_SIMT_INLINE float erfcxf(float x) {
  return static_cast<float>(exp(static_cast<double>(x) * x) * erfc(static_cast<double>(x)));
}
KERF_SIMT_INLINE float sinpif(float x) {
  return static_cast<float>(sin(3.14159265358979323846 * x));
}
KERF_SIMT_INLINE float cospif(float x) {
  return static_cast<float>(cos(3.14159265358979323846 * x));
}
KERF_SIMT_INLINE double sinpi(double x) { return sin(3.14159265358979323846 * x); }
KERF_SIMT_INLINE double cospi(double x) { return cos(3.14159265358979323846 * x); }
KERF_SIMT_INLINE void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
// Giles' approximation, polished by one step of Newton's method in double precision.
inline double erfinv(double x) {
  double w = -log((1 - x) * (1 + x));
  double a = 2 / (3.14159265358979323846 * 0.147) - w / 2;
  double y = sqrt(sqrt(a * a + w / 0.147) - a);
  if (x < 0) y = -y;
  for (int i = 0; i < 4; ++i) y -= (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
  return y;
}
KERF_SIMT_INLINE float erfinvf(float x) { return static_cast<float>(erfinv(x)); }
KERF_SIMT_INLINE float normcdfinvf(float x) {
  return static_cast<float>(1.41421356237309504880 * erfinv(2.0 * x - 1.0));
}

KERF_SIMT_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
KERF_SIMT_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }
KERF_SIMT_INLINE float __frcp_rn(float x) { return 1.0f / x; }
KERF_SIMT_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
KERF_SIMT_INLINE float __fadd_rn(float x, float y) { return x + y; }
KERF_SIMT_INLINE float __fsub_rn(float x, float y) { return x - y; }
KERF_SIMT_INLINE float __fmul_rn(float x, float y) { return x * y; }
KERF_SIMT_INLINE float __fdiv_rn(float x, float y) { return x / y; }
KERF_SIMT_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
KERF_SIMT_INLINE double __dadd_rn(double x, double y) { return x + y; }
KERF_SIMT_INLINE double __dsub_rn(double x, double y) { return x - y; }
KERF_SIMT_INLINE double __dmul_rn(double x, double y) { return x * y; }
KERF_SIMT_INLINE double __ddiv_rn(double x, double y) { return x / y; }
KERF_SIMT_INLINE double __drcp_rn(double x) { return 1.0 / x; }
KERF_SIMT_INLINE double __dsqrt_rn(double x) { return sqrt(x); }
KERF_SIMT_INLINE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

KERF_SIMT_INLINE int __float_as_int(float x) { return kerf_simt::BitCast<int>(x); }
KERF_SIMT_INLINE unsigned __float_as_uint(float x) { return kerf_simt::BitCast<unsigned>(x); }
KERF_SIMT_INLINE float __int_as_float(int x) { return kerf_simt::BitCast<float>(x); }
KERF_SIMT_INLINE float __uint_as_float(unsigned x) { return kerf_simt::BitCast<float>(x); }
KERF_SIMT_INLINE long long __double_as_longlong(double x) {
  return kerf_simt::BitCast<long long>(x);
}
KERF_SIMT_INLINE double __longlong_as_double(long long x) { return kerf_simt::BitCast<double>(x); }
KERF_SIMT_INLINE int __double2hiint(double x) {
  return static_cast<int>(kerf_simt::BitCast<int64_t>(x) >> 32);
}
KERF_SIMT_INLINE int __double2loint(double x) {
  return static_cast<int>(kerf_simt::BitCast<int64_t>(x));
}
KERF_SIMT_INLINE double __hiloint2double(int hi, int lo) {
  return kerf_simt::BitCast<double>(static_cast<int64_t>(hi) << 32 | static_cast<unsigned>(lo));
}

// Conversions saturate on a device, and NaN becomes 0; in C++ both are undefined.
namespace kerf_simt {
template <typename To>
KERF_SIMT_INLINE To Saturate(double x, double low, double above, To lowest, To highest) {
  return x != x ? static_cast<To>(0) : x < low ? lowest : x >= above ? highest : static_cast<To>(x);
}
KERF_SIMT_INLINE int ToInt(double x) {
  return Saturate<int>(x, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX);
}
KERF_SIMT_INLINE unsigned ToUint(double x) {
  return Saturate<unsigned>(x, 0.0, 4294967296.0, 0, UINT32_MAX);
}
KERF_SIMT_INLINE long long ToLong(double x) {
  return Saturate<long long>(x, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN,
                             INT64_MAX);
}
KERF_SIMT_INLINE unsigned long long ToUlong(double x) {
  return Saturate<unsigned long long>(x, 0.0, 18446744073709551616.0, 0, UINT64_MAX);
}
}  // namespace kerf_simt
#define KERF_SIMT_CONVERT(suffix, round)                                                      \
  KERF_SIMT_INLINE int __float2int_##suffix(float x) {                                        \
    return kerf_simt::ToInt(round(static_cast<double>(x)));                                   \
  }                                                                                           \
  KERF_SIMT_INLINE unsigned __float2uint_##suffix(float x) {                                  \
    return kerf_simt::ToUint(round(static_cast<double>(x)));                                  \
  }                                                                                           \
  KERF_SIMT_INLINE long long __float2ll_##suffix(float x) {                                   \
    return kerf_simt::ToLong(round(static_cast<double>(x)));                                  \
  }                                                                                           \
  KERF_SIMT_INLINE unsigned long long __float2ull_##suffix(float x) {                         \
    return kerf_simt::ToUlong(round(static_cast<double>(x)));                                 \
  }                                                                                           \
  KERF_SIMT_INLINE int __double2int_##suffix(double x) { return kerf_simt::ToInt(round(x)); } \
  KERF_SIMT_INLINE unsigned __double2uint_##suffix(double x) {                                \
    return kerf_simt::ToUint(round(x));                                                       \
  }                                                                                           \
  KERF_SIMT_INLINE long long __double2ll_##suffix(double x) { return kerf_simt::ToLong(round(x)); }
KERF_SIMT_CONVERT(rn, ::rint)
KERF_SIMT_CONVERT(rz, ::trunc)
KERF_SIMT_CONVERT(ru, ::ceil)
KERF_SIMT_CONVERT(rd, ::floor)
#undef KERF_SIMT_CONVERT
KERF_SIMT_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
KERF_SIMT_INLINE float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
KERF_SIMT_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
KERF_SIMT_INLINE float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
KERF_SIMT_INLINE double __int2double_rn(int x) { return x; }
KERF_SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }
KERF_SIMT_INLINE double __ll2double_rn(long long x) { return static_cast<double>(x); }
KERF_SIMT_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }

KERF_SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
KERF_SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KERF_SIMT_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
KERF_SIMT_INLINE int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
KERF_SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
KERF_SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
#if defined(KERF_SIMT_HIP)
KERF_SIMT_INLINE int __ffsll(unsigned long long x) {
  return __builtin_ffsll(static_cast<long long>(x));
}
#endif
KERF_SIMT_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
KERF_SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
KERF_SIMT_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selector >> (4 * i);
    unsigned byte = static_cast<unsigned>(both >> (8 * (s & 7))) & 0xff;
    if ((s & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
KERF_SIMT_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) << (n & 31) >> 32);
}
KERF_SIMT_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (n & 31));
}
KERF_SIMT_INLINE int __mulhi(int x, int y) {
  return static_cast<int>(static_cast<int64_t>(x) * y >> 32);
}
KERF_SIMT_INLINE unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}
KERF_SIMT_INLINE long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
KERF_SIMT_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
KERF_SIMT_INLINE int __mul24(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x << 8 >> 8) * static_cast<unsigned>(y << 8 >> 8));
}
KERF_SIMT_INLINE unsigned __umul24(unsigned x, unsigned y) {
  return (x & 0xffffff) * (y & 0xffffff);
}
KERF_SIMT_INLINE unsigned __sad(int x, int y, unsigned z) {
  return z + static_cast<unsigned>(x > y ? x - y : y - x);
}
KERF_SIMT_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return z + (x > y ? x - y : y - x);
}
KERF_SIMT_INLINE int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
KERF_SIMT_INLINE int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
KERF_SIMT_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) {
    c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  }
  return c;
}
KERF_SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
  return c;
}
