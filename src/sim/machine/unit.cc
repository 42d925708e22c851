#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

std::string Describe(const TileRef& tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.cols) + " " + TypeName(tile.type) +
         " tile at " + MemName(tile.mem) + "+" + std::to_string(tile.addr);
}

}  // namespace

const char* OpName(Op op) {
  switch (op) {
#define KERF_PTO_OP(name, pipe) \
  case Op::name:                \
    return #name;
    KERF_PTO_OPS(KERF_PTO_OP)
#undef KERF_PTO_OP
  }
  return "?";
}

const char* FindingKindName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kOutOfRange:
      return "out_of_range";
    case FindingKind::kMisaligned:
      return "misaligned";
    case FindingKind::kUnbound:
      return "unbound_tile";
    case FindingKind::kUnwrittenRead:
      return "unwritten_read";
    case FindingKind::kGlobalRange:
      return "global_out_of_range";
    case FindingKind::kShape:
      return "shape";
    case FindingKind::kIndex:
      return "index";
    case FindingKind::kUnsupported:
      return "unsupported";
    case FindingKind::kFlag:
      return "flag";
    case FindingKind::kDeadlock:
      return "deadlock";
    case FindingKind::kFault:
      return "fault";
  }
  return "?";
}

Unit::Unit(const MemorySizes& sizes, GlobalMemory& global, Complaints& complaints)
    : sizes_(sizes), global_(global), complaints_(complaints) {}

CoreMemory& Unit::memory(Mem mem) {
  auto& slot = memories_[static_cast<size_t>(mem)];
  if (slot == nullptr) slot = std::make_unique<CoreMemory>(memory_size(mem));
  return *slot;
}

void Unit::CheckPlace(const TileRef& tile) {
  const size_t size = memory_size(tile.mem);
  if (size == 0) {
    complaints_.Fail(
        FindingKind::kOutOfRange,
        std::string("this core has no ") + MemName(tile.mem) + " for the " + Describe(tile));
  }
  if (tile.addr % 32 != 0) {
    complaints_.Fail(FindingKind::kMisaligned,
                     "the " + Describe(tile) + " does not begin at a multiple of 32 bytes");
  }
  const uint64_t bytes = CapacityBytes(tile);
  if (tile.addr > size || bytes > size - tile.addr) {
    complaints_.Fail(FindingKind::kOutOfRange,
                     "the " + Describe(tile) + " takes " + std::to_string(bytes) +
                         " bytes and ends " + std::to_string(tile.addr + bytes - size) +
                         " behind the " + std::to_string(size) + " of " + MemName(tile.mem));
  }
}

TileIo Unit::Open(const TileRef& tile) {
  if (tile.bound == 0) {
    complaints_.Fail(FindingKind::kUnbound,
                     "a " + std::to_string(tile.rows) + "x" + std::to_string(tile.cols) + " " +
                         TypeName(tile.type) + " tile has no address: TASSIGN it first");
  }
  CheckPlace(tile);
  if (tile.valid_rows < 0 || tile.valid_cols < 0 || tile.valid_rows > tile.rows ||
      tile.valid_cols > tile.cols) {
    complaints_.Fail(FindingKind::kShape, "the valid region " + std::to_string(tile.valid_rows) +
                                              "x" + std::to_string(tile.valid_cols) +
                                              " is larger than the " + Describe(tile));
  }
  if (tile.owner == 0) return {tile, memory(tile.mem)};
  Unit* owner = complaints_.UnitOf(tile.owner);
  if (owner == nullptr) {
    complaints_.Fail(FindingKind::kOutOfRange,
                     std::string("the block has no ") + (tile.owner == 1 ? "cube" : "vector") +
                         " core whose " + MemName(tile.mem) + " holds the " + Describe(tile));
  }
  return {tile, owner->memory(tile.mem)};
}

void Unit::Close(const TileIo& io, const char* role) {
  if (!io.read_unwritten()) return;
  complaints_.Warn(FindingKind::kUnwrittenRead,
                   std::string(role) + ": reads bytes of the " + Describe(io.tile()) +
                       " that nothing has written, first at " + MemName(io.tile().mem) + "+" +
                       std::to_string(io.unwritten_at()));
}

void Unit::CheckGlobal(const void* data, uint64_t bytes, const char* verb) {
  if (bytes == 0 || global_.Holds(data, bytes) != nullptr) return;
  complaints_.Fail(FindingKind::kGlobalRange,
                   std::string(verb) + " " + std::to_string(bytes) +
                       " bytes that belong to no tensor: " + global_.Near(data));
}

namespace {

// Values of 4 bits and hifloat8 are moved, converted and multiplied; nothing computes with them.
bool KnowsNarrow(Op op, Type type) {
  switch (op) {
    case Op::TLOAD:
    case Op::TSTORE:
    case Op::TPREFETCH:
    case Op::TMOV:
    case Op::TEXTRACT:
    case Op::TINSERT:
    case Op::TPUSH:
    case Op::TPOP:
    case Op::TPUT_ASYNC:
    case Op::TGET_ASYNC:
    case Op::TPRINT:
      return true;
    case Op::TMATMUL_MX:
    case Op::TGEMV_MX:
    case Op::TCVT:
    case Op::TQUANT:
      return type != Type::kHif8;
    default:
      return false;
  }
}

void CheckNarrow(Unit& unit, const Call& call) {
  const auto narrow = [](Type type) { return kerf_pto::PerByte(type) != 1 || type == Type::kHif8; };
  const bool moves = call.op == Op::TMOV || call.op == Op::TEXTRACT || call.op == Op::TINSERT;
  for (int i = 0; i < call.tiles; ++i) {
    const Type type = call.tile[i].type;
    if (!narrow(type)) continue;
    if (!KnowsNarrow(call.op, type) || (moves && call.tile[0].type != call.tile[1].type)) {
      unit.complaints().Fail(FindingKind::kUnsupported,
                             std::string(OpName(call.op)) + " on " + TypeName(type));
    }
  }
}

}  // namespace

void ExecuteTiles(Unit& unit, const Call& call) {
  CheckNarrow(unit, call);
  for (const auto execute :
       {ExecuteElementwise, ExecuteRows, ExecuteMove, ExecuteGlobal, ExecuteProduct, ExecuteConvert,
        ExecuteFused, ExecutePart, ExecuteWeave, ExecuteRearrange, ExecuteSort, ExecuteQuantize,
        ExecutePrint}) {
    if (execute(unit, call)) return;
  }
  unit.complaints().Fail(
      FindingKind::kUnsupported,
      std::string(OpName(call.op)) + " is not simulated; it belongs in src/sim/machine");
}

}  // namespace kerf::sim
