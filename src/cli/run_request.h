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
Result<std::vector<TaskSpec>> RunSpecs(const Args& args, const Config& config, FileSystem& fs);
bool IsSentence(const TaskSpec& spec);

// --start, --design, --code, --coder-only.
Result<conduct::Start> RunStart(const Args& args, FileSystem& fs);

}  // namespace kerf::cli
