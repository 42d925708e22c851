#include "loop/verify/verifier.h"

#include <algorithm>

#include "base/file_system.h"
#include "base/hash.h"
#include "loop/verify/build_report.h"
#include "loop/verify/cuda_build.h"
#include "loop/verify/execute.h"
#include "loop/verify/fitness.h"
#include "loop/verify/inline_extension.h"
#include "loop/verify/launch_rewrite.h"
#include "loop/verify/native_build.h"
#include "loop/verify/native_runner.h"
#include "loop/verify/perform.h"
#include "loop/verify/python_candidate.h"
#include "loop/verify/torch_extensions.h"

namespace kerf::verify {
namespace {

// For correctness, not for speed: -O1 compiles in half the time of -O3.
std::vector<std::string> SimtFlags(bool hip) {
  return {"-std=c++17",
          "-O1",
          "-w",
          "-fPIC",
          "-shared",
          "-pthread",
          "-fvisibility=hidden",
          "-Wl,-z,now",
          "-Wl,-z,defs",
          "-Wl,--build-id=none",
          "-include",
          std::string("kerf_simt/") + (hip ? "hip.h" : "cuda.h")};
}

// What to do when the interpreter cannot import what the candidate needs.
std::string HowToGet(Impl impl) {
  if (impl == Impl::kSwft) {
    return "impl swft needs the package swft, which is built from the folder swft of "
           "github.com/mindspore-ai/akg (build.sh) for the interpreter that has the framework, or "
           "for another one that KERF_PYTHON names; ";
  }
  return "impl triton needs the package triton (pip install triton); ";
}

double Milliseconds(int64_t nanos) { return static_cast<double>(nanos) / 1e6; }

// Room for workspaces many times the size of the tensors; one that takes more has lost count.
uint64_t CandidateMemory(const Reference& reference) {
  constexpr uint64_t kLeast = uint64_t{2} << 30;
  constexpr uint64_t kWorkspaces = 16;
  uint64_t most = 0;
  for (const ReferenceCase& one : reference.cases) {
    uint64_t bytes = 0;
    for (const auto* list : {&one.inputs, &one.parameters}) {
      for (const Argument& argument : *list) {
        if (argument.kind == Argument::Kind::kTensor) bytes += argument.tensor.spec.bytes();
      }
    }
    for (const StoredTensor& output : one.outputs) bytes += output.spec.bytes();
    most = std::max(most, bytes);
  }
  return kLeast + kWorkspaces * most;
}

// Adds the time of a phase to the verdict when it ends.
class PhaseTimer {
 public:
  PhaseTimer(Clock& clock, Verdict& verdict, std::string name)
      : clock_(clock), verdict_(verdict), name_(std::move(name)), begin_(clock.MonotonicNanos()) {}
  ~PhaseTimer() {
    verdict_.phases_ms.emplace_back(name_, Milliseconds(clock_.MonotonicNanos() - begin_));
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Clock& clock_;
  Verdict& verdict_;
  const std::string name_;
  const int64_t begin_;
};

}  // namespace

Result<std::unique_ptr<Verifier>> Verifier::Make(Reference reference, VerifierOptions options,
                                                 Clock& clock, IdSource& random) {
  if (!options.available.has_value()) options.available = sandbox::Probe();
  KERF_RETURN_IF_ERROR(ChooseLevel(options.mode, *options.available));
  std::unique_ptr<Verifier> verifier(
      new Verifier(std::move(reference), std::move(options), clock, random));
  KERF_ASSIGN_OR_RETURN(Expectations expectations,
                        Expectations::Make(verifier->reference_, verifier->options_.threads));
  verifier->expectations_.emplace(std::move(expectations));
  return verifier;
}

Verifier::Verifier(Reference reference, VerifierOptions options, Clock& clock, IdSource& random)
    : reference_(std::move(reference)),
      options_(std::move(options)),
      clock_(clock),
      random_(random) {}

Verifier::~Verifier() = default;

Status Verifier::WorkAhead(const Candidate& candidate) {
  if (options_.backend == "cuda" &&
      (candidate.impl == Impl::kCudaC || candidate.impl == Impl::kHip)) {
    Verdict unused = Begin(candidate);
    KERF_RETURN_IF_ERROR(PrepareCuda(candidate, unused));
  }
  FindTaskUnfitness();
  return {};
}

Status Verifier::CheckTask() {
  const std::vector<Unfitness>& found = FindTaskUnfitness();
  if (found.empty()) return {};
  return InvalidInput("the task is not fit: " + found.front().text);
}

void Verifier::UseDevice(const std::string& cuda_device) {
  if (options_.cuda_device == cuda_device) return;
  options_.cuda_device = cuda_device;
  // They hold the other one.
  triton_.reset();
  swft_.reset();
  eager_.reset();
  compiled_.reset();
  extensions_.reset();
}

Result<Verdict> Verifier::Verify(const Candidate& candidate) {
  const int64_t begin = clock_.MonotonicNanos();
  Verdict verdict = Begin(candidate);
  KERF_ASSIGN_OR_RETURN(const std::optional<Loadable> loadable, Prepare(candidate, verdict));
  if (loadable.has_value()) {
    const PhaseTimer timer(clock_, verdict, "execute");
    const ExecuteOptions execute{CallTimeout(), options_.threads, options_.compat_aikg};
    KERF_RETURN_IF_ERROR(Execute(*loadable, *expectations_, execute, random_, verdict));
  }
  if (verdict.passed() && options_.profile) {
    KERF_RETURN_IF_ERROR(Measure(*loadable, candidate.impl == Impl::kTriton, verdict));
  }
  if (verdict.passed()) JudgeTask(verdict);
  verdict.ms = Milliseconds(clock_.MonotonicNanos() - begin);
  if (verdict.passed()) verdict.summary = "passed";
  return verdict;
}

Verdict Verifier::Begin(const Candidate& candidate) {
  Verdict verdict;
  verdict.status = VerdictStatus::kPassed;  // until something is found
  verdict.op_name = candidate.op_name;
  verdict.impl = ImplName(candidate.impl);
  verdict.backend = options_.backend;
  verdict.framework = reference_.framework;
  verdict.candidate_sha256 = Sha256Hex(candidate.source);
  verdict.candidate_bytes = candidate.source.size();
  verdict.candidate_name = candidate.name;
  verdict.task.sha256 = reference_.task_sha256;
  verdict.task.framework_version = reference_.framework_version;
  verdict.task.python = reference_.python;
  verdict.sandbox = DescribeSandbox(options_.mode, *options_.available);
  verdict.kerf_version = options_.version;
  verdict.started = FormatUtc(clock_.WallNanos());
  return verdict;
}

Result<std::optional<Loadable>> Verifier::Prepare(const Candidate& candidate, Verdict& verdict) {
  const PhaseTimer timer(clock_, verdict, "build");
  if (candidate.impl == Impl::kCpp && options_.backend == "cpu") {
    return PrepareCpp(candidate, verdict);
  }
  const bool gpu_language = candidate.impl == Impl::kCudaC || candidate.impl == Impl::kHip;
  if (gpu_language && options_.backend == "cpu") return PrepareSimt(candidate, verdict);
  if (gpu_language && options_.backend == "cuda") return PrepareCuda(candidate, verdict);
  if (candidate.impl == Impl::kTriton && options_.backend != "ascend") {
    return PreparePython(candidate, triton_, verdict);
  }
  if (candidate.impl == Impl::kSwft && options_.backend != "cuda") {
    return PreparePython(candidate, swft_, verdict);
  }
  if (candidate.impl == Impl::kTorchExt && options_.backend == "cpu") {
    return PrepareTorchExt(candidate, verdict);
  }
  verdict.Blame(VerdictStatus::kUnsupported, "impl",
                std::string("impl ") + ImplName(candidate.impl) + " on backend " +
                    options_.backend + " is not there yet");
  return std::optional<Loadable>();
}

Result<std::optional<Loadable>> Verifier::PrepareCpp(const Candidate& candidate, Verdict& verdict) {
  return PrepareNative({candidate.op_name + ".cc", candidate.source, CppFlags(), {}, ""}, verdict);
}

Result<std::optional<Loadable>> Verifier::PrepareSimt(const Candidate& candidate,
                                                      Verdict& verdict) {
  const bool hip = candidate.impl == Impl::kHip;
  const SimtSource simt = RewriteForSimt(candidate.source, {});
  if (!simt.unsupported.empty()) {
    const UnsupportedUse& first = simt.unsupported.front();
    verdict.Blame(VerdictStatus::kUnsupported, "feature",
                  "line " + std::to_string(first.line) + ": " + first.what);
    verdict.log = verdict.summary + "\n";
    return std::optional<Loadable>();
  }
  BuildRequest request;
  request.file_name = candidate.op_name + (hip ? ".hip" : ".cu");
  request.source = simt.text;
  request.flags = SimtFlags(hip);
  request.includes = {{JoinPath(options_.resource_dir, "simt"), kSimtInside}};
  request.salt = BaseName(options_.resource_dir);  // named by the content of all resources
  request.support = std::string(kSimtInside) + "/runtime/all.cc";
  request.support_flags = {"-std=c++17", "-O2", "-w", "-fvisibility=hidden"};
  verdict.checks.emplace_back("simt");
  return PrepareNative(request, verdict);
}

Result<std::optional<Loadable>> Verifier::PrepareNative(const BuildRequest& request,
                                                        Verdict& verdict) {
  const BuildOptions build_options{options_.cache_dir, JoinPath(options_.resource_dir, "include"),
                                   options_.mode, options_.available};
  KERF_ASSIGN_OR_RETURN(const NativeBuild build, BuildNative(request, build_options));
  return Load(build, {}, verdict);
}

Result<std::optional<Loadable>> Verifier::PrepareCuda(const Candidate& candidate,
                                                      Verdict& verdict) {
  const BuildOptions build_options{options_.cache_dir, JoinPath(options_.resource_dir, "include"),
                                   options_.mode, options_.available};
  const Result<std::string> toolkit = FindCudaToolkit();
  if (!toolkit.ok()) {
    verdict.Blame(VerdictStatus::kUnsupported, "package", toolkit.error().message);
    return std::optional<Loadable>();
  }
  const CudaOptions cuda{options_.cuda_arch, *toolkit, options_.resource_dir, options_.runner};
  KERF_ASSIGN_OR_RETURN(const CudaBuild build, BuildCuda(candidate, cuda, build_options));
  RunnerOptions runner;
  runner.device_nodes = NvidiaNodes();
  runner.visible_device = options_.cuda_device;
  runner.cubin = build.cubin;
  return Load(build.native, runner, verdict);
}

Result<std::optional<Loadable>> Verifier::Load(const NativeBuild& build, RunnerOptions runner,
                                               Verdict& verdict) {
  KERF_ASSIGN_OR_RETURN(const bool accepted, AcceptBuild(build, /*torch=*/false, verdict));
  if (!accepted) return std::optional<Loadable>();
  runner.program = options_.runner;
  runner.program_args = options_.runner_args;
  runner.mode = options_.mode;
  runner.available = options_.available;
  runner.threads = options_.threads;
  // Every call has its own limit; this one only ends what escapes it.
  runner.wall_time = CallTimeout() * static_cast<int64_t>(2 + 2 * expectations_->size());
  if (options_.backend == "cpu") runner.memory_bytes = CandidateMemory(reference_);
  if (options_.profile) runner.wall_time += std::chrono::minutes(10);
  const RunnerSpec spec = NativeRunnerSpec(build.library, runner);
  // On a GPU the driver brings any number of libraries.
  const bool watch = options_.backend == "cpu";
  const std::string file = BaseName(build.library);
  return std::optional<Loadable>(Loadable{[spec, watch, file]() -> Result<std::unique_ptr<Runner>> {
    KERF_ASSIGN_OR_RETURN(std::unique_ptr<Runner> started, StartRunner(spec));
    if (watch) started->WatchLibraries({"candidate.so", file});
    return started;
  }});
}

Result<std::optional<Loadable>> Verifier::PreparePython(const Candidate& candidate,
                                                        std::unique_ptr<WarmInterpreter>& kept,
                                                        Verdict& verdict) {
  if (kept == nullptr || !kept->alive()) {
    Result<std::unique_ptr<WarmInterpreter>> started =
        StartServer({reference_.framework, ImplName(candidate.impl)},
                    /*compile=*/options_.backend == "cuda");
    if (!started.ok() && started.error().code == ErrorCode::kUnavailable) {
      verdict.Blame(VerdictStatus::kUnsupported, "package",
                    HowToGet(candidate.impl) + started.error().message);
      verdict.log = verdict.summary + "\n";
      return std::optional<Loadable>();
    }
    if (!started.ok()) return std::move(started).error();
    kept = *std::move(started);
  }
  const std::string about = DescribePythonCandidate(candidate, reference_, Device());
  return std::optional<Loadable>(
      Loadable{[about, &kept, source = candidate.source] { return kept->Fork(about, source); },
               /*independent=*/false, /*native=*/false});
}

Result<std::optional<Loadable>> Verifier::PrepareTorchExt(const Candidate& candidate,
                                                          Verdict& verdict) {
  if (extensions_ == nullptr) extensions_ = std::make_unique<TorchExtensions>(options_);
  Candidate native = candidate;
  const std::optional<InlineExtension> in_python = FindInlineExtension(candidate.source);
  if (in_python.has_value()) {
    native.source = in_python->source;
    if (native.source.empty()) {
      verdict.Blame(VerdictStatus::kUnsupported, "feature",
                    "load_inline() is not given plain strings that stand in the file");
      return std::optional<Loadable>();
    }
  }
  KERF_ASSIGN_OR_RETURN(const std::optional<BuiltExtension> extension,
                        extensions_->Build(native, "kerf_" + candidate.op_name, verdict));
  if (!extension.has_value()) return std::optional<Loadable>();
  KERF_ASSIGN_OR_RETURN(const bool ready, extensions_->StartInterpreter(verdict));
  if (!ready) return std::optional<Loadable>();
  const std::string about =
      DescribeExtension(candidate, *extension, reference_, Device(), in_python.has_value());
  return std::optional<Loadable>(Loadable{
      [this, about, source = candidate.source] { return extensions_->Fork(about, source); },
      /*independent=*/false, /*native=*/false});
}

Status Verifier::Measure(const Loadable& loadable, bool python, Verdict& verdict) {
  const PhaseTimer timer(clock_, verdict, "perform");
  PerformOptions perform;
  perform.call_timeout = CallTimeout();
  perform.threads = options_.threads;
  perform.cold_cache = options_.cold_cache;
  perform.same_runner = python;
  if (options_.warmups > 0) perform.least_warmups = options_.warmups;
  if (options_.rounds > 0) perform.least_rounds = perform.fewest_rounds = options_.rounds;
  perform.most_rounds = std::max(perform.most_rounds, perform.least_rounds);
  if (options_.backend == "cuda") {
    // Runners of GPUs flush the device's cache themselves.
    perform.device_cold = true;
    perform.bandwidth = options_.memory_bandwidth;
    perform.chip = options_.chip;
  }
  std::vector<Contender> contenders;
  contenders.push_back({"candidate", loadable.start, ""});
  if (options_.python.has_value()) {
    contenders.push_back(Baseline("eager", false, eager_));
    if (reference_.framework == "torch") {
      contenders.push_back(Baseline("torch.compile", true, compiled_));
    }
  }
  return Perform(contenders, *expectations_, perform, random_, verdict);
}

Contender Verifier::Baseline(const char* name, bool compile,
                             std::unique_ptr<WarmInterpreter>& kept) {
  Contender contender{name, {}, ""};
  if (kept == nullptr || !kept->alive()) {
    Result<std::unique_ptr<WarmInterpreter>> started = StartServer({reference_.framework}, compile);
    if (!started.ok()) {
      contender.error = started.error().message;
      return contender;
    }
    kept = *std::move(started);
  }
  const std::string about =
      DescribeReference(options_.task_file_name, reference_, compile, Device());
  contender.start = [this, about, &kept] { return kept->Fork(about, options_.task_text); };
  return contender;
}

Result<std::unique_ptr<WarmInterpreter>> Verifier::StartServer(
    const std::vector<std::string>& packages, bool compile) {
  RunnerSpec spec = ServerSpec(options_, packages);
  if (compile) {
    KERF_ASSIGN_OR_RETURN(Scratch folder, Scratch::Make(options_.cache_dir + "/scratch"));
    AllowCompiling(folder.path(), options_.python->include_path, spec);
    compiler_folders_.push_back(std::move(folder));
  }
  return WarmInterpreter::Start(spec);
}

std::string Verifier::Device() const { return options_.backend == "cuda" ? "cuda" : "cpu"; }

const std::vector<Unfitness>& Verifier::FindTaskUnfitness() {
  if (!unfitness_.has_value()) unfitness_ = FindUnfitness(*expectations_, options_.threads);
  return *unfitness_;
}

void Verifier::JudgeTask(Verdict& verdict) {
  const PhaseTimer timer(clock_, verdict, "fitness");
  const std::vector<Unfitness>& found = FindTaskUnfitness();
  verdict.task.fit = found.empty();
  for (const Unfitness& one : found) verdict.task.notes.push_back(one.text);
  if (!found.empty()) {
    const Unfitness& first = found.front();
    verdict.Blame(VerdictStatus::kTaskUnfit, first.reason, first.text);
  }
}

std::chrono::milliseconds Verifier::CallTimeout() const {
  if (options_.call_timeout.has_value()) return *options_.call_timeout;
  int64_t slowest = 0;
  for (const ReferenceCase& one : reference_.cases) slowest = std::max(slowest, one.reference_ns);
  // A first try may be a hundred times slower than the framework and still be worth a verdict.
  constexpr int64_t kPatience = 100;
  return std::chrono::seconds(10) + std::chrono::milliseconds(slowest * kPatience / 1'000'000);
}

}  // namespace kerf::verify
