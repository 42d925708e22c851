#include "loop/verify/native_runner.h"

#include <algorithm>

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
  return spec;
}

}  // namespace kerf::verify
