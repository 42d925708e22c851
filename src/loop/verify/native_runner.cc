#include "loop/verify/native_runner.h"

#include <algorithm>
#include <filesystem>

namespace kerf::verify {

RunnerSpec NativeRunnerSpec(const std::string& library, const RunnerOptions& options) {
  RunnerSpec spec;
  spec.mode = options.mode;
  spec.available = options.available;
  spec.policy = sandbox::Policy::ForSystemPrograms();
  spec.policy.Read(options.program, "/kerf/runner").Read(library, "/kerf/candidate.so");
  spec.policy.Variable("OMP_NUM_THREADS", std::to_string(options.threads));
  // A pool that spins after its work is done could not be told from one that goes on working.
  spec.policy.Variable("OMP_WAIT_POLICY", "passive").Variable("GOMP_SPINCOUNT", "0");
  spec.limits.wall_time = options.wall_time;
  spec.limits.cpu_time = options.wall_time * std::max(options.threads, 1);
  spec.limits.memory_bytes = options.memory_bytes;
  spec.limits.output_bytes = uint64_t{1} << 20;
  // A sandbox without namespaces shows the host's paths.
  const sandbox::SandboxLevel level = options.available ? *options.available : sandbox::Probe();
  const auto chosen = sandbox::ChooseLevel(options.mode, level);
  const bool inside = chosen.ok() && chosen->has_namespaces();
  spec.argv = {inside ? "/kerf/runner" : options.program};
  spec.argv.insert(spec.argv.end(), options.program_args.begin(), options.program_args.end());
  spec.argv.push_back(inside ? "/kerf/candidate.so" : library);
  if (options.device_nodes.empty()) return spec;
  // The driver is a large part of the kernel that the candidate can now talk to.
  for (const std::string& node : options.device_nodes)
    spec.policy.Weaken(sandbox::AllowDevice{node});
  spec.policy.Variable("CUDA_VISIBLE_DEVICES", options.visible_device)
      .Read("/sys/devices/system/cpu");
  // It starts threads of its own, and reserves address space for all of the device's memory.
  spec.limits.processes = 1024;
  if (options.cubin.empty()) {
    spec.argv.emplace_back("-");
  } else {
    spec.policy.Read(options.cubin, "/kerf/candidate.cubin");
    spec.argv.push_back(inside ? "/kerf/candidate.cubin" : options.cubin);
  }
  spec.argv.emplace_back("0");
  return spec;
}

std::vector<std::string> NvidiaNodes() {
  std::vector<std::string> nodes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    if (name.rfind("nvidia", 0) == 0 && entry.is_character_file(error))
      nodes.push_back(entry.path());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace kerf::verify
