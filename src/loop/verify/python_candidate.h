// How Python candidates, and references as baselines, are described to
// python/kerf/candidate_server.py.
#pragma once

#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/reference.h"
#include "loop/verify/sandbox_process.h"
#include "loop/verify/torch_extensions.h"
#include "loop/verify/verifier.h"

namespace kerf::verify {

// The server, which imports these packages first.
RunnerSpec ServerSpec(const VerifierOptions& options, const std::vector<std::string>& packages);

// Weakens the sandbox of `spec`: what the framework compiles in there may be executed. Only for
// references, which the user wrote.
void AllowCompiling(const std::string& work_folder, const std::string& include_path,
                    RunnerSpec& spec);

// `device`: "cpu" or "cuda".
std::string DescribePythonCandidate(const Candidate& candidate, const Reference& reference,
                                    const std::string& device);
// An extension that is called with a task's inputs.
std::string DescribeExtension(const Candidate& candidate, const BuiltExtension& extension,
                              const Reference& reference, const std::string& device,
                              bool in_python);
// An extension that is driven by a test's text. `label`: the original source with the test behind
// it, whose result is the expected one; may be empty.
std::string DescribeTest(const BuiltExtension& extension, const std::string& device,
                         const std::string& label);
// Python code with its test behind it.
std::string DescribeScript(const std::string& device, const std::string& label);
std::string DescribeReference(const std::string& file_name, const Reference& reference,
                              bool compile, const std::string& device);

}  // namespace kerf::verify
