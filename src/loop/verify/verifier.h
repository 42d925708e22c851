// Judges candidates of one task: the verify step of the loop.
//
//   KERF_ASSIGN_OR_RETURN(auto verifier, Verifier::Make(reference, options));
//   KERF_ASSIGN_OR_RETURN(const Verdict verdict, verifier->Verify(candidate));
//
// A wrong kernel is a Verdict. An Error means that kerf could not find out: no compiler, no
// sandbox, no disk. Not thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/reference.h"
#include "artifact/verdict.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "loop/verify/execute.h"
#include "loop/verify/expectations.h"
#include "loop/verify/fitness.h"
#include "loop/verify/native_build.h"
#include "loop/verify/native_runner.h"
#include "loop/verify/perform.h"
#include "loop/verify/runner.h"
#include "loop/verify/scratch.h"
#include "loop/verify/warm_interpreter.h"

namespace kerf::verify {

class TorchExtensions;

// An interpreter that has the task's framework: what it must see, and its path inside.
struct PythonPort {
  sandbox::Policy policy;
  std::string python;
  std::string include_path;  // of Python.h, for what the framework compiles
  std::string torch_dir;     // torch's package; empty where it has none
};

struct VerifierOptions {
  std::string backend = "cpu";  // "cpu", "cuda"
  std::string cache_dir;
  std::string resource_dir;  // holds include/, simt/, python/
  std::string runner;  // the executable that serves as runner, and the words before the library
  std::vector<std::string> runner_args;
  std::string version;  // of kerf
  sandbox::Mode mode = sandbox::Mode::kBest;
  std::optional<sandbox::SandboxLevel> available;
  std::optional<std::chrono::milliseconds> call_timeout;  // else from the reference's own time
  int threads = 1;
  bool compat_aikg = false;
  bool profile = false;
  // With profile: calls at least, before and while it measures; 0: PerformOptions' own.
  int warmups = 0;
  int rounds = 0;
  bool cold_cache = false;
  std::string cuda_arch;             // "sm_90"; backend cuda only, as is the next
  std::string cuda_device;           // what CUDA_VISIBLE_DEVICES is set to
  std::string chip;                  // its name in chips/; empty when unknown
  double memory_bandwidth = 0;       // bytes per second of the device; 0: unknown
  std::optional<PythonPort> python;  // for Python candidates and for baselines
  std::string task_text;             // for baselines, or the test that drives an extension
  std::string task_file_name;
};

class Verifier {
 public:
  static Result<std::unique_ptr<Verifier>> Make(Reference reference, VerifierOptions options,
                                                Clock& clock, IdSource& random);

  ~Verifier();

  // What needs no device: compiles the candidate into the cache and finds out whether the task can
  // tell right from wrong. Verify() then holds the device only for what runs on it.
  Status WorkAhead(const Candidate& candidate);
  // The device of the next verdict, as CUDA_VISIBLE_DEVICES names it. Of the kind it was made for.
  void UseDevice(const std::string& cuda_device);

  Result<Verdict> Verify(const Candidate& candidate);

 private:
  Verifier(Reference reference, VerifierOptions options, Clock& clock, IdSource& random);
  Verdict Begin(const Candidate& candidate);
  // nullopt when it does not build; the verdict says why.
  Result<std::optional<Loadable>> Prepare(const Candidate& candidate, Verdict& verdict);
  Result<std::optional<Loadable>> PrepareCpp(const Candidate& candidate, Verdict& verdict);
  // CUDA C and HIP on the CPU.
  Result<std::optional<Loadable>> PrepareSimt(const Candidate& candidate, Verdict& verdict);
  Result<std::optional<Loadable>> PrepareCuda(const Candidate& candidate, Verdict& verdict);
  Result<std::optional<Loadable>> PrepareNative(const BuildRequest& request, Verdict& verdict);
  // From a build to something that can be started; nullopt, and the verdict says why, when it may
  // not be.
  Result<std::optional<Loadable>> Load(const NativeBuild& build, RunnerOptions runner,
                                       Verdict& verdict);
  // Triton and SWFT, in a server that is `kept` for the next candidate.
  Result<std::optional<Loadable>> PreparePython(const Candidate& candidate,
                                                std::unique_ptr<WarmInterpreter>& kept,
                                                Verdict& verdict);
  Result<std::optional<Loadable>> PrepareTorchExt(const Candidate& candidate, Verdict& verdict);
  Status Measure(const Loadable& loadable, bool python, Verdict& verdict);
  Contender Baseline(const char* name, bool compile, std::unique_ptr<WarmInterpreter>& kept);
  // `compile`: what the interpreter compiles in there may be executed (Triton on a GPU, inductor).
  Result<std::unique_ptr<WarmInterpreter>> StartServer(const std::vector<std::string>& packages,
                                                       bool compile);
  [[nodiscard]] std::string Device() const;
  void JudgeTask(Verdict& verdict);
  const std::vector<Unfitness>& FindTaskUnfitness();
  [[nodiscard]] std::chrono::milliseconds CallTimeout() const;

  const Reference reference_;
  VerifierOptions options_;
  Clock& clock_;
  IdSource& random_;
  std::optional<Expectations> expectations_;
  std::optional<std::vector<Unfitness>> unfitness_;  // found when first asked for
  std::vector<Scratch> compiler_folders_;            // outlive the interpreters
  // Started when first needed, kept for the next candidate.
  std::unique_ptr<WarmInterpreter> triton_;
  std::unique_ptr<TorchExtensions> extensions_;
  std::unique_ptr<WarmInterpreter> swft_;
  std::unique_ptr<WarmInterpreter> eager_;
  std::unique_ptr<WarmInterpreter> compiled_;
};

}  // namespace kerf::verify
