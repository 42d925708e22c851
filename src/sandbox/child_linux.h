// The child's half of a launch: from clone to exec. Async-signal-safe throughout.
#pragma once

#include "sandbox/launch_plan.h"

namespace kerf::sandbox {

// Tells the supervisor and ends the process.
[[noreturn]] void FailChild(const LaunchPlan& plan, Stage stage, int index = 0);

// The first process of the sandbox. Waits for the supervisor's word, builds the walls, starts the
// program as its child, reaps orphans, reports how the program ended, and ends. Where it is pid 1
// of a namespace the kernel then kills whatever is left.
[[noreturn]] void RunInit(LaunchPlan& plan);

// The program's process: what must be done last, then exec.
[[noreturn]] void RunProgram(const LaunchPlan& plan);

// view_linux.cc: builds the file tree and makes it the root.
void BuildView(LaunchPlan& plan);

// privileges_linux.cc
void WriteIdMaps(const LaunchPlan& plan);
void BecomeNobody(const LaunchPlan& plan);
void ForbidUserNamespaces(const LaunchPlan& plan);
void DropCapabilities(const LaunchPlan& plan);

// landlock_linux.cc: 0, or the errno of what failed.
int RestrictByLandlock(const LaunchPlan& plan);

}  // namespace kerf::sandbox
