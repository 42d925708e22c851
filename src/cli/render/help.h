// Help texts, made from the verbs' tables. Each fits one screen.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"

namespace kerf::cli {

class Output;

// What `kerf` alone prints: all verbs, one line each.
std::string OverviewHelp(const std::vector<Verb>& verbs, const Output& out);
std::string GroupHelp(const std::string& group, const std::vector<Verb>& members,
                      const Output& out);
std::string VerbHelp(const Verb& verb, const Output& out);

// "kerf trace append --log-dir DIR [--names STYLE] [FILE…]"
std::string UsageLine(const Verb& verb);

// The flag's help with its choices and default: "How files are named (one of a, b; default: a)".
std::string FlagHelp(const Flag& flag);

// What every verb's exit codes mean, one line each: {"0", "done"} and so on.
std::vector<std::pair<std::string, std::string>> ExitCodeHelp();

// "unknown verb 'trace apend'; did you mean 'kerf trace append'?"
Error UnknownVerb(const std::vector<Verb>& verbs, const std::vector<std::string>& words);

}  // namespace kerf::cli
