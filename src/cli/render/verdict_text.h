// A verdict for people.
#pragma once

#include <string>

#include "artifact/verdict.h"
#include "cli/render/output.h"

namespace kerf::cli {

std::string VerdictText(const Verdict& verdict, const Output& out);

}  // namespace kerf::cli
