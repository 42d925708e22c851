// Names that instructions take: kinds of tiles, layouts, modes, pipes and events.
#pragma once

#include <cstdint>

// Kernels are written for a compiler that knows these; to a host compiler they mean nothing.
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef AICORE
#define AICORE
#endif
#ifndef __global__
#define __global__
#endif
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#ifndef PTO_INTERNAL
#define PTO_INTERNAL inline
#endif
#ifndef PTO_INST
#define PTO_INST inline
#endif
#ifndef PTO_INLINE
#define PTO_INLINE inline
#endif

// Numbers as kerf_pto::Pipe has them.
enum pipe_t {
  PIPE_S = 0,
  PIPE_V = 1,
  PIPE_M = 2,
  PIPE_MTE1 = 3,
  PIPE_MTE2 = 4,
  PIPE_MTE3 = 5,
  PIPE_ALL = 6,
  PIPE_FIX = 10
};
enum event_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7
};
// Unscoped, so that both SINGLE_CACHE_LINE and cache_line_t::SINGLE_CACHE_LINE name it.
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum atomic_type_t {
  ATOMIC_NONE,
  ATOMIC_F32,
  ATOMIC_F16,
  ATOMIC_S16,
  ATOMIC_S32,
  ATOMIC_S8,
  ATOMIC_BF16
};
enum atomic_op_t { ATOMIC_SUM, ATOMIC_MAX, ATOMIC_MIN };

namespace pto {

inline constexpr int DYNAMIC = -1;
inline constexpr int C0_SIZE_BYTE = 32;
inline constexpr int BLOCK_BYTE_SIZE = 32;
inline constexpr int FRACTAL_NZ_ROW = 16;
inline constexpr int REPEAT_BYTE = 256;

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight, Ctrl };
enum class BLayout { RowMajor = 0, ColMajor = 1 };
enum class SLayout { NoneBox = 0, RowMajor = 1, ColMajor = 2 };
enum class Layout {
  ND,
  DN,
  NZ,
  SCALE,
  MX_A_ZZ,
  MX_A_ND,
  MX_A_DN,
  MX_B_NN,
  MX_B_ND,
  MX_B_DN,
  NC1HWC0,
  NCHW,
  NHWC,
  FRACTAL_Z,
  FRACTAL_Z_S16S8,
  MAX
};
// Above 32 bits: a custom value, the bits of a float below them.
enum class PadValue : uint64_t { Null, Zero, Max, Min, CustomBase = uint64_t{1} << 32 };
inline constexpr PadValue PadValueCustom(float value) {
  return static_cast<PadValue>((uint64_t{1} << 32) | __builtin_bit_cast(uint32_t, value));
}
enum class CompactMode { Null, Normal, RowPlusOne };
enum class RoundMode : uint8_t {
  CAST_NONE = 0,
  CAST_RINT = 1,
  CAST_ROUND = 2,
  CAST_FLOOR = 3,
  CAST_CEIL = 4,
  CAST_TRUNC = 5,
  CAST_ODD = 6
};
enum class SaturationMode : uint8_t { ON, OFF };
enum class CmpMode : uint8_t { EQ, NE, LT, GT, GE, LE };
enum class MaskPattern : uint8_t {
  P0101 = 1,
  P1010 = 2,
  P0001 = 3,
  P0010 = 4,
  P0100 = 5,
  P1000 = 6,
  P1111 = 7
};
enum class AtomicType : uint8_t { AtomicNone, AtomicAdd, AtomicMax, AtomicMin };
enum class AccPhase : uint8_t { Unspecified, Partial, Final };
enum class STPhase : uint8_t { Unspecified, Partial, Final };
enum class ReluPreMode : uint8_t { NoRelu, NormalRelu };
enum class AccToVecMode : uint8_t {
  SingleModeVec0,
  SingleModeVec1,
  DualModeSplitM,
  DualModeSplitN
};
enum class TFillPadMode : uint8_t { Normal, InPlace, Expand };
enum class ExpAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class LogAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class SqrtAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RsqrtAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RecipAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class DivAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class Coalesce : uint8_t { Row, Elem };
enum class ScatterAtomicOp : uint8_t { None, Add, Max, Min };
enum class ScatterOOB : uint8_t { Undefined, Skip, Clamp, Wrap };
enum class GatherOOB : uint8_t { Undefined, Clamp, Wrap, Zero };
enum class SyncAllMode : uint8_t { Hard, Soft };
enum class SyncCoreType : uint8_t { AIVOnly, AICOnly, Mix };
enum class GlobalTensorDim { DIM_0, DIM_1, DIM_2, DIM_3, DIM_4, TOTAL_DIM };
enum Direction : uint8_t {
  DIR_C2V = 1,
  DIR_V2C = 2,
  DIR_BOTH = 3,
  DIR_V2C_CTRL = 4,
  DIR_C2V_GM = 5,
  DIR_V2C_GM = 6,
  DIR_BOTH_GM = 7
};
enum class TileSplitAxis : uint8_t {
  TILE_NO_SPLIT = 0,
  TILE_UP_DOWN = 1,
  TILE_LEFT_RIGHT = 2,
  TILE_UP_DOWN_ODD = 3,
  TILE_LEFT_RIGHT_ODD = 4
};

}  // namespace pto
