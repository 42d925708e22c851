// The manual page kerf(1), made from the verbs' tables.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace kerf::cli {

// roff in UTF-8, for the man macros.
std::string ManPage(const std::vector<Verb>& verbs, const std::string& version);

// `text` so that roff prints it as it is.
std::string RoffEscaped(const std::string& text);

}  // namespace kerf::cli
