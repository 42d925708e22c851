// Turns policy, limits and level into the orders a child follows (launch_plan.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/launch_plan.h"
#include "sandbox/level.h"
#include "sandbox/limits.h"
#include "sandbox/policy.h"

namespace kerf::sandbox {

// The plan points into `argv` and `environment`: they must outlive it, unchanged.
struct ProgramText {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
};

ProgramText MakeProgramText(const Policy& policy, const std::vector<std::string>& argv);

Result<LaunchPlan> BuildPlan(const Policy& policy, const Limits& limits, const SandboxLevel& level,
                             const ProgramText& text);

// "bind /usr at usr": what the child did when it failed.
std::string DescribeStage(const LaunchPlan& plan, const Report& report);

}  // namespace kerf::sandbox
