#include "sim/output/catalog.h"

#include <algorithm>

#include "sim/output/text.h"

namespace kerf::sim {
namespace {

// Items by (site, op, pipe): a chain for each site, because a line seldom issues many.
class Builder {
 public:
  Builder(const InstructionLog& log, const Checked& checked)
      : log_(log), checked_(checked), first_(log.sites.size(), kNobody) {}

  Result<Catalog> Run() {
    const size_t cores = log_.cores.size();
    catalog_.item_of.resize(cores);
    for (uint32_t core = 0; core < cores; ++core) Number(core);
    constexpr size_t kMostCells = 20'000'000;
    if (catalog_.items.size() * cores > kMostCells)
      return InvalidInput("the run has " + std::to_string(catalog_.items.size()) +
                          " source places on " + std::to_string(cores) +
                          " cores; no viewer shows that many");
    catalog_.use.resize(cores);
    for (uint32_t core = 0; core < cores; ++core) Sum(core);
    for (const Hazard& hazard : checked_.hazards) {
      for (const HazardPlace& place : hazard.places)
        ++catalog_.items[catalog_.item_of[place.core][place.instruction]].hazards;
    }
    std::vector<std::string> names;
    for (uint32_t core = 0; core < cores; ++core) {
      names.push_back(log_.cores[core].Name());
      catalog_.core_order.push_back(core);
    }
    std::sort(catalog_.core_order.begin(), catalog_.core_order.end(),
              [&](uint32_t a, uint32_t b) { return names[a] < names[b]; });
    return std::move(catalog_);
  }

 private:
  uint32_t ItemOf(const CoreLog& core, size_t index) {
    const Instruction& record = core.instructions[index];
    uint32_t* at = &first_[record.site];
    while (*at != kNobody) {
      const StaticInstruction& item = catalog_.items[*at];
      if (item.op == record.op && item.pipe == record.pipe) return *at;
      at = &next_[*at];
    }
    const auto number = static_cast<uint32_t>(catalog_.items.size());
    *at = number;
    StaticInstruction item{record.site, record.op, record.pipe,
                           Catalog::kFirstAddress + 4 * uint64_t{number}};
    for (const Operand& operand : core.OperandsOf(index)) {
      if (operand.memory == Memory::kL0a) item.left = operand.dtype;
    }
    AppendDetail(core, index, item.detail);
    catalog_.items.push_back(std::move(item));
    next_.push_back(kNobody);
    return number;
  }

  void Number(uint32_t core) {
    const CoreLog& stream = log_.cores[core];
    std::vector<uint32_t>& items = catalog_.item_of[core];
    items.resize(stream.instructions.size());
    for (size_t i = 0; i < items.size(); ++i) items[i] = ItemOf(stream, i);
  }

  void Sum(uint32_t core) {
    std::vector<StaticUse>& uses = catalog_.use[core];
    uses.resize(catalog_.items.size());
    const CoreLog& stream = log_.cores[core];
    const CoreTiming& timing = checked_.timing.cores[core];
    for (size_t i = 0; i < stream.instructions.size(); ++i) {
      const InstructionTime& time = timing.times[i];
      if (time.start == kNever) continue;
      StaticUse& use = uses[catalog_.item_of[core][i]];
      ++use.count;
      use.cycles += time.end - time.start;
      const uint64_t from = std::max(time.start, use.last_end);
      if (time.end > from) use.running += time.end - from;
      use.last_end = std::max(use.last_end, time.end);
      use.bytes += stream.instructions[i].bytes;
      use.operations += stream.instructions[i].operations;
      if (static_cast<Pipe>(stream.instructions[i].pipe) == Pipe::kVector)
        use.vector_bytes += VectorBytes(stream, i);
      use.stalled[static_cast<size_t>(time.reason)] += time.stall;
      use.stalled[static_cast<size_t>(StallReason::kQueueFull)] += time.issue_stall;
    }
  }

  // What one execution could fill: 255 repeats of 256 bytes, as the tool counts it.
  static uint64_t VectorBytes(const CoreLog& stream, size_t index) {
    const auto operands = stream.OperandsOf(index);
    if (operands.empty()) return 0;
    const uint64_t elements = uint64_t{operands[0].valid_rows} * operands[0].valid_columns;
    return std::min<uint64_t>(elements * kerf_log::DtypeBits(operands[0].dtype) / 8,
                              StaticUse::kFullVector);
  }

  const InstructionLog& log_;
  const Checked& checked_;
  Catalog catalog_;
  std::vector<uint32_t> first_;  // by site
  std::vector<uint32_t> next_;   // by item
};

}  // namespace

uint64_t StaticUse::Stalled() const {
  uint64_t sum = 0;
  for (size_t reason = 0; reason < kStallReasons; ++reason) {
    if (!IsIdle(static_cast<StallReason>(reason))) sum += stalled[reason];
  }
  return sum;
}

StallReason StaticUse::MainReason() const {
  size_t most = 0;
  for (size_t reason = 1; reason < kStallReasons; ++reason) {
    if (!IsIdle(static_cast<StallReason>(reason)) && stalled[reason] > stalled[most]) most = reason;
  }
  return static_cast<StallReason>(most);
}

Result<Catalog> MakeCatalog(const InstructionLog& log, const Checked& checked) {
  return Builder(log, checked).Run();
}

void AppendDetail(const CoreLog& core, size_t index, std::string& out) {
  const Instruction& record = core.instructions[index];
  const auto pipe = [](uint8_t number) { return PipeName(static_cast<Pipe>(number)); };
  switch (record.op) {
    case Op::SET_FLAG:
    case Op::WAIT_FLAG:
      out.append("PIPE:")
          .append(pipe(record.sync.source))
          .append(",TRIGGERPIPE:")
          .append(pipe(record.sync.destination))
          .append(",FLAGID:");
      AppendNumber(out, record.sync.event);
      out += ',';
      return;
    case Op::PIPE_BARRIER:
      out.append("PIPE:").append(pipe(record.sync.source)).append(",");
      return;
    case Op::CROSS_SET:
    case Op::CROSS_WAIT:
    case Op::SYNCALL:
      out.append("PIPE:").append(pipe(record.pipe)).append(",sync_id:");
      AppendNumber(out, record.sync.event);
      out.append(",PEERS:");
      AppendNumber(out, record.sync.peers);
      out += ',';
      return;
    default:
      break;
  }
  for (const Operand& operand : core.OperandsOf(index)) {
    out.append(MemoryName(operand.memory)).append(":0x");
    AppendHex(out, operand.address);
    out += ',';
    AppendNumber(out, operand.valid_rows);
    out += 'x';
    AppendNumber(out, operand.valid_columns);
    out.append(DtypeName(operand.dtype)).append(LayoutName(operand.layout)).append(",");
  }
}

}  // namespace kerf::sim
