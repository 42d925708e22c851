// How Python candidates, and references as baselines, are described to
// python/kerf/candidate_server.py.
#pragma once

#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/reference.h"
#include "loop/verify/sandbox_process.h"
#include "loop/verify/test_run.h"
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
// An extension that is driven by a test's text.
std::string DescribeTest(const BuiltExtension& extension, const TestPlan& plan);
// Python code with its test behind it, which begins at `test_at`. `code_bytes`: how much of it a
// candidate wrote; 0 for an original source, which may do as it likes.
std::string DescribeScript(const TestPlan& plan, size_t code_bytes, size_t test_at);
std::string DescribeReference(const std::string& file_name, const Reference& reference,
                              bool compile, const std::string& device);

}  // namespace kerf::verify
