// What the SIMT emulator noticed while it ran a kernel: lines of JSON in a file the judge owns
// (docs/simt.md).
//
// Written from the candidate's process, so no evidence of innocence: a finding speaks against the
// candidate, silence does not speak for it.
#pragma once

#include <string>
#include <string_view>

#include "loop/verify/blame.h"

namespace kerf::verify {

struct SimtFindings {
  Finding worst;    // the first that makes the result worthless; kPassed when there is none
  std::string log;  // all of them, one line each
};

SimtFindings ReadSimtFindings(std::string_view lines);

}  // namespace kerf::verify
