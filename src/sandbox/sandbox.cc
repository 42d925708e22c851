#include "sandbox/sandbox.h"

#include <unistd.h>

#include <csignal>

#include "sandbox/cgroup_linux.h"
#include "sandbox/launch_linux.h"
#include "sandbox/plan_builder.h"
#include "sandbox/stop_scope.h"
#include "sandbox/supervisor_linux.h"

namespace kerf::sandbox {
namespace {

constexpr Layer kRequiredLayers[] = {
    Layer::kUserNamespace, Layer::kMountNamespace, Layer::kPidNamespace,   Layer::kNetworkNamespace,
    Layer::kIpcNamespace,  Layer::kUtsNamespace,   Layer::kNoCapabilities, Layer::kNoNewPrivileges,
    Layer::kSeccomp,       Layer::kRlimits};

// Root's program runs as nobody: the work folder is nobody's for that time.
class LentFolder {
 public:
  static Result<LentFolder> Lend(const std::string& folder, bool needed) {
    LentFolder lent(needed ? folder : "");
    if (needed) KERF_RETURN_IF_ERROR(GiveTree(folder, kInsideId, kInsideId));
    return lent;
  }
  Status TakeBack() {
    if (folder_.empty()) return {};
    return GiveTree(folder_, ::geteuid(), ::getegid());
  }

 private:
  explicit LentFolder(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

Status CheckArguments(const std::vector<std::string>& argv) {
  if (argv.empty() || argv[0].find('/') == std::string::npos) {
    return InvalidInput("sandbox: the program must be given as a path");
  }
  for (const std::string& argument : argv) {
    if (argument.find('\0') != std::string::npos) {
      return InvalidInput("sandbox: an argument of " + argv[0] + " holds a NUL");
    }
  }
  return {};
}

// What was there to be used may still fail to be made: another process can have used up the room.
void RecordCgroup(SandboxLevel& level, const Cgroup* cgroup) {
  for (const Layer layer : {Layer::kCgroupMemory, Layer::kCgroupPids}) {
    const bool held = cgroup != nullptr && (layer == Layer::kCgroupMemory ? cgroup->limits_memory()
                                                                          : cgroup->limits_pids());
    if (level.has(layer) && !held) level.Set(layer, false, "the group could not be made");
  }
}

}  // namespace

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kRequired:
      return "required";
    case Mode::kBest:
      return "best";
    case Mode::kOff:
      return "off";
  }
  return "unknown";
}

std::optional<Mode> ParseMode(std::string_view name) {
  for (const Mode mode : {Mode::kRequired, Mode::kBest, Mode::kOff}) {
    if (name == ModeName(mode)) return mode;
  }
  return std::nullopt;
}

Result<SandboxLevel> ChooseLevel(Mode mode, const SandboxLevel& available) {
  if (mode == Mode::kOff) {
    SandboxLevel level;
    for (size_t i = 0; i < kLayerCount; ++i) {
      const auto layer = static_cast<Layer>(i);
      level.Set(layer, layer == Layer::kRlimits,
                layer == Layer::kRlimits ? "" : "switched off by the caller");
    }
    return level;
  }
  if (mode == Mode::kRequired) {
    for (const Layer layer : kRequiredLayers) {
      if (available.has(layer)) continue;
      return Unavailable(
          std::string("the sandbox is required, but this machine does not provide ") +
          LayerName(layer) + ": " + available[layer].detail +
          "; run `kerf doctor`, or accept a weaker one with --sandbox best");
    }
  }
  return available;
}

Result<Outcome> Sandbox::Run(const std::vector<std::string>& argv, const std::string& input) const {
  KERF_ASSIGN_OR_RETURN(const Fd file, MakeInput(input));
  return Start(argv, file.get());
}

Result<Outcome> Sandbox::RunOn(const std::vector<std::string>& argv, int stdin_fd) const {
  return Start(argv, stdin_fd);
}

Result<Outcome> Sandbox::Start(const std::vector<std::string>& argv, int stdin_fd) const {
  KERF_RETURN_IF_ERROR(CheckArguments(argv));
  const std::stop_token stop = StopScope::Current();
  if (stop.stop_requested()) return Unavailable("stopped");
  KERF_RETURN_IF_ERROR(policy_.Check());
  KERF_ASSIGN_OR_RETURN(SandboxLevel level, ChooseLevel(mode_, available_));
  std::unique_ptr<Cgroup> cgroup;
  if (level.has(Layer::kCgroupMemory) || level.has(Layer::kCgroupPids)) {
    CgroupRoots roots = UsableCgroups();
    if (!level.has(Layer::kCgroupMemory)) roots.memory.clear();
    if (!level.has(Layer::kCgroupPids)) roots.pids.clear();
    cgroup = Cgroup::Create(roots, limits_.memory_bytes, limits_.processes);
    RecordCgroup(level, cgroup.get());
  }
  const ProgramText text = MakeProgramText(policy_, argv);
  KERF_ASSIGN_OR_RETURN(LaunchPlan plan, BuildPlan(policy_, limits_, level, text));
  const bool lend = plan.drop_privileges && plan.caller_uid == 0 && !policy_.work_folder().empty();
  KERF_ASSIGN_OR_RETURN(LentFolder folder, LentFolder::Lend(policy_.work_folder(), lend));

  std::vector<std::string> writable;
  if (!policy_.work_folder().empty()) writable.push_back(policy_.work_folder());
  Result<Launched> launched = Launch(plan, stdin_fd);
  if (!launched.ok()) {
    KERF_RETURN_IF_ERROR(folder.TakeBack());
    return std::move(launched).error();
  }
  if (cgroup != nullptr && !cgroup->Add(launched->init)) {
    level.Set(Layer::kCgroupMemory, false, "the process could not be put into the group");
    level.Set(Layer::kCgroupPids, false, "the process could not be put into the group");
    cgroup.reset();
  }
  Supervisor supervisor(plan, limits_, writable, cgroup.get(), *std::move(launched), stop);
  Outcome outcome = supervisor.Run();
  outcome.level = level;
  KERF_RETURN_IF_ERROR(folder.TakeBack());
  if (supervisor.stopped()) return Unavailable("stopped");
  return outcome;
}

}  // namespace kerf::sandbox
