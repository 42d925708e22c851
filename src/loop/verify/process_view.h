// What the judge can see of a candidate's process from outside, without asking it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace kerf::verify {

// Of all threads together, those that have ended included. Zero when there is no such process.
std::chrono::nanoseconds CpuTime(pid_t pid);

// Whether a thread of it runs, or would if it got a core.
bool IsBusy(pid_t pid);

// Processes in its sandbox besides itself and those above it: children, their children, and what
// was orphaned. The sandbox is what this process started.
int CountOthers(pid_t pid);

// Names, without folders, of the files it can execute code from; sorted. Empty where that may not
// be seen.
std::vector<std::string> ExecutableFiles(pid_t pid);

}  // namespace kerf::verify
