// The process that holds a native candidate: kerf itself, started in the sandbox as `kerf __runner
// LIBRARY`.
//
// It talks with the judge over its stdin (wire.h). Nothing here decides anything: the judge reads
// values from the output file, takes time itself, and learns from the sandbox how this process
// ended.
#pragma once

namespace kerf::verify {

// The word on the command line. It begins with underscores so that it is no verb.
constexpr const char* kRunnerWord = "__runner";

// `library`: the candidate, as this process sees it. Returns the exit code.
int RunnerMain(const char* library);

}  // namespace kerf::verify
