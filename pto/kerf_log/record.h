// The records of an instruction log, as they lie on the disk (docs/formats/instruction_log.md):
// plain structs of 32 bytes, little endian, no dependencies, so that a kernel's own process can
// write them.
#pragma once

#include <cstdint>

#include "kerf_log/ops.h"

namespace kerf_log {

enum class Pipe : uint8_t { kScalar, kMte1, kMte2, kMte3, kCube, kVector, kFix, kAll };
inline constexpr uint8_t kPipes = 7;  // without kAll, which only a barrier names

enum class Memory : uint8_t {
  kGm,
  kUb,
  kL1,
  kL0a,
  kL0b,
  kL0c,
  kBias,
  kFixBuffer,
  kScaleA,
  kScaleB,
};
inline constexpr uint8_t kMemories = 10;

enum class Dtype : uint8_t {
  kNone,
  kF32,
  kF16,
  kBf16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kF4E2M1,  // two in a byte
  kF4E1M2,  // two in a byte
  kHif8,
  kI4,  // two in a byte
  kF64,
  kBool,
};
inline constexpr uint8_t kDtypes = 21;

// Bits of one element; 0 for kNone.
inline constexpr uint32_t DtypeBits(Dtype type) {
  constexpr uint8_t kBits[kDtypes] = {0,  32, 16, 16, 8, 8, 16, 16, 32, 32, 64,
                                      64, 8,  8,  8,  4, 4, 8,  4,  64, 8};
  return static_cast<uint8_t>(type) < kDtypes ? kBits[static_cast<uint8_t>(type)] : 0;
}

// kNd and kDn are exact for overlaps: row r (column c) of the valid region begins r·cols (c·rows)
// elements after `address`. All others count as one range of `bytes`.
enum class Layout : uint8_t { kNd, kDn, kNz, kZn, kZz, kNn, kOther };
inline constexpr uint8_t kLayouts = 7;

// Whose memory an operand is in, when it is not the core's own (a5: the cube writes a vector
// core's UB).
enum class Owner : uint8_t { kSelf, kAic, kAiv0, kAiv1 };

// Operand::access
inline constexpr uint8_t kRead = 1;
inline constexpr uint8_t kWrite = 2;
inline constexpr uint8_t kAtomic = 4;   // writes of several cores add up and do not race
inline constexpr uint8_t kScratch = 8;  // clobbered, its result is of no interest
inline constexpr uint8_t kOwnerShift = 4;

// Who takes part in a cross-core signal (Sync::peers), seen from the block of the core.
inline constexpr uint8_t kPeerAic = 1;
inline constexpr uint8_t kPeerAiv0 = 2;
inline constexpr uint8_t kPeerAiv1 = 4;
inline constexpr uint8_t kPeerEveryBlock =
    8;  // the cores named, of all blocks and not only of this one

// Instruction::flags
inline constexpr uint8_t kCountMode = 1;    // a vector mask in count mode
inline constexpr uint8_t kHasMask = 2;      // `mask` is the vector mask's popcount, 1…256
inline constexpr uint8_t kDefaultWork = 4;  // bytes and operations were not known to the recorder

// What SET_FLAG, WAIT_FLAG, PIPE_BARRIER, CROSS_SET, CROSS_WAIT and SYNCALL are about.
//   SET_FLAG       source, destination, event; stands in the source's queue
//   WAIT_FLAG      the same; stands in the destination's queue
//   PIPE_BARRIER   source = the pipe, kAll for all
//   CROSS_SET      source = the pipe that signals, event = the flag's id, peers = who gets the
//   signal CROSS_WAIT     destination = the pipe that blocks (kScalar on a2a3), event, peers = each
//   of
//                  whom one signal is taken
//   SYNCALL        peers = who meets, the core itself included
struct Sync {
  uint8_t source = 0;
  uint8_t destination = 0;
  uint8_t event = 0;
  uint8_t peers = 0;
  uint32_t queue = 0;  // TPipe's flag id + 1 when a queue gave the signal, for people
};

// One executed instruction; `operands` records follow it directly.
struct Instruction {
  Op op{};
  uint8_t pipe = 0;      // Pipe; never kAll
  uint8_t operands = 0;  // at most kMostOperands
  uint32_t site = 0;     // where in the source, 0 = unknown
  uint32_t bytes = 0;    // moved, GM side for transfers; 2^32 - 1 = that or more
  uint16_t repeats = 0;  // of a vector instruction; 0 = follows from the shapes
  uint8_t flags = 0;
  uint8_t mode = 0;         // rounding mode, split, phase: for people
  uint64_t operations = 0;  // multiplications and additions count one each
  union {
    Sync sync;
    uint64_t mask;
  };
  Instruction() : mask(0) {}
};
static_assert(sizeof(Instruction) == 32);
inline constexpr uint8_t kMostOperands = 8;

// What an instruction reads or writes. Destinations come first.
struct Operand {
  uint64_t address =
      0;  // byte offset in its memory; in GM any number that is the same for the same byte
  uint32_t bytes = 0;    // from the first to behind the last byte touched; 0 = none
  uint32_t rows = 0;     // capacity; the step between columns for kDn
  uint32_t columns = 0;  // capacity; the step between rows for kNd, also in GM
  uint32_t valid_rows = 0;
  uint32_t valid_columns = 0;
  Memory memory{};
  Dtype dtype{};
  Layout layout{};
  uint8_t access = 0;  // kRead, kWrite, …, and the Owner in the upper half
};
static_assert(sizeof(Operand) == 32);

// A place in the source. Site 0 is "unknown" and is not stored: the first record is site 1.
struct Site {
  uint32_t file = 0;  // string ids, 0 = unknown
  uint32_t function = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t caller = 0;  // the site this was called from, a smaller id; 0 = outermost
  uint32_t unused = 0;
  uint64_t pc = 0;  // when a site is known by its address only
};
static_assert(sizeof(Site) == 32);

enum class CoreKind : uint8_t { kAic, kAiv };
inline constexpr uint32_t kMostCores = 4096;

struct FileHeader {
  char magic[8] = {'K', 'E', 'R', 'F', 'I', 'L', 'O', 'G'};
  uint32_t version = 1;
  uint32_t unused[5] = {};
};
static_assert(sizeof(FileHeader) == 32);

// A file is its header and chunks; each chunk is a header and `bytes` of content, a multiple of 32.
enum class ChunkType : uint32_t {
  kCore = 1,     // no content; declares `core`
  kStrings = 2,  // texts, each ends with NUL, ids count on; padded with NULs beyond `count`
  kSites = 3,    // Site records, ids count on
  kRecords = 4,  // Instruction and Operand records of `core`; an instruction is never cut
  kEnd = 5,      // no content; nothing follows. Missing: the process was stopped
};
struct ChunkHeader {
  ChunkType type{};
  uint32_t core = 0;   // counts from 0 in the order of kCore
  uint64_t bytes = 0;  // of the content
  uint32_t count = 0;  // kStrings: texts; kRecords: instructions
  uint32_t block = 0;  // kCore
  CoreKind kind{};     // kCore
  uint8_t lane = 0;    // kCore: 0 or 1 of an AIV
  uint16_t unused = 0;
  uint32_t dropped = 0;  // kRecords, kEnd: instructions not recorded because the log was full
};
static_assert(sizeof(ChunkHeader) == 32);

}  // namespace kerf_log
