#include "sim/machine/recorder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/machine/move_parts.h"
#include "sim/machine/tile_io.h"
#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

using kerf_log::kAtomic;
using kerf_log::kRead;
using kerf_log::kScratch;
using kerf_log::kWrite;
using kerf_pto::Pipe;

constexpr Pipe kPipes[] = {
#define KERF_PTO_OP(name, pipe) Pipe::pipe,
    KERF_PTO_OPS(KERF_PTO_OP)
#undef KERF_PTO_OP
};
constexpr size_t kOps = sizeof kPipes / sizeof kPipes[0];

// Instructions of the log, by ours: the same names.
const std::array<kerf_log::Op, kOps>& LogOps() {
  static const std::array<kerf_log::Op, kOps> table = [] {
    std::array<kerf_log::Op, kOps> ops{};
    for (size_t i = 0; i < kOps; ++i) {
      ops[i] = kerf_log::Op::SCALAR;
      const char* name = OpName(static_cast<Op>(i));
      for (uint16_t number = 1; number < kerf_log::kOpEnd; ++number) {
        const char* other = kerf_log::OpName(static_cast<kerf_log::Op>(number));
        if (other != nullptr && std::strcmp(name, other) == 0)
          ops[i] = static_cast<kerf_log::Op>(number);
      }
    }
    return ops;
  }();
  return table;
}

kerf_log::Dtype LogType(Type type) {
  using D = kerf_log::Dtype;
  constexpr D kTable[kerf_pto::kTypeCount] = {
      D::kF32,    D::kF16, D::kI32,    D::kI16,    D::kI8,   D::kU8,     D::kBf16,
      D::kI64,    D::kU64, D::kU16,    D::kU32,    D::kBool, D::kF8E4M3, D::kF8E8M0,
      D::kF4E2M1, D::kF64, D::kF8E5M2, D::kF4E1M2, D::kHif8, D::kI4};
  return kTable[static_cast<size_t>(type)];
}

uint32_t Cut(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
}

Pipe MovePipe(Mem from, Mem to) {
  if (from == Mem::kL0c) return Pipe::kFix;
  if (from == Mem::kL1 && to == Mem::kFixpipe) return Pipe::kFix;
  if (from == Mem::kL1) return Pipe::kMte1;
  return to == Mem::kL1 ? Pipe::kMte3 : Pipe::kVector;
}

// Which tiles are written, only scratch, or read although they are written.
struct Roles {
  int destinations = 1;  // the first ones
  unsigned scratch = 0;  // bits
  bool reads_destination = false;
};

constexpr unsigned Bit(int tile) { return 1U << tile; }

Roles RolesOf(const Call& call) {
  switch (call.op) {
    case Op::TSTORE:
    case Op::TSTORE_FP:
    case Op::MSCATTER:
      return {0};
    case Op::TPUSH:
      return {call.globals == 0 ? 1 : 0};
    case Op::TPRINT:
      return {0};
    case Op::TROWMAX:
    case Op::TROWMIN:
    case Op::TROWSUM:
    case Op::TROWPROD:
    case Op::TCOLMAX:
    case Op::TCOLMIN:
    case Op::TCOLSUM:
    case Op::TCOLPROD:
    case Op::TTRANS:
    case Op::TRSQRT:
    case Op::TREMS:
    case Op::TFMODS:
    case Op::TPOWS:
    case Op::TXORS:
      return {1, call.tiles == 3 ? Bit(2) : 0};
    case Op::TROWARGMAX:
    case Op::TROWARGMIN:
    case Op::TCOLARGMAX:
    case Op::TCOLARGMIN:
      return {call.tiles == 4 ? 2 : 1, call.tiles >= 3 ? Bit(call.tiles - 1) : 0};
    case Op::TPARTARGMAX:
    case Op::TPARTARGMIN:
    case Op::TINTERLEAVE:
    case Op::TDEINTERLEAVE:
      return {2};
    case Op::TGATHER:
      if (call.option[0] < 0) return {2, Bit(4)};
      return {1, call.tiles == 4 ? Bit(3) : 0};
    case Op::TQUANT:
      return call.option[0] != 0 ? Roles{2, Bit(3) | Bit(4)} : Roles{1};
    case Op::TMRGSORT:
      return {1, call.option[0] < 0 ? Bit(1) : 0};
    case Op::TSEL:
      return {1, call.tiles == 5 ? Bit(4) : 0};
    case Op::TMATMUL_ACC:
    case Op::TGEMV_ACC:
      return {1, 0, call.tiles == 3};
    case Op::TAXPY:
    case Op::TFUSEDMULADD:
    case Op::TFUSEDMULADDRELU:
    case Op::TMULADDDST:
      return {1, 0, true};
    case Op::TMATMUL_BIAS:
    case Op::TGEMV_BIAS:
    case Op::TMATMUL_MX:
    case Op::TGEMV_MX:
    case Op::TADDC:
    case Op::TSUBC:
    case Op::TDEQUANT:
      return {};
    default:
      return {1, call.tiles == 4 ? Bit(3) : 0};
  }
}

// Whether it is a transfer that MovePartsOf() describes.
bool Moves(const Call& call) {
  switch (call.op) {
    case Op::TMOV:
    case Op::TEXTRACT:
    case Op::TINSERT:
    case Op::TMOV_FP:
    case Op::TEXTRACT_FP:
    case Op::TINSERT_FP:
      return true;
    case Op::TPUSH:
      return call.globals == 0;
    default:
      return false;
  }
}

uint64_t ValidElements(const TileRef& tile) {
  return static_cast<uint64_t>(std::max(tile.valid_rows, 0)) *
         static_cast<uint64_t>(std::max(tile.valid_cols, 0));
}

uint64_t OperationsOf(const Call& call, const Roles& roles) {
  if (call.tiles == 0) return 0;
  if (call.op >= Op::TMATMUL && call.op <= Op::TGEMV_MX) {
    const bool scaled = call.op == Op::TMATMUL_MX || call.op == Op::TGEMV_MX;
    const TileRef& b = call.tile[scaled ? 3 : 2];
    return 2 * ValidElements(call.tile[1]) * static_cast<uint64_t>(std::max(b.valid_cols, 0));
  }
  if (call.globals != 0) return 0;
  const bool reduces = call.op >= Op::TROWMAX && call.op <= Op::TPAIRREDUCESUM;
  const int source = roles.destinations;
  return ValidElements(call.tile[reduces && call.tiles > source ? source : 0]);
}

uint64_t BytesOf(const Call& call) {
  if (call.tiles == 0) {
    uint64_t elements = 1;
    if (call.globals != 0)
      for (const int64_t extent : call.global[0].shape) elements *= static_cast<uint64_t>(extent);
    return call.globals == 0 ? 0 : StoredBytes(call.global[0].type, elements);
  }
  const uint64_t elements = ValidElements(call.tile[0]);
  if (call.globals != 0) return StoredBytes(call.global[0].type, elements);
  if (!Moves(call)) return StoredBytes(call.tile[0].type, elements);
  uint64_t bytes = 0;
  for (const MovePart& part : MovePartsOf(call))
    bytes += StoredBytes(part.to.type,
                         static_cast<uint64_t>(std::max<int64_t>(part.rows * part.cols, 0)));
  return bytes;
}

}  // namespace

Pipe PipeOf(const Call& call) {
  switch (call.op) {
    case Op::TMOV:
    case Op::TEXTRACT:
    case Op::TINSERT:
    case Op::TMOV_FP:
    case Op::TEXTRACT_FP:
    case Op::TINSERT_FP:
      return MovePipe(call.tile[1].mem, call.tile[0].mem);
    case Op::TPUSH:
      if (call.globals == 0) return MovePipe(call.tile[1].mem, call.tile[0].mem);
      return call.tile[0].mem == Mem::kL0c ? Pipe::kFix : Pipe::kMte3;
    case Op::TSTORE:
    case Op::TSTORE_FP:
      return call.tile[0].mem == Mem::kL0c ? Pipe::kFix : Pipe::kMte3;
    case Op::TPOP:
      return Pipe::kMte2;
    case Op::TFILLPAD:
    case Op::TFILLPAD_INPLACE:
    case Op::TFILLPAD_EXPAND:
    case Op::TEXPANDS:
      return call.tile[0].mem == Mem::kL1 ? Pipe::kMte2 : Pipe::kVector;
    case Op::TCI:
      return call.option[1] != 0 ? Pipe::kVector : Pipe::kScalar;
    default:
      return kPipes[static_cast<size_t>(call.op)];
  }
}

kerf_log::Pipe LogPipe(Pipe pipe) {
  switch (pipe) {
    case Pipe::kScalar:
      return kerf_log::Pipe::kScalar;
    case Pipe::kVector:
      return kerf_log::Pipe::kVector;
    case Pipe::kCube:
      return kerf_log::Pipe::kCube;
    case Pipe::kMte1:
      return kerf_log::Pipe::kMte1;
    case Pipe::kMte2:
      return kerf_log::Pipe::kMte2;
    case Pipe::kMte3:
      return kerf_log::Pipe::kMte3;
    case Pipe::kFix:
      return kerf_log::Pipe::kFix;
    case Pipe::kAll:
      return kerf_log::Pipe::kAll;
  }
  return kerf_log::Pipe::kScalar;
}

// The chain of callers is given to the log once for each stack.
uint32_t Recorder::SiteOf(const kerf_pto::Site& site) {
  if (stack_.depth == 0) return log_.SiteOf(site.file, site.line, 0, site.function);
  const uint64_t hash = stack_.hash ^ reinterpret_cast<uintptr_t>(site.file);
  Known& known = known_[(hash ^ hash >> 32 ^ site.line) % known_.size()];
  if (known.site != 0 && known.hash == hash && known.line == site.line) return known.site;
  for (int i = stack_.depth - 1; i >= 0; --i)
    log_.PushFrame(log_.SiteOf(nullptr, 0, 0, nullptr, stack_.pc[i]));
  known = {hash, site.line, log_.SiteOf(site.file, site.line, 0, site.function)};
  for (int i = 0; i < stack_.depth; ++i) log_.PopFrame();
  return known.site;
}

void Recorder::AddTile(const TileRef& tile, uint8_t access) {
  kerf_log::Operand& operand = log_.AddOperand();
  operand.address = tile.addr;
  operand.bytes = Cut(TouchedBytes(tile));
  operand.rows = static_cast<uint32_t>(tile.rows);
  operand.columns = static_cast<uint32_t>(tile.cols);
  operand.valid_rows = static_cast<uint32_t>(std::max(tile.valid_rows, 0));
  operand.valid_columns = static_cast<uint32_t>(std::max(tile.valid_cols, 0));
  operand.memory = static_cast<kerf_log::Memory>(tile.mem);
  operand.dtype = LogType(tile.type);
  operand.layout = static_cast<kerf_log::Layout>(tile.form);
  operand.access = static_cast<uint8_t>(access | tile.owner << kerf_log::kOwnerShift);
}

// A plane with a constant step between its rows (columns) is described exactly, others as a range.
void Recorder::AddGlobal(const GlobalRef& global, uint8_t access) {
  kerf_log::Operand operand;
  uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    last += static_cast<uint64_t>(std::max<int64_t>(global.shape[i] - 1, 0)) *
            static_cast<uint64_t>(std::max<int64_t>(global.stride[i], 0));
  }
  operand.address = global_.Label(global.data);
  operand.bytes = Cut(StoredBytes(global.type, last + 1));
  operand.memory = kerf_log::Memory::kGm;
  operand.dtype = LogType(global.type);
  operand.access = access;
  const bool flat = global.shape[0] <= 1 && global.shape[1] <= 1 && global.shape[2] <= 1;
  const bool nd = flat && global.form == Form::kNd && global.stride[4] == 1;
  const bool dn = flat && global.form == Form::kDn && global.stride[3] == 1;
  operand.layout = nd   ? kerf_log::Layout::kNd
                   : dn ? kerf_log::Layout::kDn
                        : kerf_log::Layout::kOther;
  operand.rows = Cut(static_cast<uint64_t>(dn ? global.stride[4] : global.shape[3]));
  operand.columns = Cut(static_cast<uint64_t>(nd ? global.stride[3] : global.shape[4]));
  operand.valid_rows = Cut(static_cast<uint64_t>(global.shape[3]));
  operand.valid_columns = Cut(static_cast<uint64_t>(global.shape[4]));
  log_.Add(operand);
}

void Recorder::Add(const Call& call) {
  const kerf_log::Op op = LogOps()[static_cast<size_t>(call.op)];
  kerf_log::Instruction& record = log_.Begin(op, LogPipe(PipeOf(call)), SiteOf(call.site));
  record.bytes = Cut(BytesOf(call));
  const Roles roles = RolesOf(call);
  record.operations = OperationsOf(call, roles);
  if (call.op == Op::TCVT) record.mode = static_cast<uint8_t>(call.option[0]);
  const bool to_global =
      call.op == Op::TNOTIFY || call.tiles == 0 || (roles.destinations == 0 && call.globals != 0);
  const bool stores = call.op == Op::TSTORE || call.op == Op::TSTORE_FP;
  const bool atomic = (stores && call.option[0] != 0) || call.op == Op::TNOTIFY ||
                      (call.op == Op::MSCATTER && call.option[1] != 0);
  const auto global_access = [&](int index) -> uint8_t {
    if (call.op == Op::TWAIT) return kRead | kAtomic;
    const bool reads = call.op == Op::TPREFETCH || call.op == Op::TPRINT;
    const bool writes = to_global && index == 0 && !reads;
    return writes ? static_cast<uint8_t>(kWrite | (atomic ? kAtomic : 0)) : kRead;
  };
  if (to_global && call.globals != 0) AddGlobal(call.global[0], global_access(0));
  const bool moves = Moves(call);
  if (moves) AddMove(call, kWrite);
  for (int i = moves ? 2 : 0; i < call.tiles; ++i) {
    if ((roles.scratch & Bit(i)) != 0)
      AddTile(call.tile[i], kWrite | kScratch);
    else if (i >= roles.destinations)
      AddTile(call.tile[i], kRead);
    else
      AddTile(call.tile[i], roles.reads_destination ? kRead | kWrite : kWrite);
  }
  for (int i = to_global ? 1 : 0; i < call.globals; ++i)
    AddGlobal(call.global[i], global_access(i));
  log_.End();
}

// The parts of a transfer: into the memory of each core that it writes to, and where from.
void Recorder::AddMove(const Call& call, uint8_t access) {
  const std::vector<MovePart> parts = MovePartsOf(call);
  for (const MovePart& part : parts)
    AddTile(RegionOf(part.to, part.to_row, part.to_col, part.rows, part.cols), access);
  int64_t rows = 0;
  int64_t cols = 0;
  for (const MovePart& part : parts) {
    rows = std::max(rows, part.from_row + part.rows - parts[0].from_row);
    cols = std::max(cols, part.from_col + part.cols - parts[0].from_col);
  }
  AddTile(RegionOf(call.tile[1], parts[0].from_row, parts[0].from_col, rows, cols), kRead);
}

void Recorder::AddScalar(const TileRef& tile, int64_t offset, bool write,
                         const kerf_pto::Site& site) {
  TileRef element = tile;
  element.addr += static_cast<uint64_t>(offset) * TypeBytes(tile.type);
  element.rows = element.cols = element.valid_rows = element.valid_cols = 1;
  element.form = Form::kNd;
  log_.Begin(write ? kerf_log::Op::SET_VALUE : kerf_log::Op::GET_VALUE, kerf_log::Pipe::kScalar,
             SiteOf(site))
      .bytes = static_cast<uint32_t>(TypeBytes(tile.type));
  AddTile(element, write ? kWrite : kRead);
  log_.End();
}

void Recorder::AddSync(kerf_log::Op op, Pipe pipe, const kerf_log::Sync& sync,
                       const kerf_pto::Site& site) {
  log_.AddSync(op, LogPipe(pipe), SiteOf(site), sync);
}

void Recorder::AddPlain(kerf_log::Op op, const kerf_pto::Site& site) {
  log_.Begin(op, kerf_log::Pipe::kScalar, SiteOf(site));
  log_.End();
}

}  // namespace kerf::sim
