// From the command line to an exit code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"

namespace kerf::cli {

// The whole program after the ports are built. Finds the verb, parses its line, runs it, flushes
// the output and reports errors: on stderr in one line, and with --json also on stdout as
// {"ok":false,"error":{"code":…,"message":…}}.
int RunApp(int argc, char** argv, Context& context);

// The same with a given list of verbs and the words after `kerf`; for tests.
int RunVerbs(const std::vector<Verb>& verbs, const std::vector<std::string>& words,
             Context& context);

int ExitCodeOf(ErrorCode code);

}  // namespace kerf::cli
