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

// The words after kRunnerWord: the candidate's library, as this process sees it; for a GPU also its
// device code ("-" when the library holds it) and the device's number. Returns the exit code.
int RunnerMain(int argc, char** argv);

}  // namespace kerf::verify
