// What `kerf run` was asked: the tasks, with everything that was left out filled in from their
// files and this machine.
#pragma once

#include <string>
#include <vector>

#include "artifact/task_spec.h"
#include "base/file_system.h"
#include "base/result.h"
#include "cli/config.h"
#include "cli/verb.h"
#include "loop/conduct/conductor.h"

namespace kerf::cli {

// The file's values with the flags' over them.
Result<Config> RunConfig(const Args& args, FileSystem& fs);

// One spec for each task file; a folder stands for the .py files in it. Operators that would share
// a name and task id get task ids of their own. A sentence instead of a file gives a spec whose
// task_desc is that sentence; IsSentence() tells.
struct RunTasks {
  std::vector<TaskSpec> specs;
  std::vector<std::string> skipped;  // files of a folder that are no usable task, with the reason
  std::vector<std::string> ignored;  // its Python files without a class Model
};
// kInvalidInput for a bad task that was named itself, or when a folder has no other.
Result<RunTasks> RunSpecs(const Args& args, const Config& config, FileSystem& fs);
bool IsSentence(const TaskSpec& spec);

// The same, step by step, for a verb that finds its tasks itself.
struct RunMachine {
  std::string backend;
  std::string arch;
};
// What kernels for such a machine are usually written in.
Impl DefaultImpl(const std::string& backend, const std::string& arch);
// Of this machine; found once for all tasks. `wanted` is a backend or empty.
Result<RunMachine> FindRunMachine(const std::string& wanted);
// The spec of a task file, or of a sentence.
Result<TaskSpec> RunSpec(const Args& args, const Config& config, const RunMachine& machine,
                         const std::string& word, FileSystem& fs);
// Two task files may be about one operator: then the task id tells them apart.
void MakeDistinct(std::vector<TaskSpec>& specs);

// --start, --design, --code, --coder-only.
Result<conduct::Start> RunStart(const Args& args, FileSystem& fs);

}  // namespace kerf::cli
