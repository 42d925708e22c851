// What an index could not take in, told to the user.
#pragma once

#include "cli/render/output.h"
#include "trace/index.h"

namespace kerf::cli {

// False when there is nothing to tell. `done` is what was not done: "searched", "indexed".
bool NoteGaps(const trace::IndexReport& report, const std::string& done, Output& out);

}  // namespace kerf::cli
