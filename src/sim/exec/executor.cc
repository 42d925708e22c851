#include "sim/exec/executor.h"

#include <algorithm>

#include "sandbox/sandbox.h"
#include "sim/exec/run_files.h"
#include "sim/exec/runner_main.h"
#include "sim/exec/tensor_buffer.h"

namespace kerf::sim {
namespace {

constexpr uint64_t kMostOutput = uint64_t{16} << 30;

// Whether the kernel's text speaks of its lane, and how.
struct LaneFacts {
  bool from_args = false;      // get_sub_block_id(args)
  bool from_register = false;  // get_subblockid()
  bool adds_offset = false;    // moves its tiles within a queue's slots by itself
};

LaneFacts FactsOf(const std::string& text) {
  return {text.find("get_sub_block_id") != std::string::npos,
          text.find("get_subblockid") != std::string::npos,
          text.find("setEntryOffset") != std::string::npos};
}

struct Built {
  std::string aic;
  std::vector<std::string> aiv;  // one or two
  LaneFacts facts;
};

Result<bool> BuildMembers(FileSystem& fs, const ReplayPlan& plan, const ExecOptions& options,
                          Built& built, ExecResult& result) {
  result.cached = true;
  for (const KernelMember& member : plan.kernel.members) {
    KERF_ASSIGN_OR_RETURN(const verify::NativeBuild build, BuildKernel(fs, member, options.build));
    result.build_seconds += std::chrono::duration<double>(build.wall).count();
    result.cached = result.cached && build.cached;
    if (!build.ok) {
      result.status = ExecStatus::kNotCompiled;
      result.log = build.log;
      return false;
    }
    KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(member.source));
    const LaneFacts facts = FactsOf(text);
    built.facts.from_args = built.facts.from_args || facts.from_args;
    built.facts.from_register = built.facts.from_register || facts.from_register;
    built.facts.adds_offset = built.facts.adds_offset || facts.adds_offset;
    if (member.core == CoreType::kAic)
      built.aic = build.library;
    else
      built.aiv.push_back(build.library);
  }
  return true;
}

// Both lanes run in a mix and where the kernel asks for its lane; a plain vector kernel is one task
// on one core.
int LanesOf(const ReplayPlan& plan, const ExecOptions& options, const Built& built,
            ExecResult& result) {
  if (built.aiv.empty()) return 0;
  if (built.aiv.size() == 2) return 2;
  const bool mix = plan.kernel.shape == KernelShape::kMix;
  const int lanes =
      options.lanes.value_or(mix || built.facts.from_args || built.facts.from_register ? 2 : 1);
  if (!mix)
    result.notes.push_back(
        lanes == 1 ? "one vector core for each block: the kernel does not ask for its lane"
                   : "two vector cores for each block");
  return lanes;
}

// The runtime of a2a3 leaves the register at 0 on both lanes; that of a5 does not, but kernels that
// were brought over from a2a3 may still add the lane themselves.
bool LaneRegister(const ExecOptions& options, bool a5, const Built& built, ExecResult& result) {
  const bool zero = built.facts.from_args && (!a5 || built.facts.adds_offset);
  const bool on = options.lane_register.value_or(!zero);
  if (built.facts.from_args) {
    result.notes.push_back(
        on ? "get_subblockid() is the lane"
           : "get_subblockid() is 0 on both lanes, as under the runtime: the kernel takes its "
             "lane from the arguments");
  }
  return on;
}

Status AddTensors(FileSystem& fs, const ReplayPlan& plan, const verify::Scratch& folder,
                  RunRequest& request) {
  for (const KernelArg& arg : plan.args.args) {
    if (const ScalarArg* scalar = arg.scalar()) {
      request.scalars.push_back({arg.slot, scalar->bits});
      continue;
    }
    const TensorArg& tensor = *arg.tensor();
    KERF_ASSIGN_OR_RETURN(const std::string buffer, MakeBuffer(fs, arg));
    KERF_RETURN_IF_ERROR(folder.Write("t" + std::to_string(arg.slot) + ".in", buffer));
    request.tensors.push_back({arg.slot, arg.name, buffer.size(), MakeDescriptor(tensor),
                               tensor.role != ArgRole::kInput});
  }
  for (const SpmdDispatch& dispatch : plan.dispatches) {
    RunDispatch row{dispatch.blocks, {}};
    for (const auto& [slot, bits] : dispatch.overrides) row.overrides.push_back({slot, bits});
    request.dispatches.push_back(std::move(row));
  }
  return {};
}

sandbox::Limits RunLimits(const ExecOptions& options) {
  sandbox::Limits limits;
  limits.wall_time = options.timeout;
  limits.cpu_time = options.timeout;
  limits.memory_bytes = uint64_t{16} << 30;
  limits.file_bytes = kMostOutput;
  limits.work_bytes = 2 * kMostOutput;
  limits.output_bytes = uint64_t{1} << 20;
  return limits;
}

// Libraries as the process sees them: the same path for one that several cores run.
struct Paths {
  std::string aic, aiv[2];
};

Paths Show(const Built& built, int lanes, bool inside, sandbox::Policy& policy) {
  Paths paths;
  std::vector<std::string> shown;
  const auto show = [&](const std::string& library) {
    const auto known = std::find(shown.begin(), shown.end(), library);
    const auto number = static_cast<size_t>(known - shown.begin());
    const std::string name = "/kerf/kernel" + std::to_string(number) + ".so";
    if (known == shown.end()) {
      policy.Read(library, name);
      shown.push_back(library);
    }
    return inside ? name : library;
  };
  if (!built.aic.empty()) paths.aic = show(built.aic);
  for (int lane = 0; lane < lanes; ++lane)
    paths.aiv[lane] = show(
        built.aiv[static_cast<size_t>(lane) < built.aiv.size() ? static_cast<size_t>(lane) : 0]);
  return paths;
}

// As Libraries() of the request orders them, where they are outside.
std::vector<std::string> HostLibraries(const Built& built) {
  std::vector<std::string> libraries;
  if (!built.aic.empty()) libraries.push_back(built.aic);
  for (const std::string& path : built.aiv) {
    if (std::find(libraries.begin(), libraries.end(), path) == libraries.end())
      libraries.push_back(path);
  }
  return libraries;
}

// How the process ended, as a finding, when it left no result.
Finding DeathOf(const sandbox::Outcome& outcome, const std::string& folder) {
  Finding finding;
  finding.kind = FindingKind::kFault;
  finding.fatal = true;
  finding.text = "the kernel's process ended early: " + sandbox::Describe(outcome);
  const Result<std::string> fault = sandbox::ReadResultFile(folder, "fault.txt", 4096);
  if (fault.ok() && !fault->empty()) finding.text += "; " + *fault;
  return finding;
}

Status Collect(const ReplayPlan& plan, const std::string& folder, ExecResult& result) {
  for (const KernelArg& arg : plan.args.args) {
    const TensorArg* tensor = arg.tensor();
    if (tensor == nullptr || tensor->role == ArgRole::kInput) continue;
    KERF_ASSIGN_OR_RETURN(
        const std::string buffer,
        sandbox::ReadResultFile(folder, "t" + std::to_string(arg.slot) + ".out", kMostOutput));
    if (buffer.size() != tensor->buffer_bytes())
      return Corrupt("slot " + std::to_string(arg.slot) + " came back with another size");
    result.outputs.push_back({arg.slot, arg.name, *tensor, ViewBytes(*tensor, buffer)});
  }
  return {};
}

}  // namespace

bool ExecResult::sound() const {
  if (status != ExecStatus::kRan || finished != cores) return false;
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.fatal; });
}

Result<ExecResult> Execute(FileSystem& fs, const ReplayPlan& plan, const ExecOptions& options) {
  ExecResult result;
  Built built;
  KERF_ASSIGN_OR_RETURN(const bool compiled, BuildMembers(fs, plan, options, built, result));
  if (!compiled) return result;
  KERF_ASSIGN_OR_RETURN(verify::Scratch scratch,
                        verify::Scratch::Make(options.build.cache_dir + "/scratch"));
  result.folder = std::make_shared<verify::Scratch>(std::move(scratch));
  const std::string folder = result.folder->path();

  const sandbox::SandboxLevel& available = sandbox::Probe();
  const auto level = sandbox::ChooseLevel(options.build.mode, available);
  const bool inside = level.ok() && level->has_namespaces();
  sandbox::Policy policy = sandbox::Policy::ForSystemPrograms();
  policy.Read(options.program, "/kerf/runner").WorkFolder(folder);

  result.libraries = HostLibraries(built);
  result.mode = options.build.mode;
  const int lanes = LanesOf(plan, options, built, result);
  const Paths paths = Show(built, lanes, inside, policy);
  RunRequest request;
  request.a5 = plan.options.platform == Platform::kA5;
  request.record = options.record;
  request.most_instructions = options.most_instructions;
  request.lane_register = LaneRegister(options, request.a5, built, result);
  request.block_num = plan.options.spmd_block_num.value_or(0);
  request.aic = paths.aic;
  request.aiv[0] = paths.aiv[0];
  request.aiv[1] = paths.aiv[1];
  request.comm_slot = options.comm_slot;
  KERF_RETURN_IF_ERROR(AddTensors(fs, plan, *result.folder, request));
  KERF_RETURN_IF_ERROR(result.folder->Write("request.json", WriteRunRequest(request)));

  const sandbox::Sandbox box(policy, RunLimits(options), options.build.mode, available);
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome,
                        box.Run({inside ? "/kerf/runner" : options.program, kSimWord,
                                 inside ? sandbox::kWorkInside : folder}));
  const Result<std::string> text =
      sandbox::ReadResultFile(folder, "result.json", uint64_t{64} << 20);
  if (options.record) result.log_path = folder + "/run.kilog";
  if (!text.ok()) {
    result.status = ExecStatus::kDied;
    result.findings.push_back(DeathOf(outcome, folder));
    return result;
  }
  KERF_ASSIGN_OR_RETURN(RunResult run, ReadRunResult(*text));
  if (!run.error.empty()) return Unavailable("the kernel could not be run: " + run.error);
  result.findings = std::move(run.findings);
  result.instructions = run.instructions;
  result.printed = std::move(run.printed);
  result.cores = run.cores;
  result.finished = run.finished;
  result.run_seconds = run.run_seconds;
  KERF_RETURN_IF_ERROR(Collect(plan, folder, result));
  return result;
}

}  // namespace kerf::sim
