// Checks what the user wrote after the verb's name against the verb's table.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"

namespace kerf::cli {

struct ParsedLine {
  bool help = false;  // -h or --help was given: `args` is empty then
  Args args;          // defaults filled in
};

// `words` are the arguments after the verb's name. Every error is kInvalidInput and says what would
// have been right.
Result<ParsedLine> ParseLine(const Verb& verb, const std::vector<std::string>& words);

}  // namespace kerf::cli
