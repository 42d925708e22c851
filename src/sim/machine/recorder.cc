#include "sim/machine/recorder.h"

#include <algorithm>
#include <array>
#include <cstring>

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

// The tile that is only scratch, -1 when there is none.
int ScratchTile(const Call& call) {
  switch (call.op) {
    case Op::TROWMAX:
    case Op::TROWMIN:
    case Op::TROWSUM:
    case Op::TROWPROD:
    case Op::TROWARGMAX:
    case Op::TROWARGMIN:
    case Op::TCOLMAX:
    case Op::TCOLMIN:
    case Op::TCOLSUM:
    case Op::TCOLPROD:
    case Op::TTRANS:
    case Op::TRSQRT:
      return call.tiles == 3 ? 2 : -1;
    case Op::TMRGSORT:
      return call.option[0] < 0 ? 1 : -1;
    case Op::TSEL:
      return call.tiles == 5 ? 4 : -1;
    case Op::TMATMUL_ACC:
    case Op::TMATMUL_BIAS:
    case Op::TGEMV_ACC:
    case Op::TGEMV_BIAS:
      return -1;
    default:
      return call.op != Op::TMATMUL_MX && call.tiles == 4 ? 3 : -1;
  }
}

uint64_t ValidElements(const TileRef& tile) {
  return static_cast<uint64_t>(std::max(tile.valid_rows, 0)) *
         static_cast<uint64_t>(std::max(tile.valid_cols, 0));
}

uint64_t OperationsOf(const Call& call) {
  if (call.tiles == 0) return 0;
  if (call.op >= Op::TMATMUL && call.op <= Op::TGEMV_BIAS) {
    const TileRef& b = call.tile[call.op == Op::TMATMUL_MX ? 3 : 2];
    return 2 * ValidElements(call.tile[1]) * static_cast<uint64_t>(std::max(b.valid_cols, 0));
  }
  if (call.globals != 0) return 0;
  const bool reduces = call.op >= Op::TROWMAX && call.op <= Op::TCOLPROD;
  return ValidElements(call.tile[reduces && call.tiles > 1 ? 1 : 0]);
}

uint64_t BytesOf(const Call& call) {
  if (call.tiles == 0) {
    uint64_t elements = 1;
    if (call.globals != 0)
      for (const int64_t extent : call.global[0].shape) elements *= static_cast<uint64_t>(extent);
    return call.globals == 0 ? 0 : elements * TypeBytes(call.global[0].type);
  }
  if (call.globals != 0) return ValidElements(call.tile[0]) * TypeBytes(call.global[0].type);
  const TileRef& moved = call.tile[0];
  const bool source = call.tiles > 1 && call.op == Op::TINSERT;
  return ValidElements(source ? call.tile[1] : moved) * TypeBytes(moved.type);
}

}  // namespace

Pipe PipeOf(const Call& call) {
  switch (call.op) {
    case Op::TMOV:
    case Op::TEXTRACT:
    case Op::TINSERT:
      return MovePipe(call.tile[1].mem, call.tile[0].mem);
    case Op::TSTORE:
    case Op::TPUSH:
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

void Recorder::AddTile(const TileRef& tile, uint8_t access) {
  kerf_log::Operand operand;
  operand.address = tile.addr;
  operand.bytes = Cut(TouchedBytes(tile));
  operand.rows = static_cast<uint32_t>(tile.rows);
  operand.columns = static_cast<uint32_t>(tile.cols);
  operand.valid_rows = static_cast<uint32_t>(std::max(tile.valid_rows, 0));
  operand.valid_columns = static_cast<uint32_t>(std::max(tile.valid_cols, 0));
  operand.memory = static_cast<kerf_log::Memory>(tile.mem);
  operand.dtype = LogType(tile.type);
  operand.layout = static_cast<kerf_log::Layout>(tile.form);
  operand.access = access;
  log_.Add(operand);
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
  operand.bytes = Cut((last + 1) * TypeBytes(global.type));
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
  record.operations = OperationsOf(call);
  if (call.op == Op::TCVT) record.mode = static_cast<uint8_t>(call.option[0]);
  const bool stores = call.op == Op::TSTORE || call.op == Op::TPUSH || call.op == Op::MSCATTER;
  const bool to_global = stores || call.op == Op::TNOTIFY || call.tiles == 0;
  const bool atomic = (call.op == Op::TSTORE && call.option[0] != 0) || call.op == Op::TNOTIFY ||
                      (call.op == Op::MSCATTER && call.option[1] != 0);
  const auto global_access = [&](int index) -> uint8_t {
    if (call.op == Op::TWAIT) return kRead | kAtomic;
    const bool writes = to_global && index == 0;
    return writes ? static_cast<uint8_t>(kWrite | (atomic ? kAtomic : 0)) : kRead;
  };
  const bool in_place = (call.op == Op::TMATMUL_ACC || call.op == Op::TGEMV_ACC) && call.tiles == 3;
  const int scratch = ScratchTile(call);
  if (to_global && call.globals != 0) AddGlobal(call.global[0], global_access(0));
  for (int i = 0; i < call.tiles; ++i) {
    const bool writes = i == 0 && !stores;
    if (i == scratch)
      AddTile(call.tile[i], kWrite | kScratch);
    else
      AddTile(call.tile[i],
              writes ? static_cast<uint8_t>(in_place ? kRead | kWrite : kWrite) : kRead);
  }
  for (int i = to_global ? 1 : 0; i < call.globals; ++i)
    AddGlobal(call.global[i], global_access(i));
  log_.End();
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
