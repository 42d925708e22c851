// What `kerf insight` and `kerf args` share: flags, and the request and tools made from them.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "replay/replayer.h"

namespace kerf::cli {

// Where the arguments of a launch come from, and what they say.
std::vector<Flag> ArgumentFlags();
Status ParseArguments(const Args& args, replay::ReplayRequest& request);
// Of the kernel, the case and the arguments.
std::vector<Flag> ReplayFlags();
// Of the launch.
std::vector<Flag> LaunchFlags();

// --timeout-minutes or --timeout: the same number, in minutes.
Result<int64_t> ReplayTimeout(const Args& args);

Result<replay::ReplayRequest> ParseReplayRequest(const Args& args);

// Puts the scene reader on the disk and finds an interpreter for it; for a request without a module
// neither is needed.
Result<replay::ReplayTools> MakeReplayTools(Context& context, const replay::ReplayRequest& request);

// `path` made absolute, without "." and ".." parts.
std::string AbsolutePath(const std::string& path);

}  // namespace kerf::cli
