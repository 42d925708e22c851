// AIKG's rules for a task's parameters, with kerf's wider matrix of what goes together.
#pragma once

#include <string>
#include <vector>

#include "artifact/task_spec.h"
#include "base/result.h"

namespace kerf::task {

// kInvalidInput with AIKG's words ("Backend cuda does not support arch: a100x") and what would be
// right. Checked in AIKG's order: framework, backend, arch, impl_type, task_type.
Status CheckTaskSpec(const TaskSpec& spec);

// What goes with a backend: the architectures, and the kinds of implementation on one.
std::vector<std::string> ArchsOf(const std::string& backend);
std::vector<Impl> ImplsOf(const std::string& backend, const std::string& arch);

}  // namespace kerf::task
