// What this machine can put around a program.
#pragma once

#include "sandbox/cgroup_linux.h"
#include "sandbox/level.h"

namespace kerf::sandbox {

// Each layer is tried, not looked up: whether a container, a security module or a sysctl forbids it
// shows only then. Takes some milliseconds the first time; the answer is kept for the process.
// Thread-safe.
const SandboxLevel& Probe();

// Where Probe() found room for control groups.
const CgroupRoots& UsableCgroups();

}  // namespace kerf::sandbox
