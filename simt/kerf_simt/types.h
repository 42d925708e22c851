// dim3, the built-in vector types with their alignment in device memory, and make_*.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kerf_simt/qualifiers.h"

#define KERF_SIMT_VECTOR(name, base, align2, align4)                                            \
  struct name##1 {                                                                              \
    base x;                                                                                     \
  };                                                                                            \
  struct __attribute__((aligned(align2))) name##2 {                                             \
    base x, y;                                                                                  \
  };                                                                                            \
  struct name##3 {                                                                              \
    base x, y, z;                                                                               \
  };                                                                                            \
  struct __attribute__((aligned(align4))) name##4 {                                             \
    base x, y, z, w;                                                                            \
  };                                                                                            \
  KERF_SIMT_INLINE name##1 make_##name##1(base x) { return name##1 {x}; }                       \
  KERF_SIMT_INLINE name##2 make_##name##2(base x, base y) { return name##2 {x, y}; }            \
  KERF_SIMT_INLINE name##3 make_##name##3(base x, base y, base z) { return name##3 {x, y, z}; } \
  KERF_SIMT_INLINE name##4 make_##name##4(base x, base y, base z, base w) {                     \
    return name##4 {x, y, z, w};                                                                \
  }

KERF_SIMT_VECTOR(char, signed char, 2, 4)
KERF_SIMT_VECTOR(uchar, unsigned char, 2, 4)
KERF_SIMT_VECTOR(short, short, 4, 8)
KERF_SIMT_VECTOR(ushort, unsigned short, 4, 8)
KERF_SIMT_VECTOR(int, int, 8, 16)
KERF_SIMT_VECTOR(uint, unsigned int, 8, 16)
KERF_SIMT_VECTOR(long, long, 16, 16)
KERF_SIMT_VECTOR(ulong, unsigned long, 16, 16)
KERF_SIMT_VECTOR(longlong, long long, 16, 16)
KERF_SIMT_VECTOR(ulonglong, unsigned long long, 16, 16)
KERF_SIMT_VECTOR(float, float, 8, 16)
KERF_SIMT_VECTOR(double, double, 16, 16)
#undef KERF_SIMT_VECTOR

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

struct CUstream_st;
struct CUevent_st;
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
