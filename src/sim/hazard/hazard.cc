#include "sim/hazard/hazard.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "sim/hazard/detector.h"
#include "sim/hazard/hang.h"
#include "sim/timing/agents.h"

namespace kerf::sim {

const char* HazardKindName(HazardKind kind) {
  constexpr const char* kNames[kHazardKinds] = {
      "race",       "missing_barrier",  "wait_without_set", "deadlock",
      "double_set", "set_never_waited", "flag_left_set"};
  return kNames[static_cast<uint8_t>(kind)];
}

namespace {

// Pairs of lines whose second set really came while the first flag was up, in the simulated times.
std::set<std::pair<uint32_t, uint32_t>> SetsWhileUp(const InstructionLog& log, const CoreLog& core,
                                                    const CoreTiming& timing) {
  std::unordered_map<uint32_t, uint64_t> taken;  // by set: when its wait was over
  for (size_t i = 0; i < core.instructions.size(); ++i) {
    if (core.instructions[i].op == Op::WAIT_FLAG && timing.times[i].partner != kNobody)
      taken[timing.times[i].partner] = timing.times[i].end;
  }
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<uint32_t> last(kPipeCount * kPipeCount * 16, kNobody);
  for (uint32_t i = 0; i < core.instructions.size(); ++i) {
    if (core.instructions[i].op != Op::SET_FLAG || timing.times[i].start == kNever) continue;
    uint32_t& before = last[FlagIndex(core.instructions[i].sync)];
    if (before != kNobody) {
      const auto wait = taken.find(before);
      if (wait == taken.end() || wait->second > timing.times[i].end)
        pairs.insert(
            {log.LineId(core.instructions[before].site), log.LineId(core.instructions[i].site)});
    }
    before = i;
  }
  return pairs;
}

// A flag that is only raised again too early when times are other than simulated is a warning: such
// kernels work as long as their pipes keep step.
void SortOutDoubleSets(const InstructionLog& log, Checked& checked) {
  std::map<uint32_t, std::set<std::pair<uint32_t, uint32_t>>> really;  // by core
  for (Hazard& hazard : checked.hazards) {
    if (hazard.kind != HazardKind::kDoubleSet || hazard.places.size() != 2) continue;
    const uint32_t number = hazard.places[0].core;
    const auto [pairs, fresh] = really.try_emplace(number);
    const CoreLog& core = log.cores[number];
    if (fresh) pairs->second = SetsWhileUp(log, core, checked.timing.cores[number]);
    const auto site = [&](size_t i) {
      return log.LineId(core.instructions[hazard.places[i].instruction].site);
    };
    if (pairs->second.count({site(0), site(1)}) != 0) continue;
    hazard.warning = true;
    hazard.what += " (in this run it was down in time)";
  }
}

}  // namespace

Checked TimeAndCheck(const InstructionLog& log, const CoreModel& model) {
  HazardDetector detector(log, model);
  Checked checked;
  checked.timing = Time(log, model, &detector);
  // A run that hangs or was cut off leaves flags up for that reason alone.
  if (checked.timing.blocked.empty() && log.Whole()) detector.CheckLeftFlags();
  checked.hazards = ExplainHang(log, checked.timing);
  for (Hazard& hazard : detector.Take()) checked.hazards.push_back(std::move(hazard));
  SortOutDoubleSets(log, checked);
  std::stable_sort(checked.hazards.begin(), checked.hazards.end(),
                   [](const Hazard& a, const Hazard& b) { return a.warning < b.warning; });
  return checked;
}

std::string DescribePlace(const InstructionLog& log, const HazardPlace& place) {
  const Instruction& record = log.cores[place.core].instructions[place.instruction];
  std::string text =
      std::string(kerf_log::OpName(record.op)) + " " + PipeName(static_cast<Pipe>(record.pipe));
  const std::string where = log.PlaceOf(record.site);
  return where.empty() ? text + " #" + std::to_string(place.instruction) : text + " " + where;
}

}  // namespace kerf::sim
