// Runs one launch of a kernel: all cores of all blocks, as fibers of one thread, so that every run
// is the same.
//
//   Launch launch(config, global);
//   launch.AddCore({CoreKind::kAiv, 0, 0, entry, args});
//   const LaunchResult result = launch.Run();
//
// A core runs until it has to wait for another one; then the next one goes on, in the order in
// which they were added. Instructions are executed in the order of issue: a missing flag does not
// change results here, the log shows it (src/sim reads it).
#pragma once

#include <kerf_log/record.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/machine/call_stack.h"
#include "sim/machine/finding.h"
#include "sim/machine/global_memory.h"
#include "sim/machine/memory.h"

namespace kerf_log {
class LogFile;
}

namespace kerf::sim {

class SimCore;

struct LaunchConfig {
  const MemorySizes* memories = &kA2A3Memories;
  uint32_t block_count = 1;
  // What get_subblockid() says: the lane, or 0 as under a runtime that does not set the register.
  bool lane_register = true;
  kerf_log::LogFile* log = nullptr;  // null: nothing is recorded
  // Of the kernels that run; empty: call stacks have one line.
  std::vector<CodeRange> code;
};

struct CoreSpec {
  kerf_log::CoreKind kind{};
  uint32_t block = 0;
  uint8_t lane = 0;
  // Called on the core's fiber.
  std::function<void()> body;
  // Called whenever another core becomes the executing one, with that of this core set.
  std::function<void()> enter;
  std::function<void()> leave;
};

struct LaunchResult {
  std::vector<Finding> findings;  // in the order in which they were found
  uint64_t instructions = 0;
  uint64_t finished = 0;  // cores that came to their end
  uint64_t cores = 0;
  std::string printed;  // by TPRINT, 1 MiB at most
};

class Launch {
 public:
  // `global` outlives the launch. `current` is what kerf_pto_bind() was given.
  Launch(const LaunchConfig& config, GlobalMemory& global, kerf_pto::Core** current);
  ~Launch();
  void AddCore(CoreSpec spec);
  LaunchResult Run();

  // Where the process died, for whoever handles the signal: the core and its last instruction.
  [[nodiscard]] std::string LastPlace() const;

 private:
  friend class SimCore;

  struct Reported;
  void Report(const SimCore& core, FindingKind kind, bool fatal, const std::string& text);
  void ReportDeadlock();
  bool Step(SimCore& core);

  const LaunchConfig config_;
  GlobalMemory& global_;
  kerf_pto::Core** const current_;
  std::vector<std::unique_ptr<SimCore>> cores_;
  std::vector<Finding> findings_;
  std::string printed_;
  SimCore* active_ = nullptr;
};

}  // namespace kerf::sim
