#include "sim/hazard/hazard.h"

#include <algorithm>

#include "sim/hazard/detector.h"
#include "sim/hazard/hang.h"

namespace kerf::sim {

const char* HazardKindName(HazardKind kind) {
  constexpr const char* kNames[kHazardKinds] = {
      "race",       "missing_barrier",  "wait_without_set", "deadlock",
      "double_set", "set_never_waited", "flag_left_set"};
  return kNames[static_cast<uint8_t>(kind)];
}

Checked TimeAndCheck(const InstructionLog& log, const CoreModel& model) {
  HazardDetector detector(log, model);
  Checked checked;
  checked.timing = Time(log, model, &detector);
  // A run that hangs or was cut off leaves flags up for that reason alone.
  if (checked.timing.blocked.empty() && log.Whole()) detector.CheckLeftFlags();
  checked.hazards = ExplainHang(log, checked.timing);
  for (Hazard& hazard : detector.Take()) checked.hazards.push_back(std::move(hazard));
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
