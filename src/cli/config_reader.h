// A configuration file's members into a Config.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/config.h"

namespace kerf::cli {

// `trusted`: the user named the file or keeps it at home. One that lies in the working folder may
// have come with somebody else's repository: it must not say where keys are sent.
Status ReadConfigText(const std::string& path, const std::string& text, bool trusted,
                      Config& config);

}  // namespace kerf::cli
