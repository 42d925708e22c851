#include "loop/conduct/verify_setup.h"

#include <unistd.h>

#include <climits>
#include <thread>

#include "artifact/chip.h"
#include "base/cache_dir.h"
#include "base/hash.h"
#include "loop/task/reference_maker.h"
#include "loop/verify/cache_sweep.h"
#include "loop/verify/runner_main.h"
#include "resource/resource.h"

namespace kerf::conduct {
namespace {

void Say(const VerifyPorts& ports, const std::string& what) {
  if (ports.progress) ports.progress(what);
}

// Seeds a candidate's author cannot know: drawn once for this machine and kept, so that references
// can be cached; different for each task.
Result<std::vector<int64_t>> SecretSeeds(FileSystem& fs, const std::string& cache_dir,
                                         const std::string& task_sha256, int64_t count) {
  const std::string path = JoinPath(cache_dir, "seed_secret");
  Result<std::string> secret = fs.ReadFile(path);
  if (!secret.ok()) {
    const auto random = MakeRandomIds();
    const std::string fresh = Hex64(random->Next()) + Hex64(random->Next());
    // Under a name of its own first: two processes may be at it on a cold cache.
    const std::string own = path + "." + Hex64(random->Next());
    KERF_RETURN_IF_ERROR(WriteFileAtomic(fs, own, fresh));
    KERF_RETURN_IF_ERROR(fs.Rename(own, path));
    // Another process may have been quicker; what is on the disk counts.
    secret = fs.ReadFile(path);
    if (!secret.ok()) return std::move(secret).error();
  }
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < count; ++i) {
    seeds.push_back(
        static_cast<int64_t>(Xxh3(*secret + task_sha256 + std::to_string(i)) % INT_MAX));
  }
  return seeds;
}

Result<std::string> OwnProgram() {
  std::string path(PATH_MAX, '\0');
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  if (n <= 0) return Unavailable("cannot find kerf's own program: /proc is not there");
  path.resize(static_cast<size_t>(n));
  return path;
}

Result<Reference> GetReference(const VerifyRequest& request, const std::string& cache_dir,
                               const task::Interpreter& interpreter, VerifySetup& setup,
                               const VerifyPorts& ports) {
  task::ReferenceOptions options;
  KERF_ASSIGN_OR_RETURN(setup.seeds,
                        SecretSeeds(ports.fs, cache_dir, setup.task.sha256, request.seeds));
  options.seeds = setup.seeds;
  options.hidden = setup.task.dynamic ? 2 : 0;
  options.check = true;
  options.twin = true;
  options.mode = request.mode;
  options.threads = request.threads;
  Say(ports, "running the reference");
  return task::MakeReference(ports.fs, setup.task, options, interpreter, *setup.cache);
}

struct Prepared {
  std::string cache_dir;
  task::Interpreter interpreter;
  Reference reference;
};

// Opens the cache, which `setup` keeps, and gets the reference out of it or into it.
Result<Prepared> Prepare(const VerifyRequest& request, VerifySetup& setup,
                         const VerifyPorts& ports) {
  Prepared prepared;
  KERF_ASSIGN_OR_RETURN(prepared.cache_dir, OpenCacheDir());
  KERF_ASSIGN_OR_RETURN(const uint64_t limit, CacheLimit());
  KERF_ASSIGN_OR_RETURN(auto cache,
                        task::ReferenceCache::Open(ports.fs, prepared.cache_dir, limit));
  verify::SweepCache(prepared.cache_dir, limit / 4);
  setup.cache = std::make_unique<task::ReferenceCache>(std::move(cache));
  KERF_ASSIGN_OR_RETURN(
      prepared.interpreter,
      task::FindInterpreter(task::SearchHere(ports.fs, prepared.cache_dir), setup.task.framework));
  KERF_ASSIGN_OR_RETURN(prepared.reference, GetReference(request, prepared.cache_dir,
                                                         prepared.interpreter, setup, ports));
  return prepared;
}

Status UseGpu(const device::Device& device, verify::VerifierOptions& options) {
  options.cuda_arch = device.arch;
  options.chip = device.chip;
  for (const resource::File& file : resource::Files("chips/" + device.chip + ".yaml")) {
    KERF_ASSIGN_OR_RETURN(const Chip chip, ParseChip(std::string(file.bytes)));
    options.memory_bandwidth = chip.memory_bandwidth;
  }
  options.cuda_device = CudaName(device);
  return {};
}

// The package folder with headers to compile extensions against; empty when there is none.
std::string TorchDir(const task::Interpreter& interpreter) {
  for (const std::string& folder : interpreter.import_paths) {
    std::string package = JoinPath(folder, "torch");
    if (::access((package + "/include/torch/extension.h").c_str(), R_OK) == 0) return package;
  }
  return "";
}

// Everything but the task and the device.
Result<verify::VerifierOptions> MakeOptions(const VerifyRequest& request,
                                            const std::string& cache_dir,
                                            const task::Interpreter& interpreter,
                                            const VerifyPorts& ports) {
  verify::VerifierOptions options;
  options.backend = request.backend;
  options.cache_dir = cache_dir;
  options.version = ports.version;
  options.mode = request.mode;
  options.available = sandbox::Probe();
  options.threads = request.threads;
  options.profile = request.profile;
  options.warmups = request.warmups;
  options.rounds = request.rounds;
  options.cold_cache = request.cold_cache;
  options.compat_aikg = request.compat_aikg;
  if (request.timeout_s > 0) options.call_timeout = std::chrono::seconds(request.timeout_s);
  KERF_ASSIGN_OR_RETURN(options.resource_dir, resource::Extract(ports.fs, cache_dir));
  KERF_ASSIGN_OR_RETURN(options.runner, OwnProgram());
  options.runner_args = {verify::kRunnerWord};
  KERF_ASSIGN_OR_RETURN(const sandbox::SandboxLevel level,
                        sandbox::ChooseLevel(request.mode, *options.available));
  KERF_ASSIGN_OR_RETURN(const task::PythonView view,
                        task::MakePythonView(interpreter, request.threads, level.has_namespaces()));
  options.python = {view.policy, view.python, interpreter.include_path, TorchDir(interpreter)};
  return options;
}

}  // namespace

std::string CudaName(const device::Device& device) {
  return device.uuid.empty() ? std::to_string(device.index) : device.uuid;
}

Result<VerifySetup> SetUpTestVerification(std::string test, std::string label,
                                          const VerifyRequest& request,
                                          const device::Device* device, const VerifyPorts& ports) {
  KERF_ASSIGN_OR_RETURN(const std::string cache_dir, OpenCacheDir());
  KERF_ASSIGN_OR_RETURN(const uint64_t limit, CacheLimit());
  verify::SweepCache(cache_dir, limit / 4);
  KERF_ASSIGN_OR_RETURN(
      const task::Interpreter interpreter,
      task::FindInterpreter(task::SearchHere(ports.fs, cache_dir), task::Framework::kTorch));
  KERF_ASSIGN_OR_RETURN(verify::VerifierOptions options,
                        MakeOptions(request, cache_dir, interpreter, ports));
  if (device != nullptr) KERF_RETURN_IF_ERROR(UseGpu(*device, options));
  VerifySetup setup;
  // GEAK's own seed, and some that nobody who writes a candidate knows.
  const std::string key = Sha256Hex(test + '\0' + label);
  KERF_ASSIGN_OR_RETURN(setup.seeds,
                        SecretSeeds(ports.fs, cache_dir, key, std::max<int64_t>(request.seeds, 1)));
  setup.seeds.front() = 42;
  options.task_text = std::move(test);
  setup.drive = std::make_unique<verify::TestDrive>(
      verify::TestDriveOptions{std::move(options), std::move(label), setup.seeds,
                               interpreter.framework_version},
      ports.clock);
  return setup;
}

Status PrepareReference(task::TaskFile task, const VerifyRequest& request,
                        const VerifyPorts& ports) {
  VerifySetup setup;
  setup.task = std::move(task);
  KERF_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(request, setup, ports));
  return {};
}

Result<VerifySetup> SetUpVerification(task::TaskFile task, const VerifyRequest& request,
                                      const device::Device* device, const VerifyPorts& ports) {
  const int64_t begin = ports.clock.MonotonicNanos();
  VerifySetup setup;
  setup.random = MakeRandomIds();
  setup.task = std::move(task);
  KERF_ASSIGN_OR_RETURN(Prepared prepared, Prepare(request, setup, ports));
  KERF_ASSIGN_OR_RETURN(verify::VerifierOptions options,
                        MakeOptions(request, prepared.cache_dir, prepared.interpreter, ports));
  if (device != nullptr) KERF_RETURN_IF_ERROR(UseGpu(*device, options));
  options.task_text = setup.task.text;
  options.task_file_name = setup.task.ModuleName();
  KERF_ASSIGN_OR_RETURN(setup.verifier,
                        verify::Verifier::Make(std::move(prepared.reference), std::move(options),
                                               ports.clock, *setup.random));
  setup.reference_ms = static_cast<double>(ports.clock.MonotonicNanos() - begin) / 1e6;
  Say(ports, "");
  return setup;
}

}  // namespace kerf::conduct
