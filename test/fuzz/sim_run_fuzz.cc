// A log of any bytes that reads is timed and searched for hazards: no crash, and the laws hold. A
// kernel's process may write whatever it likes into its log.
#include <cstdint>
#include <string_view>

#include "expect.h"
#include "sim/hazard/hazard.h"

namespace {

kerf::CoreModel Model() {
  kerf::CoreModel model;
  model.clock_mhz = 1000;
  model.queue_depth = 2;
  model.issue = model.tile_issue = model.flag = model.barrier = 1;
  model.shared_read = model.shared_write = 100;
  model.transfer["default"] = {.bytes_per_cycle = 32};
  model.cube_rows = model.cube_columns = 16;
  model.cube_depth_bytes = 32;
  model.cube_cycles["default"] = 1;
  model.repeat_bytes = 256;
  model.most_repeats = 255;
  model.vector["default"] = {6, 2, 4};
  model.vector_overlaps = true;
  return model;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kerf::sim;
  const auto log = ParseInstructionLog({reinterpret_cast<const char*>(data), size});
  if (!log.ok() || log->InstructionCount() > 5000) return 0;
  const kerf::CoreModel model = Model();
  const Checked checked = TimeAndCheck(*log, model);
  for (const CoreTiming& core : checked.timing.cores) {
    for (const InstructionTime& time : core.times) {
      kerf::Expect((time.start == kNever) == (time.end == kNever), "an instruction ran or did not");
      kerf::Expect(time.start <= time.end, "time goes on");
    }
    for (const PipeUse& pipe : core.pipes) {
      uint64_t sum = pipe.busy;
      for (const uint64_t cycles : pipe.stalled) sum += cycles;
      kerf::Expect(sum == checked.timing.cycles, "busy and stalled make the total");
    }
  }
  for (const Hazard& hazard : checked.hazards) {
    for (const HazardPlace& place : hazard.places) (void)DescribePlace(*log, place);
  }
  return 0;
}
