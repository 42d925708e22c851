// How a compiled candidate is run: which files the runner sees, how much it may use.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "loop/verify/runner.h"

namespace kerf::verify {

struct RunnerOptions {
  std::string program;                    // the executable whose main() calls RunnerMain()
  std::vector<std::string> program_args;  // before the library
  sandbox::Mode mode = sandbox::Mode::kBest;
  std::optional<sandbox::SandboxLevel> available;
  std::chrono::milliseconds wall_time = std::chrono::minutes(2);  // of the whole process
  uint64_t memory_bytes = uint64_t{8} << 30;
  int threads = 1;
  // On a GPU: the device nodes it may open, which device is its number 0, and the device code (a
  // path, or empty when the library holds it).
  std::vector<std::string> device_nodes;
  std::string visible_device;
  std::string cubin;
};

// The nodes of NVIDIA's driver.
std::vector<std::string> NvidiaNodes();

RunnerSpec NativeRunnerSpec(const std::string& library, const RunnerOptions& options);

}  // namespace kerf::verify
