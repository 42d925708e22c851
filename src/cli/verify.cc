// kerf verify: is this candidate right, and how fast is it?
#include <algorithm>
#include <utility>

#include "cli/build_info.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/verdict_text.h"
#include "cli/verify_input.h"
#include "cli/verify_stream.h"
#include "device/probe.h"
#include "loop/conduct/devices.h"
#include "loop/conduct/verify_setup.h"
#include "loop/verify/keep_project.h"

namespace kerf::cli {
namespace {

using conduct::VerifyRequest;
using conduct::VerifySetup;

Result<VerifyRequest> ParseRequest(const Args& args) {
  VerifyRequest request;
  request.backend = args.Get("--backend");
  request.seeds = args.GetNumber("--seeds").value_or(3);
  request.timeout_s = args.GetNumber("--timeout").value_or(0);
  const int64_t processors = device::UsableProcessors();
  const int64_t threads = args.GetNumber("--threads").value_or(processors);
  request.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  request.profile = args.Has("--profile");
  request.cold_cache = args.Get("--cache") == "cold";
  request.compat_aikg = args.Get("--compat") == "aikg";
  if (request.seeds < 1 || request.seeds > 1000) return InvalidInput("--seeds takes 1 to 1000");
  if (request.timeout_s > 86'400) return InvalidInput("--timeout takes 1 to 86400 seconds");
  if (threads < 1 || threads > 4096) return InvalidInput("--threads takes 1 to 4096");
  request.threads = static_cast<int>(threads);
  return request;
}

conduct::VerifyPorts Ports(Context& context) {
  return {context.fs, context.clock, GetBuildInfo().version,
          [&context](const std::string& what) { context.out.Progress(what); }};
}

// The GPU that is ours while it lives; none on the CPU.
struct Gpu {
  std::optional<conduct::Devices> devices;
  std::optional<device::Lease> lease;

  [[nodiscard]] const device::Device* device() const {
    return lease.has_value() ? &lease->device() : nullptr;
  }
};

Result<Gpu> AcquireGpu(const VerifyRequest& request, Context& context) {
  Gpu gpu;
  if (request.backend != "cuda") return gpu;
  KERF_ASSIGN_OR_RETURN(gpu.devices, conduct::Devices::Open("cuda", 0, context.clock));
  context.out.Progress("waiting for a GPU");
  KERF_ASSIGN_OR_RETURN(device::Lease lease, gpu.devices->Acquire("kerf verify", {}, std::nullopt));
  gpu.lease.emplace(std::move(lease));
  return gpu;
}

// A verifier for the task, and the device it works on.
struct Bench {
  Gpu gpu;
  VerifySetup setup;
};

Result<Bench> SetUp(const Args& args, const VerifyRequest& request, Context& context) {
  Bench bench;
  KERF_ASSIGN_OR_RETURN(task::TaskFile task,
                        task::ReadTaskFile(context.fs, args.Positional(0),
                                           task::ParseFramework(args.Get("--framework"))));
  KERF_ASSIGN_OR_RETURN(bench.gpu, AcquireGpu(request, context));
  KERF_ASSIGN_OR_RETURN(
      bench.setup,
      conduct::SetUpVerification(std::move(task), request, bench.gpu.device(), Ports(context)));
  return bench;
}

// One verifier for one candidate at a time, unless told otherwise: what is measured has the machine
// for itself, and a GPU has one owner. Triton's interpreter uses one processor.
Result<int> StreamJobs(const Args& args, const VerifyRequest& request) {
  const bool alone = request.profile || request.backend != "cpu";
  const auto wanted = args.GetNumber("--jobs");
  if (wanted.has_value() && (*wanted < 1 || *wanted > 64)) {
    return InvalidInput("--jobs takes 1 to 64");
  }
  if (alone && wanted.value_or(1) > 1) {
    return InvalidInput("--jobs: with --profile or a GPU candidates are judged one at a time");
  }
  const bool interpreted = args.Get("--impl") == "triton" && !alone;
  const int processors = device::UsableProcessors();
  return static_cast<int>(wanted.value_or(interpreted ? std::min(processors, 4) : 1));
}

Result<int> JudgeStream(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(VerifyRequest request, ParseRequest(args));
  KERF_ASSIGN_OR_RETURN(const int jobs, StreamJobs(args, request));
  if (!args.GetNumber("--threads").has_value()) {
    request.threads = std::max(1, request.threads / jobs);
  }
  KERF_ASSIGN_OR_RETURN(Bench bench, SetUp(args, request, context));
  const std::string op_name = bench.setup.task.op_name;
  std::vector<VerifySetup> setups;
  setups.push_back(std::move(bench.setup));
  while (static_cast<int>(setups.size()) < jobs) {
    KERF_ASSIGN_OR_RETURN(Bench another, SetUp(args, request, context));
    setups.push_back(std::move(another.setup));
  }
  std::vector<StreamVerify> verify;
  for (const VerifySetup& setup : setups) {
    verify.emplace_back([&](const Candidate& candidate) { return setup.Verify(candidate); });
  }
  const auto parse = [&](const std::string& line) {
    return ParseStreamedCandidate(context.fs, line, args.Get("--impl"), op_name);
  };
  KERF_ASSIGN_OR_RETURN(const bool all_passed,
                        VerifyStream(context.stdin_fd, parse, verify, context.out));
  return all_passed ? kExitDone : kExitNegative;
}

// A torch extension or Triton code whose task is a test that drives it; nullopt when the task is an
// ordinary one.
Result<std::optional<Verdict>> JudgeByTest(const std::string& task_path,
                                           const VerifyRequest& request,
                                           const std::string& label_path, Candidate& candidate,
                                           Context& context) {
  if (candidate.impl != Impl::kTorchExt && candidate.impl != Impl::kTriton) {
    return std::optional<Verdict>();
  }
  constexpr uint64_t kMostTest = uint64_t{4} << 20;
  KERF_ASSIGN_OR_RETURN(std::string test, context.fs.ReadRange(task_path, 0, kMostTest));
  if (!verify::IsTestCode(test)) return std::optional<Verdict>();
  std::string label;
  if (!label_path.empty()) {
    KERF_ASSIGN_OR_RETURN(label, context.fs.ReadRange(label_path, 0, kMostTest));
  }
  candidate.op_name = task::OpName(task_path);
  KERF_ASSIGN_OR_RETURN(const Gpu gpu, AcquireGpu(request, context));
  KERF_ASSIGN_OR_RETURN(const VerifySetup setup,
                        conduct::SetUpTestVerification(std::move(test), std::move(label), request,
                                                       gpu.device(), Ports(context)));
  context.out.Progress("judging " + candidate.name);
  KERF_ASSIGN_OR_RETURN(Verdict verdict, setup.Verify(candidate));
  return std::optional<Verdict>(std::move(verdict));
}

int Show(const Verdict& verdict, const Args& args, Context& context) {
  context.out.Progress("");
  context.out.Data(args.Has("--json") ? VerdictJson(verdict) + "\n"
                                      : VerdictText(verdict, context.out));
  return verdict.passed() ? kExitDone : kExitNegative;
}

Result<int> JudgeOne(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const VerifyRequest request, ParseRequest(args));
  // What the user may have mistyped first: it must not cost a run of the reference.
  const std::string keep = args.Get("--keep");
  if (!keep.empty()) KERF_RETURN_IF_ERROR(verify::CheckKeepFolder(context.fs, keep));
  KERF_ASSIGN_OR_RETURN(Candidate candidate,
                        ReadCandidate(context.fs, args.Positional(1), args.Get("--impl"), ""));
  KERF_ASSIGN_OR_RETURN(
      const std::optional<Verdict> by_test,
      JudgeByTest(args.Positional(0), request, args.Get("--label"), candidate, context));
  if (by_test.has_value()) {
    if (!keep.empty()) context.out.Note("--keep needs a task file; a test is its own project");
    return Show(*by_test, args, context);
  }
  KERF_ASSIGN_OR_RETURN(const Bench bench, SetUp(args, request, context));
  const VerifySetup& setup = bench.setup;
  candidate.op_name = setup.task.op_name;
  context.out.Progress("judging " + candidate.name);
  KERF_ASSIGN_OR_RETURN(const Verdict verdict, setup.verifier->Verify(candidate));
  if (!keep.empty()) {
    KERF_RETURN_IF_ERROR(verify::KeepProject(
        context.fs, keep, {setup.task.text, candidate, verdict, setup.seeds}, *setup.random));
    context.out.Note("kept in " + keep);
  }
  return Show(verdict, args, context);
}

Result<int> RunVerify(const Args& args, Context& context) {
  if (args.Has("--stdin")) {
    if (!args.Positional(1).empty())
      return InvalidInput("--stdin and a candidate file do not go together");
    if (args.Has("--keep")) return InvalidInput("--keep keeps one candidate, not a stream of them");
    return JudgeStream(args, context);
  }
  if (args.Positional(1).empty()) {
    return InvalidInput("which candidate? give its file, or --stdin for a stream of them");
  }
  return JudgeOne(args, context);
}

}  // namespace

Verb VerifyVerb() {
  return {
      .name = "verify",
      .summary = "Judge a candidate: does it build, is it right, how fast is it",
      .details =
          "Builds and runs the candidate in the sandbox and holds its outputs against the task's\n"
          "reference. --stdin: JSON lines {id, source or path, impl} in, {id, ok, verdict} out.",
      .positionals = {{.name = "TASK", .help = "a task file: Model, get_inputs, get_init_inputs"},
                      {.name = "CANDIDATE", .help = "the kernel to judge", .required = false}},
      .flags = {{.name = "--impl",
                 .value_name = "I",
                 .help = "kind; else by its file name",
                 .choices = {"cpp", "cuda_c", "hip", "torch_ext", "triton", "swft"}},
                {.name = "--backend",
                 .value_name = "B",
                 .help = "where it runs",
                 .default_value = "cpu",
                 .choices = {"cpu", "cuda", "ascend"}},
                {.name = "--framework",
                 .value_name = "F",
                 .help = "of the task, when its imports do not tell",
                 .choices = {"torch", "numpy", "mindspore"}},
                {.name = "--seeds",
                 .value_name = "N",
                 .help = "how many draws of inputs and weights",
                 .default_value = "3",
                 .number = true},
                {.name = "--profile", .help = "also measure it beside the reference"},
                {.name = "--cache",
                 .value_name = "MODE",
                 .help = "state of the processor's caches when timing",
                 .default_value = "warm",
                 .choices = {"warm", "cold"}},
                {.name = "--threads",
                 .value_name = "N",
                 .help = "threads of candidate and reference; all processors when not given",
                 .number = true},
                {.name = "--timeout",
                 .value_name = "S",
                 .help = "seconds for one call; else from the reference's own time",
                 .number = true},
                {.name = "--sandbox",
                 .value_name = "MODE",
                 .help = "which walls must stand around it",
                 .default_value = "best",
                 .choices = {"required", "best", "off"}},
                {.name = "--compat",
                 .value_name = "TOOL",
                 .help = "also tell what this tool would say",
                 .choices = {"aikg"}},
                {.name = "--label",
                 .value_name = "FILE",
                 .help = "with a test as TASK: the original source, whose results are expected"},
                {.name = "--keep",
                 .value_name = "DIR",
                 .help = "leave task, candidate and a script that runs both without kerf"},
                {.name = "--stdin", .help = "judge candidates from standard input"},
                {.name = "--jobs",
                 .value_name = "N",
                 .help = "with --stdin: candidates judged at once; else 1, with triton up to 4",
                 .number = true},
                JsonFlag()},
      .examples = {{"kerf verify examples/tasks/softmax_torch.py softmax.cc", "a C++ candidate"},
                   {"kerf verify task.py kernel.cc --keep kept", "then: python3 kept/verify_*.py"}},
      .run = RunVerify};
}

}  // namespace kerf::cli
