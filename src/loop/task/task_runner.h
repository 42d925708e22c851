// Runs one of the programs of python/kerf over a task, in the sandbox.
//
// The task is the user's own, but it may come from anywhere: it sees its interpreter, the framework
// and itself, and no files, network or variables of the user.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "loop/task/interpreter.h"
#include "loop/task/task_file.h"
#include "sandbox/outcome.h"
#include "sandbox/sandbox.h"

namespace kerf::task {

struct TaskRunOptions {
  std::chrono::seconds timeout = std::chrono::minutes(5);
  sandbox::Mode mode = sandbox::Mode::kBest;
  // What the machine provides; tests take layers away.
  std::optional<sandbox::SandboxLevel> available;
  int threads = 0;                          // 0: as many as the machine has processors
  uint64_t memory_bytes = 0;                // 0: three quarters of the machine's
  uint64_t most_bytes = uint64_t{1} << 30;  // it may write
  bool compiles = false;                    // torch.compile: it may execute what it makes in there
};

int ThreadCount(int wanted);

class TaskRunner {
 public:
  TaskRunner(FileSystem& fs, const TaskFile& task, const Interpreter& interpreter,
             TaskRunOptions options)
      : fs_(fs), task_(task), interpreter_(interpreter), options_(std::move(options)) {}

  // The request for the program, given where it will see the task.
  using Request = std::function<std::string(const std::string& task_path)>;
  // Takes what it needs out of the folder "out" the program has filled.
  using Take =
      std::function<Result<std::string>(const sandbox::Outcome& outcome, const std::string& out)>;

  // Runs `program` ("reference_runner.py") in `folder`, which exists and is empty, and gives what
  // `take` returned: the folder that holds the result. When the program has to run elsewhere, that
  // folder is copied into `folder`. `cache_root` is where kerf's own files are put.
  Result<std::string> Run(const std::string& program, const Request& request, const Take& take,
                          const std::string& folder, const std::string& cache_root);

  // What to say of a run that gave no result.
  [[nodiscard]] Error Failure(const sandbox::Outcome& outcome, const std::string& out) const;

 private:
  Result<std::string> RunIn(const std::string& program, const Request& request, const Take& take,
                            const std::string& folder, const std::string& resource_dir);
  Result<sandbox::Outcome> RunProgram(const std::string& program, const Request& request,
                                      const std::string& task_folder, const std::string& work,
                                      const std::string& runner);
  [[nodiscard]] sandbox::SandboxLevel Available() const;
  [[nodiscard]] bool RunsAsNobodyOnTheHost() const;
  void AddHeaders(bool inside, sandbox::Policy& policy) const;
  [[nodiscard]] sandbox::Limits MakeLimits() const;

  FileSystem& fs_;
  const TaskFile& task_;
  const Interpreter& interpreter_;
  TaskRunOptions options_;
  sandbox::SandboxLevel level_;
};

}  // namespace kerf::task
