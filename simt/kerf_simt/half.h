// __half and __half2.
#pragma once

#include "kerf_simt/half_ops.h"

struct __half2_raw {
  unsigned short x, y;
};
KERF_SIMT_HALF_TYPE(__half, __half2, __half_raw, HalfBits, HalfValue)
KERF_SIMT_HALF_FUNCTIONS(__half, __half2)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

KERF_SIMT_INLINE __half __float2half(float v) { return __half(v); }
KERF_SIMT_INLINE __half __float2half_rn(float v) { return __half(v); }
KERF_SIMT_INLINE __half __float2half_rz(float v) {
  return __half(__half_raw{kerf_simt::HalfBitsCut(v)});
}
KERF_SIMT_INLINE __half __double2half(double v) { return __half(v); }
KERF_SIMT_INLINE float __half2float(__half v) { return v; }
KERF_SIMT_INLINE __half2 __float2half2_rn(float v) { return __half2(v, v); }
KERF_SIMT_INLINE __half2 __floats2half2_rn(float a, float b) { return __half2(a, b); }
KERF_SIMT_INLINE __half2 __float22half2_rn(float2 v) { return __half2(v.x, v.y); }
KERF_SIMT_INLINE float2 __half22float2(__half2 v) { return make_float2(v.x, v.y); }
KERF_SIMT_INLINE __half2 __half2half2(__half v) { return __half2(v, v); }
KERF_SIMT_INLINE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
KERF_SIMT_INLINE __half2 make_half2(__half a, __half b) { return __half2(a, b); }
KERF_SIMT_INLINE __half __low2half(__half2 v) { return v.x; }
KERF_SIMT_INLINE __half __high2half(__half2 v) { return v.y; }
KERF_SIMT_INLINE __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
KERF_SIMT_INLINE __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
KERF_SIMT_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KERF_SIMT_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
KERF_SIMT_INLINE __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
KERF_SIMT_INLINE int __half2int_rn(__half v) { return __float2int_rn(v); }
KERF_SIMT_INLINE int __half2int_rz(__half v) { return __float2int_rz(v); }
KERF_SIMT_INLINE unsigned __half2uint_rn(__half v) { return __float2uint_rn(v); }
KERF_SIMT_INLINE __half __int2half_rn(int v) { return __half(v); }
KERF_SIMT_INLINE __half __uint2half_rn(unsigned v) { return __half(v); }
KERF_SIMT_INLINE __half __ll2half_rn(long long v) { return __half(v); }
KERF_SIMT_INLINE unsigned short __half_as_ushort(__half v) { return v.__x; }
KERF_SIMT_INLINE short __half_as_short(__half v) { return static_cast<short>(v.__x); }
KERF_SIMT_INLINE __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }
KERF_SIMT_INLINE __half __short_as_half(short v) {
  return __half(__half_raw{static_cast<unsigned short>(v)});
}
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
