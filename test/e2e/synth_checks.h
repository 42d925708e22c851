// A task through `kerf task graph`, the synthesizer and `kerf verify`, for the tests of what it
// writes.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "synth/synthesizer.h"

namespace kerf::e2e {

// Where the tasks of the operator families lie, one file each.
std::string SynthTasks();
std::vector<std::string> SynthFamilies();

// The interpreter the tests use, and whether it has these modules ("torch, triton").
std::string Python();
bool HasModules(const std::string& modules, const std::string& python = Python());
// The one for MindSpore, which wants another numpy than torch; it need not exist.
std::string MindsporePython();

// The graph is what `kerf task graph` says; one cache for all tests.
Result<std::variant<synth::Synthesis, synth::Refusal>> Synthesized(const std::string& task,
                                                                   const std::string& impl);
// What is written for the task passes `kerf verify` on the CPU.
void ExpectVerified(const std::string& task, const std::string& impl);

}  // namespace kerf::e2e
