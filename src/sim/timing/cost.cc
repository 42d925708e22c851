// The decomposition of tile instructions into vector instructions follows the public description of
// how a2a3 does it; docs/not-modelled.md says where this is coarse.
#include "sim/timing/cost.h"

#include <algorithm>
#include <cmath>

namespace kerf::sim {
namespace {

uint64_t CeilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// As the keys of `transfer` spell them.
const char* PathName(Memory memory) {
  constexpr const char* kNames[] = {"gm",  "ub",   "l1",         "l0a",     "l0b",
                                    "l0c", "bias", "fix_buffer", "scale_a", "scale_b"};
  return kNames[static_cast<uint8_t>(memory)];
}

size_t PathIndex(Memory from, Memory to) {
  return static_cast<size_t>(from) * kerf_log::kMemories + static_cast<size_t>(to);
}

// Instructions in sequence, each needs the result of the one before.
void Append(Cost& cost, const VectorCost& next, uint64_t repeats) {
  if (cost.busy == 0 && cost.tail == 0) {
    cost.head = next.head;
  } else {
    cost.busy += cost.tail + next.head;
  }
  cost.busy += next.slope * repeats;
  cost.tail = next.tail;
}

}  // namespace

CostModel::CostModel(const CoreModel& model)
    : model_(model), entries_(kerf_log::kOpEnd), issue_(kerf_log::kOpEnd) {
  default_ = model.vector.at("default");
  const auto lookup = [&](const char* name, VectorCost& out) {
    const auto found = name == nullptr ? model.vector.end() : model.vector.find(name);
    out = found == model.vector.end() ? default_ : found->second;
    return found != model.vector.end();
  };
  lookup("vbrcb", broadcast_);
  for (uint16_t op = 0; op < kerf_log::kOpEnd; ++op) {
    const OpWork work = WorkOf(static_cast<Op>(op));
    Entry& entry = entries_[op];
    entry.kind = work.kind;
    entry.known = lookup(work.first, entry.first);
    entry.has_second = work.second != nullptr;
    if (entry.has_second) entry.known = lookup(work.second, entry.second) && entry.known;
    issue_[op] = op < 40 ? model.issue : model.tile_issue;
  }
  for (uint8_t from = 0; from < kerf_log::kMemories; ++from) {
    for (uint8_t to = 0; to < kerf_log::kMemories; ++to) {
      const auto a = static_cast<Memory>(from);
      const auto b = static_cast<Memory>(to);
      const auto found = model.transfer.find(std::string(PathName(a)) + "_to_" + PathName(b));
      path_known_[PathIndex(a, b)] = found != model.transfer.end();
      paths_[PathIndex(a, b)] =
          found != model.transfer.end() ? found->second : model.transfer.at("default");
    }
  }
  if (const auto fill = model.transfer.find("l1_fill"); fill != model.transfer.end())
    paths_[PathIndex(Memory::kL1, Memory::kL1)] = fill->second;
  for (uint8_t type = 0; type < kerf_log::kDtypes; ++type) {
    const auto found = model.cube_cycles.find(DtypeName(static_cast<Dtype>(type)));
    cube_cycles_[type] =
        found == model.cube_cycles.end() ? model.cube_cycles.at("default") : found->second;
  }
}

Contention CostModel::ContentionOf(const InstructionLog& log) const {
  double read = 0;
  double write = 0;
  for (const CoreLog& core : log.cores) {
    const bool cube = core.kind == CoreKind::kAic;
    read += paths_[PathIndex(Memory::kGm, cube ? Memory::kL1 : Memory::kUb)].bytes_per_cycle;
    write += paths_[PathIndex(cube ? Memory::kL0c : Memory::kUb, Memory::kGm)].bytes_per_cycle;
  }
  return {std::max(1.0, read / model_.shared_read), std::max(1.0, write / model_.shared_write)};
}

Cost CostModel::Of(const Instruction& record, std::span<const Operand> operands,
                   const Contention& contention) const {
  // A log may claim any shape; sums of times must not overflow.
  Cost cost = Unbounded(record, operands, contention);
  cost.busy = std::min<uint64_t>(cost.busy, UINT32_MAX);
  return cost;
}

Cost CostModel::Unbounded(const Instruction& record, std::span<const Operand> operands,
                          const Contention& contention) const {
  const Entry& entry = entries_[static_cast<uint16_t>(record.op)];
  switch (entry.kind) {
    case WorkKind::kFlag:
      return {0, 0, model_.flag};
    case WorkKind::kBarrier:
      return {0, 0, model_.barrier};
    case WorkKind::kScalar:
      return {0, 0, model_.issue};
    case WorkKind::kScalarAccess: {
      const bool local = !operands.empty() && operands[0].memory != Memory::kGm;
      return {0, 0, local ? model_.scalar_local : model_.scalar_global};
    }
    case WorkKind::kCube:
      return CubeOf(operands);
    case WorkKind::kTransfer:
      return TransferOf(record, operands, contention);
    default:
      break;
  }
  const auto pipe = static_cast<Pipe>(record.pipe);
  if (pipe == Pipe::kVector) return VectorOf(entry, record, operands);
  // TCI without scratch: a scalar store per element. Fills of L1: MTE2.
  if (pipe == Pipe::kScalar)
    return {0, 0, std::max<uint64_t>(1, record.operations) * model_.scalar_local,
            CostSource::kFormula};
  return TransferOf(record, operands, contention);
}

Cost CostModel::TransferOf(const Instruction& record, std::span<const Operand> operands,
                           const Contention& contention) const {
  const Operand* to = nullptr;
  const Operand* from = nullptr;
  for (const Operand& operand : operands) {
    if ((operand.access & kerf_log::kWrite) != 0 && to == nullptr) to = &operand;
    if ((operand.access & kerf_log::kWrite) == 0 && from == nullptr) from = &operand;
  }
  if (to == nullptr && from == nullptr && record.bytes == 0)
    return {0, 0, model_.issue, CostSource::kDefault};
  const Memory source = from != nullptr ? from->memory : to != nullptr ? to->memory : Memory::kGm;
  const Memory target = to != nullptr ? to->memory : source;
  const TransferCost& path = paths_[PathIndex(source, target)];
  const double bytes = record.bytes != 0 ? record.bytes : to != nullptr ? to->bytes : from->bytes;
  double cycles = (bytes + path.half_bytes) / path.bytes_per_cycle;
  if (source == Memory::kGm) cycles *= contention.read;
  if (target == Memory::kGm) cycles *= contention.write;
  const bool known = path_known_[PathIndex(source, target)];
  return {0, path.latency, path.start + std::max<uint64_t>(1, static_cast<uint64_t>(cycles)),
          known ? CostSource::kTable : CostSource::kDefault};
}

Cost CostModel::CubeOf(std::span<const Operand> operands) const {
  // c, [c in,] a, [scale,] b, …: by their memories.
  const Operand* a = nullptr;
  const Operand* b = nullptr;
  for (const Operand& operand : operands) {
    if (operand.memory == Memory::kL0a && a == nullptr) a = &operand;
    if (operand.memory == Memory::kL0b && b == nullptr) b = &operand;
  }
  if (a == nullptr || b == nullptr) return {0, 0, model_.cube_start, CostSource::kDefault};
  const uint64_t bits = std::max<uint32_t>(4, kerf_log::DtypeBits(a->dtype));
  const uint64_t depth = std::max<uint64_t>(1, uint64_t{model_.cube_depth_bytes} * 8 / bits);
  const uint64_t steps = CeilDiv(a->valid_rows, model_.cube_rows) *
                         CeilDiv(a->valid_columns, depth) *
                         CeilDiv(b->valid_columns, model_.cube_columns);
  const double cycles = cube_cycles_[static_cast<uint8_t>(a->dtype)] * static_cast<double>(steps);
  return {0, 0, model_.cube_start + static_cast<uint64_t>(std::ceil(cycles)), CostSource::kFormula};
}

// The largest of the operands that are neither scratch nor rows or columns: of a conversion the
// wider type, of a reduction its source.
CostModel::Shape CostModel::ShapeOf(std::span<const Operand> operands) {
  Shape shape;
  uint64_t most = 0;
  for (const Operand& operand : operands) {
    if ((operand.access & kerf_log::kScratch) != 0 || operand.memory == Memory::kGm) continue;
    const uint64_t bits = kerf_log::DtypeBits(operand.dtype);
    const uint64_t total = uint64_t{operand.valid_rows} * operand.valid_columns * bits;
    if (total <= most) continue;
    most = total;
    const bool columns_first = operand.layout == Layout::kDn;
    const uint64_t rows = columns_first ? operand.valid_columns : operand.valid_rows;
    const uint64_t length = columns_first ? operand.valid_rows : operand.valid_columns;
    const uint64_t capacity = columns_first ? operand.rows : operand.columns;
    shape = {rows, CeilDiv(length * bits, 8), rows <= 1 || length == capacity};
  }
  return shape;
}

uint64_t CostModel::Groups(const Shape& shape) const {
  return std::max<uint64_t>(1, CeilDiv(shape.row_bytes, model_.repeat_bytes));
}

uint64_t CostModel::Repeats(const Shape& shape) const {
  if (shape.contiguous)
    return std::max<uint64_t>(1, CeilDiv(shape.rows * shape.row_bytes, model_.repeat_bytes));
  return std::max<uint64_t>(1, shape.rows * Groups(shape));
}

Cost CostModel::VectorOf(const Entry& entry, const Instruction& record,
                         std::span<const Operand> operands) const {
  Shape shape = ShapeOf(operands);
  Cost cost;
  cost.source = entry.known ? CostSource::kTable : CostSource::kDefault;
  if (shape.rows == 0) cost.source = CostSource::kDefault;
  switch (entry.kind) {
    case WorkKind::kRowReduce:
    case WorkKind::kRowExpand:
    case WorkKind::kColumnReduce:
    case WorkKind::kColumnExpand:
      return RowsOf(entry, shape);
    case WorkKind::kRowCopy:
      return RowCopyOf(entry, shape);
    case WorkKind::kTranspose: {
      // A repeat moves 16 rows of 32 bytes.
      Append(cost, default_,
             std::max<uint64_t>(1, CeilDiv(shape.rows, 16) * CeilDiv(shape.row_bytes, 32)));
      cost.source = CostSource::kDefault;
      return cost;
    }
    case WorkKind::kSort:
      Append(cost, entry.first, std::max<uint64_t>(1, CeilDiv(shape.rows * shape.row_bytes, 1024)));
      return cost;
    default:
      break;
  }
  const uint64_t repeats = record.repeats != 0 ? record.repeats : Repeats(shape);
  Append(cost, entry.first, repeats);
  if (entry.has_second) Append(cost, entry.second, repeats);
  if ((record.flags & kerf_log::kCountMode) != 0 || repeats > model_.most_repeats)
    cost.busy += model_.count_mode;
  if (entry.has_second && entry.known) cost.source = CostSource::kFormula;
  return cost;
}

Cost CostModel::RowsOf(const Entry& entry, const Shape& shape) const {
  Cost cost;
  cost.source = entry.known ? CostSource::kFormula : CostSource::kDefault;
  const uint64_t rows = std::max<uint64_t>(1, shape.rows);
  const uint64_t groups = Groups(shape);
  switch (entry.kind) {
    case WorkKind::kRowReduce:
      for (uint64_t i = 1; i < std::min<uint64_t>(groups, 64); ++i) Append(cost, entry.first, rows);
      Append(cost, entry.second, rows);
      return cost;
    case WorkKind::kRowExpand:
      Append(cost, broadcast_, CeilDiv(rows, 8));
      Append(cost, entry.first, rows * groups);
      break;
    case WorkKind::kColumnExpand:
      Append(cost, entry.first, rows * groups);
      break;
    default: {  // kColumnReduce: a copy of the first row, then rows that wait for each other
      const VectorCost& each = entry.first;
      cost.head = each.head;
      cost.busy = rows * (uint64_t{each.slope} * groups) + (rows - 1) * (each.head + each.tail);
      cost.tail = each.tail;
      return cost;
    }
  }
  if (entry.has_second) Append(cost, entry.second, rows * groups);
  return cost;
}

Cost CostModel::RowCopyOf(const Entry& entry, const Shape& shape) const {
  const uint64_t rows = std::max<uint64_t>(1, shape.rows);
  const uint64_t work = uint64_t{entry.first.slope} * Groups(shape);
  Cost cost{entry.first.head, entry.first.tail, rows * work, CostSource::kFormula};
  // Per row: the vector pipe drains, a flag to the scalar unit, a read, a flag back.
  if (model_.rows_by_scalar)
    cost.busy +=
        (rows - 1) * (entry.first.head + entry.first.tail + 2 * model_.flag + model_.scalar_local);
  return cost;
}

}  // namespace kerf::sim
