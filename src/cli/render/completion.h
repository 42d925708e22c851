// Shell completion scripts, made from the verbs' tables.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace kerf::cli {

std::string BashCompletion(const std::vector<Verb>& verbs);
std::string ZshCompletion(const std::vector<Verb>& verbs);

}  // namespace kerf::cli
