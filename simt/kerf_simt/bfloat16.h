// __nv_bfloat16 and __nv_bfloat162; HIP's names for them are the same types.
#pragma once

#include "kerf_simt/half_ops.h"

KERF_SIMT_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, BfloatBits, BfloatValue)
KERF_SIMT_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
typedef __nv_bfloat16_raw __hip_bfloat16_raw;
#if defined(KERF_SIMT_HIP)
typedef __nv_bfloat16 hip_bfloat16;
#endif

KERF_SIMT_INLINE __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
KERF_SIMT_INLINE __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
KERF_SIMT_INLINE __nv_bfloat16 __float2bfloat16_rz(float v) {
  return __nv_bfloat16(__nv_bfloat16_raw{static_cast<unsigned short>(__float_as_uint(v) >> 16)});
}
KERF_SIMT_INLINE __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
KERF_SIMT_INLINE float __bfloat162float(__nv_bfloat16 v) { return v; }
KERF_SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float v) { return __nv_bfloat162(v, v); }
KERF_SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162(a, b);
}
KERF_SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __nv_bfloat162(v.x, v.y); }
KERF_SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2(v.x, v.y); }
KERF_SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) {
  return __nv_bfloat162(v, v);
}
KERF_SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
KERF_SIMT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
KERF_SIMT_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
KERF_SIMT_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
KERF_SIMT_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) {
  return __nv_bfloat162(v.x, v.x);
}
KERF_SIMT_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) {
  return __nv_bfloat162(v.y, v.y);
}
KERF_SIMT_INLINE int __bfloat162int_rn(__nv_bfloat16 v) { return __float2int_rn(v); }
KERF_SIMT_INLINE int __bfloat162int_rz(__nv_bfloat16 v) { return __float2int_rz(v); }
KERF_SIMT_INLINE __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16(v); }
KERF_SIMT_INLINE __nv_bfloat16 __uint2bfloat16_rn(unsigned v) { return __nv_bfloat16(v); }
KERF_SIMT_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
KERF_SIMT_INLINE short __bfloat16_as_short(__nv_bfloat16 v) { return static_cast<short>(v.__x); }
KERF_SIMT_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) {
  return __nv_bfloat16(__nv_bfloat16_raw{v});
}
KERF_SIMT_INLINE __nv_bfloat16 __short_as_bfloat16(short v) {
  return __nv_bfloat16(__nv_bfloat16_raw{static_cast<unsigned short>(v)});
}
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
