#include "sim/output/report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/json_writer.h"

namespace kerf::sim {
namespace {

// Groups by (site, op, reason, pipe).
class Stalls {
 public:
  Stalls(const InstructionLog& log, const Checked& checked) : log_(log), checked_(checked) {
    for (uint32_t core = 0; core < log.cores.size(); ++core) AddCore(core);
  }

  std::vector<StallReport> Worst(size_t top) const {
    std::vector<std::pair<Key, Sum>> sorted(sums_.begin(), sums_.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.cycles > b.second.cycles;
    });
    std::vector<StallReport> worst;
    for (const auto& [key, sum] : sorted) {
      if (worst.size() == top) break;
      worst.push_back(Describe(key, sum));
    }
    return worst;
  }

 private:
  using Key = std::tuple<uint32_t, Op, StallReason, uint8_t>;
  struct Sum {
    uint64_t cycles = 0, count = 0;
    uint32_t partner = kNobody, partner_core = 0;
  };

  void AddCore(uint32_t core) {
    const CoreTiming& timing = checked_.timing.cores[core];
    const std::vector<Instruction>& program = log_.cores[core].instructions;
    // At a kernel's end the scalar unit waits for the others; nobody waits for it.
    size_t last = program.size();
    while (last > 0 && program[last - 1].pipe == 0) --last;
    for (size_t i = 0; i < last; ++i) {
      const InstructionTime& time = timing.times[i];
      if (time.issue_stall != 0)
        Add(program[i], StallReason::kQueueFull, 0, time.issue_stall, time);
      if (time.stall != 0 && !IsIdle(time.reason))
        Add(program[i], time.reason, program[i].pipe, time.stall, time);
    }
  }

  void Add(const Instruction& record, StallReason reason, uint8_t pipe, uint64_t cycles,
           const InstructionTime& time) {
    const Key key{log_.LineId(record.site), record.op, reason, pipe};
    // Loops come back to the same line: most of the time it is the one before.
    if (last_ == nullptr || key != last_key_) {
      last_ = &sums_[key];
      last_key_ = key;
    }
    last_->cycles += cycles;
    ++last_->count;
    if (time.partner == kNobody) return;
    last_->partner = time.partner;
    last_->partner_core = time.partner_core;
  }

  StallReport Describe(const Key& key, const Sum& sum) const {
    const auto& [site, op, reason, pipe] = key;
    StallReport report{
        reason,   static_cast<Pipe>(pipe), kerf_log::OpName(op), log_.PlaceOf(site), "", sum.cycles,
        sum.count};
    if (sum.partner != kNobody)
      report.waits_for = DescribePlace(log_, LastWorkBefore(sum.partner_core, sum.partner));
    return report;
  }

  // What the set waited for: the instruction before it in its pipe, when there is one.
  HazardPlace LastWorkBefore(uint32_t core, uint32_t set) const {
    const std::vector<Instruction>& program = log_.cores[core].instructions;
    for (uint32_t i = set; i-- > 0;) {
      if (program[i].pipe == program[set].pipe && static_cast<uint16_t>(program[i].op) >= 40)
        return {core, i};
      if (set - i > 10000) break;
    }
    return {core, set};
  }

  const InstructionLog& log_;
  const Checked& checked_;
  std::map<Key, Sum> sums_;
  Key last_key_;
  Sum* last_ = nullptr;
};

CoreReport CoreOf(const CoreLog& log, const CoreTiming& timing, const CoreModel& model) {
  CoreReport report;
  report.name = log.Name();
  report.cycles = timing.end;
  report.instructions = log.instructions.size();
  double cube_peak_cycles = 0;
  uint64_t cube_operations = 0;
  for (size_t i = 0; i < log.instructions.size(); ++i) {
    const Instruction& record = log.instructions[i];
    report.operations += record.operations;
    const auto operands = log.OperandsOf(i);
    for (const Operand& operand : operands) {
      if (operand.memory == Memory::kGm)
        report.gm_bytes += record.bytes != 0 ? record.bytes : operand.bytes;
    }
    if (static_cast<Pipe>(record.pipe) != Pipe::kCube || record.operations == 0) continue;
    for (const Operand& operand : operands) {
      if (operand.memory != Memory::kL0a) continue;
      const uint32_t bytes = std::max<uint32_t>(1, kerf_log::DtypeBits(operand.dtype) / 8);
      const double peak = model.CubePeak(DtypeName(operand.dtype), bytes);
      if (peak > 0) cube_peak_cycles += static_cast<double>(record.operations) / peak;
      cube_operations += record.operations;
      break;
    }
  }
  if (cube_operations != 0 && timing.end != 0)
    report.peak_share = cube_peak_cycles / static_cast<double>(timing.end);
  const char* path = log.kind == CoreKind::kAic ? "gm_to_l1" : "gm_to_ub";
  const auto rate = model.transfer.find(path);
  if (report.gm_bytes != 0 && timing.end != 0 && rate != model.transfer.end())
    report.memory_share = static_cast<double>(report.gm_bytes) / rate->second.bytes_per_cycle /
                          static_cast<double>(timing.end);
  for (uint8_t pipe = 0; pipe < kPipeCount; ++pipe) {
    if (timing.pipes[pipe].instructions != 0 || (pipe == 0 && timing.pipes[0].busy != 0))
      report.pipes.push_back({static_cast<Pipe>(pipe), timing.pipes[pipe]});
  }
  return report;
}

void WritePipes(JsonWriter& json, const CoreReport& core) {
  json.Key("pipes").BeginArray();
  for (const PipeReport& pipe : core.pipes) {
    json.BeginObject().Key("pipe").String(PipeName(pipe.pipe));
    json.Key("busy_cycles").Int(static_cast<int64_t>(pipe.use.busy));
    json.Key("instructions").Int(static_cast<int64_t>(pipe.use.instructions));
    json.Key("stalled_cycles").BeginObject();
    for (size_t reason = 1; reason < kStallReasons; ++reason) {
      if (pipe.use.stalled[reason] != 0)
        json.Key(StallReasonName(static_cast<StallReason>(reason)))
            .Int(static_cast<int64_t>(pipe.use.stalled[reason]));
    }
    json.EndObject().EndObject();
  }
  json.EndArray();
}

void WriteHazards(JsonWriter& json, const SimReport& report) {
  json.Key("hazards").BeginArray();
  for (const HazardReport& hazard : report.hazards) {
    json.BeginObject()
        .Key("kind")
        .String(HazardKindName(hazard.kind))
        .Key("warning")
        .Bool(hazard.warning);
    json.Key("what").String(hazard.what).Key("count").Int(static_cast<int64_t>(hazard.count));
    json.Key("places").BeginArray();
    for (const std::string& place : hazard.places) json.String(place);
    json.EndArray().EndObject();
  }
  json.EndArray();
}

}  // namespace

size_t SimReport::ErrorCount() const {
  return static_cast<size_t>(std::count_if(hazards.begin(), hazards.end(),
                                           [](const HazardReport& h) { return !h.warning; }));
}

SimReport MakeReport(const InstructionLog& log, const CoreModel& model, const Checked& checked,
                     size_t top) {
  SimReport report;
  report.chip = model.chip;
  report.clock_mhz = model.clock_mhz;
  report.cycles = checked.timing.cycles;
  report.instructions = log.InstructionCount();
  report.dropped = log.dropped;
  report.complete = log.complete;
  report.hangs = !checked.timing.blocked.empty();
  report.read_contention = checked.timing.contention.read;
  if (checked.timing.busy_cycles != 0)
    report.default_share = static_cast<double>(checked.timing.default_cycles) /
                           static_cast<double>(checked.timing.busy_cycles);
  for (size_t i = 0; i < log.cores.size(); ++i)
    report.cores.push_back(CoreOf(log.cores[i], checked.timing.cores[i], model));
  report.stalls = Stalls(log, checked).Worst(top);
  for (const Hazard& hazard : checked.hazards) {
    HazardReport shown{hazard.kind, hazard.warning, hazard.what, {}, hazard.count};
    for (const HazardPlace& place : hazard.places)
      shown.places.push_back(DescribePlace(log, place) + " (" + log.cores[place.core].Name() + ")");
    report.hazards.push_back(std::move(shown));
  }
  return report;
}

std::string ReportJson(const SimReport& report) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("chip").String(report.chip).Key("clock_mhz").Double(report.clock_mhz);
  json.Key("cycles")
      .Int(static_cast<int64_t>(report.cycles))
      .Key("us")
      .Double(report.Microseconds());
  json.Key("instructions").Int(static_cast<int64_t>(report.instructions));
  json.Key("dropped")
      .Int(static_cast<int64_t>(report.dropped))
      .Key("complete")
      .Bool(report.complete);
  json.Key("hangs").Bool(report.hangs).Key("default_share").Double(report.default_share);
  json.Key("read_contention").Double(report.read_contention);
  json.Key("cores").BeginArray();
  for (const CoreReport& core : report.cores) {
    json.BeginObject().Key("name").String(core.name).Key("cycles").Int(
        static_cast<int64_t>(core.cycles));
    json.Key("instructions").Int(static_cast<int64_t>(core.instructions));
    json.Key("operations")
        .Int(static_cast<int64_t>(core.operations))
        .Key("gm_bytes")
        .Int(static_cast<int64_t>(core.gm_bytes));
    json.Key("peak_share").Double(core.peak_share).Key("memory_share").Double(core.memory_share);
    WritePipes(json, core);
    json.EndObject();
  }
  json.EndArray().Key("stalls").BeginArray();
  for (const StallReport& stall : report.stalls) {
    json.BeginObject()
        .Key("reason")
        .String(StallReasonName(stall.reason))
        .Key("pipe")
        .String(PipeName(stall.pipe));
    json.Key("instruction")
        .String(stall.instruction)
        .Key("place")
        .String(stall.place)
        .Key("waits_for")
        .String(stall.waits_for);
    json.Key("cycles")
        .Int(static_cast<int64_t>(stall.cycles))
        .Key("count")
        .Int(static_cast<int64_t>(stall.count))
        .EndObject();
  }
  json.EndArray();
  WriteHazards(json, report);
  json.Key("directory")
      .String(report.directory)
      .Key("perfetto")
      .String(report.perfetto)
      .EndObject();
  return text;
}

}  // namespace kerf::sim
