// Starts the first process of a sandbox; it waits until Go().
#pragma once

#include <sys/types.h>

#include <string>

#include "base/child_posix.h"
#include "base/result.h"
#include "sandbox/launch_plan.h"

namespace kerf::sandbox {

struct Launched {
  pid_t init = -1;  // the caller kills and reaps it
  Fd pidfd;
  Fd control;  // Reports come in here
  Fd stdout_fd;
  Fd stderr_fd;
};

// A file that holds `input`; /dev/null when it is empty.
Result<Fd> MakeInput(const std::string& input);

// `stdin_fd` becomes the program's stdin.
Result<Launched> Launch(LaunchPlan& plan, int stdin_fd);

void Go(const Launched& launched);

// The next report, or false when none is there (yet, or ever: then `closed` is set). Descriptors
// that came with it go to `fds`.
bool Receive(const Fd& control, Report& report, std::vector<Fd>& fds, bool& closed);

}  // namespace kerf::sandbox
