// Runs a task's reference in the sandbox, once, and keeps what it gave.
//
//   KERF_ASSIGN_OR_RETURN(const TaskFile task, ReadTaskFile(fs, path));
//   KERF_ASSIGN_OR_RETURN(const Interpreter python, FindInterpreter(search, task.framework));
//   KERF_ASSIGN_OR_RETURN(const Reference reference, MakeReference(fs, task, {}, python, cache));
//
// The task is the user's own, but it may come from anywhere: it sees its interpreter, the framework
// and itself, and no files, network or variables of the user.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "base/file_system.h"
#include "base/result.h"
#include "loop/task/interpreter.h"
#include "loop/task/reference_cache.h"
#include "loop/task/task_file.h"
#include "sandbox/limits.h"
#include "sandbox/policy.h"
#include "sandbox/sandbox.h"

namespace kerf::task {

struct ReferenceOptions {
  std::vector<int64_t> seeds = {0, 1, 2};
  int hidden = 0;      // cases with hidden shapes, where the task allows other sizes
  bool twin = false;   // also a case that differs from the first in one element
  bool check = false;  // also find out whether the task is fit: Reference::checks
  // "eager", "torch.compile". The latter lets the sandbox execute what it compiles in there.
  std::vector<std::string> baselines;
  std::chrono::seconds timeout = std::chrono::minutes(5);
  sandbox::Mode mode = sandbox::Mode::kBest;
  // What the machine provides; tests take layers away.
  std::optional<sandbox::SandboxLevel> available;
  int threads = 0;            // 0: as many as the machine has processors
  uint64_t memory_bytes = 0;  // 0: three quarters of the machine's
};

// From the cache when it is there. kInvalidInput, with the task's own message and line, when the
// task raises, hangs, crashes or exits; other codes when kerf failed.
Result<Reference> MakeReference(FileSystem& fs, const TaskFile& task,
                                const ReferenceOptions& options, const Interpreter& interpreter,
                                ReferenceCache& cache);

// What the reference depends on, as the cache's key: texts, versions, options; not how it is
// guarded.
std::string ReferenceKey(const TaskFile& task, const ReferenceOptions& options,
                         const Interpreter& interpreter);

// The interpreter, its packages and nothing else in view; what the triton and torch_ext runners
// need as well. `python` is then the path of the interpreter inside. `namespaces` tells whether the
// program will see a tree of its own: without, paths are the host's.
struct PythonView {
  sandbox::Policy policy;
  std::string python;
};
Result<PythonView> MakePythonView(const Interpreter& interpreter, int threads, bool namespaces);

}  // namespace kerf::task
