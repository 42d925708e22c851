// What stands between a kernel and the machine that executes it.
//
// The headers in pto/ turn every instruction into a Call: which instruction, its tiles as plain
// descriptions, its numbers, its place in the source. The machine (src/sim/machine, part of kerf
// itself) executes and records it. So a kernel compiles fast, whatever the instruction does, and an
// instruction is written once for all types and layouts.
//
// Kernel and machine are built by different compilers at different times: kAbiVersion must be
// raised with every change here. The library is loaded and asked by kerf_pto_bind().
#pragma once

#include <cstdint>

namespace kerf_pto {

inline constexpr uint32_t kAbiVersion = 3;

enum class Mem : uint8_t { kGm, kUb, kL1, kL0a, kL0b, kL0c, kBias, kFixpipe, kScaleA, kScaleB };
inline constexpr int kMemCount = 10;

// Up to 15 these are the runtime's own codes, which stand in tensor descriptors.
enum class Type : uint8_t {
  kF32,
  kF16,
  kI32,
  kI16,
  kI8,
  kU8,
  kBf16,
  kI64,
  kU64,
  kU16,
  kU32,
  kBool,
  kE4M3,
  kE8M0,
  kE2M1x2,
  kF64,
  kE5M2,
  kE1M2x2,
  kHif8,
  kI4
};
inline constexpr int kTypeCount = 20;

// Values in a byte. Rows, columns and strides count values, the first of two in the low half.
constexpr int PerByte(Type type) {
  return type == Type::kE2M1x2 || type == Type::kE1M2x2 || type == Type::kI4 ? 2 : 1;
}

// Those from kMxAZz on are of views of global memory only: scales of MX operands.
enum class Form : uint8_t {
  kNd,
  kDn,
  kNz,
  kZn,
  kZz,
  kNn,
  kMxAZz,
  kMxANd,
  kMxADn,
  kMxBNn,
  kMxBNd,
  kMxBDn
};

// The numbers are the ones set_flag's pipe_t has.
enum class Pipe : uint8_t { kScalar, kVector, kCube, kMte1, kMte2, kMte3, kAll, kFix = 10 };

// Name, pipe. Where the pipe depends on the operands it is kScalar here and the machine decides.
// clang-format off
#define KERF_PTO_OPS(X) \
  X(TLOAD, kMte2) X(TSTORE, kMte3) X(TPREFETCH, kMte2) X(TMOV, kScalar) X(TEXTRACT, kScalar) \
  X(TINSERT, kScalar) \
  X(TMATMUL, kCube) X(TMATMUL_ACC, kCube) X(TMATMUL_BIAS, kCube) X(TMATMUL_MX, kCube) \
  X(TGEMV, kCube) X(TGEMV_ACC, kCube) X(TGEMV_BIAS, kCube) X(TGEMV_MX, kCube) \
  X(TADD, kVector) X(TSUB, kVector) X(TMUL, kVector) X(TDIV, kVector) X(TMAX, kVector) \
  X(TMIN, kVector) X(TREM, kVector) X(TAND, kVector) X(TOR, kVector) X(TXOR, kVector) \
  X(TSHL, kVector) X(TSHR, kVector) X(TFMOD, kVector) X(TPOW, kVector) X(TPRELU, kVector) \
  X(TADDS, kVector) X(TSUBS, kVector) X(TMULS, kVector) X(TDIVS, kVector) X(TMAXS, kVector) \
  X(TMINS, kVector) X(TREMS, kVector) X(TANDS, kVector) X(TORS, kVector) X(TXORS, kVector) \
  X(TSHLS, kVector) X(TSHRS, kVector) X(TFMODS, kVector) X(TPOWS, kVector) X(TLRELU, kVector) \
  X(TADDC, kVector) X(TSUBC, kVector) X(TADDSC, kVector) X(TSUBSC, kVector) X(TAXPY, kVector) \
  X(TFUSEDMULADD, kVector) X(TFUSEDMULADDRELU, kVector) X(TMULADDDST, kVector) \
  X(TSUBRELU, kVector) X(TADDRELUCONV, kVector) X(TADDDEQRELU, kVector) \
  X(TEXP, kVector) X(TLOG, kVector) X(TSQRT, kVector) X(TRSQRT, kVector) X(TRECIP, kVector) \
  X(TNEG, kVector) X(TABS, kVector) X(TRELU, kVector) X(TNOT, kVector) X(TCVT, kVector) X(TPACK, kVector) \
  X(TROWMAX, kVector) X(TROWMIN, kVector) X(TROWSUM, kVector) X(TROWPROD, kVector) \
  X(TROWARGMAX, kVector) X(TROWARGMIN, kVector) X(TCOLMAX, kVector) X(TCOLMIN, kVector) \
  X(TCOLSUM, kVector) X(TCOLPROD, kVector) X(TCOLARGMAX, kVector) X(TCOLARGMIN, kVector) \
  X(TPAIRREDUCESUM, kVector) \
  X(TROWEXPAND, kVector) X(TROWEXPANDADD, kVector) X(TROWEXPANDSUB, kVector) \
  X(TROWEXPANDMUL, kVector) X(TROWEXPANDDIV, kVector) X(TROWEXPANDMAX, kVector) \
  X(TROWEXPANDMIN, kVector) X(TROWEXPANDEXPDIF, kVector) \
  X(TCOLEXPAND, kVector) X(TCOLEXPANDADD, kVector) X(TCOLEXPANDSUB, kVector) \
  X(TCOLEXPANDMUL, kVector) X(TCOLEXPANDDIV, kVector) X(TCOLEXPANDMAX, kVector) \
  X(TCOLEXPANDMIN, kVector) X(TCOLEXPANDEXPDIF, kVector) \
  X(TFILLPAD, kVector) X(TFILLPAD_INPLACE, kVector) X(TFILLPAD_EXPAND, kVector) \
  X(TEXPANDS, kVector) X(TGATHER, kVector) X(TGATHERB, kVector) X(TSCATTER, kVector) \
  X(TCI, kScalar) \
  X(TCONCAT, kVector) X(TSORT32, kVector) X(TMRGSORT, kVector) X(TTRANS, kVector) \
  X(TCMP, kVector) X(TCMPS, kVector) X(TSEL, kVector) X(TSELS, kVector) X(TPARTADD, kVector) \
  X(TPARTMAX, kVector) X(TPARTMIN, kVector) X(TPARTMUL, kVector) \
  X(TPARTARGMAX, kVector) X(TPARTARGMIN, kVector) X(TTRI, kVector) X(TINTERLEAVE, kVector) \
  X(TDEINTERLEAVE, kVector) X(THISTOGRAM, kVector) X(TQUANT, kVector) X(TDEQUANT, kVector) \
  X(TMOV_FP, kFix) X(TEXTRACT_FP, kFix) X(TINSERT_FP, kFix) X(TSTORE_FP, kFix) X(TPRINT, kScalar) \
  X(MGATHER, kMte2) X(MSCATTER, kVector) \
  X(TPUSH, kScalar) X(TPOP, kScalar) X(TFREE, kScalar) X(TALLOC, kScalar) X(TNOTIFY, kScalar) \
  X(TWAIT, kScalar) X(TTEST, kScalar) X(TPUT, kScalar) X(TGET, kScalar) X(TPUT_ASYNC, kScalar) \
  X(TGET_ASYNC, kScalar) X(TPREFETCH_ASYNC, kScalar) X(TASSIGN, kScalar) X(TRESHAPE, kScalar) \
  X(GetValue, kScalar) X(SetValue, kScalar) \
  X(set_flag, kScalar) X(wait_flag, kScalar) X(pipe_barrier, kScalar) \
  X(ffts_cross_core_sync, kScalar) X(wait_flag_dev, kScalar) X(set_intra_block, kScalar) \
  X(wait_intra_block, kScalar) X(SYNCALL, kScalar) X(dcci, kScalar) X(dsb, kScalar)
// clang-format on

enum class Op : uint16_t {
#define KERF_PTO_OP(name, pipe) name,
  KERF_PTO_OPS(KERF_PTO_OP)
#undef KERF_PTO_OP
};

// A tile as the instruction sees it. Addresses are byte offsets in its memory.
struct TileRef {
  uint64_t addr;
  Mem mem;
  Type type;
  Form form;
  uint8_t bound;  // whether TASSIGN gave it an address
  uint8_t owner;  // whose memory: 0 the core's own, 1 its cube core's, 2 and 3 its vector cores'
  int32_t rows;   // capacity
  int32_t cols;
  int32_t valid_rows;
  int32_t valid_cols;
  int16_t box_rows;  // 1 when not boxed
  int16_t box_cols;
  uint8_t pad;        // PadValue: 0 null, 1 zero, 2 max, 3 min, 4 custom
  uint32_t pad_bits;  // of a custom one, as float
};

// A view of global memory, 5-D, strides in elements.
struct GlobalRef {
  void* data;
  Type type;
  Form form;
  int64_t shape[5];
  int64_t stride[5];
};

// File and function are literals of the kernel's library and live as long as it.
struct Site {
  const char* file;
  const char* function;
  uint32_t line;
};

// A scalar operand, already of the tile's type.
struct Number {
  double real;
  int64_t integer;
};

inline constexpr int kMostTiles = 6;

struct Call {
  Op op;
  uint8_t tiles;
  uint8_t globals;
  TileRef tile[kMostTiles];  // the destination first
  GlobalRef global[2];
  Number number;
  // What else the instruction takes, by op: rounding, pattern, atomic mode, offsets.
  int64_t option[4];
  Site site;
};

// Flags and queues of a core; PIPE_* numbers.
struct FlagCall {
  Op op;
  uint8_t src;
  uint8_t dst;
  uint32_t id;
  uint32_t mode;   // ffts_cross_core_sync: 0 all cores of a kind, 1 both AIV, 2 cube and vector
  uint32_t queue;  // the TPipe's flag id + 1 when a queue gives the signal, else 0
  Site site;
};

// The core that is executing. Calls may not return: an error ends the core, a wait may let other
// cores run first.
class Core {
 public:
  virtual void Execute(const Call& call) = 0;
  virtual void Flag(const FlagCall& call) = 0;
  // Lets other cores run; called by loops that wait for memory to change. `site` is what it waits
  // in.
  virtual void Pause(const Site& site) = 0;
  // Where a tile's bytes are, for scalar access; checks the range and counts as an instruction.
  virtual void* Scalar(const TileRef& tile, int64_t offset, bool write, const Site& site) = 0;
  virtual void* Address(Mem mem, uint64_t addr) = 0;       // tile.data()
  virtual uint64_t Offset(Mem mem, uint64_t address) = 0;  // and back
  virtual void Assign(const TileRef& tile, const Site& site) = 0;
  virtual void Fail(const char* what, const Site& site) = 0;
  virtual uint32_t BlockIndex() = 0;
  virtual uint32_t BlockCount() = 0;
  virtual uint32_t SubBlock() = 0;
  virtual uint64_t Clock() = 0;

 protected:
  ~Core() = default;
};

}  // namespace kerf_pto
