// The process that runs a kernel: kerf itself, started in the sandbox as `kerf __sim FOLDER`.
#pragma once

namespace kerf::sim {

// The word on the command line. It begins with underscores so that it is no verb.
constexpr const char* kSimWord = "__sim";

// argv[0]: the work folder (run_files.h). Returns the exit code.
int SimRunnerMain(int argc, char** argv);

}  // namespace kerf::sim
