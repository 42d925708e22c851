// One question of `kerf doctor` and its answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/machine.h"

namespace kerf::cli {

enum class Health {
  kOk,
  kLimited,  // there, but it cannot do all it could
  kMissing,
};

struct Finding {
  std::string name;
  Health health = Health::kOk;
  std::string detail;     // what was found, or why not
  std::string enables;    // what kerf can do with it
  std::string install;    // the command or the step that would provide it
  bool required = false;  // kerf itself cannot run without it
};

using Check = std::vector<Finding> (*)(Machine& machine);

// In the order of the report. They are independent of each other.
std::vector<Check> ToolchainChecks();  // compilers, ccache, Slurm, model endpoints
std::vector<Check> PythonChecks();
std::vector<Check> DeviceChecks();
std::vector<Check> SystemChecks();  // isolation, directories, disk

// What `argv --version` and the like print, stdout and then stderr; empty when it cannot be run in
// time or fails.
std::string OutputOf(Machine& machine, std::vector<std::string> argv);
// The first word of the form 1.2 or 1.2.3 in `text`.
std::string VersionIn(std::string_view text);
std::string FirstLine(std::string_view text);

}  // namespace kerf::cli
