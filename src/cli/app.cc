#include "cli/app.h"

#include <algorithm>
#include <exception>

#include "base/json_reader.h"
#include "cli/build_info.h"
#include "cli/parser.h"
#include "cli/registry.h"
#include "cli/render/help.h"
#include "cli/render/output.h"
#include "cli/suggest.h"

namespace kerf::cli {
namespace {

bool AsksForHelp(const std::string& word) { return word == "-h" || word == "--help"; }

std::vector<std::string> Rest(const std::vector<std::string>& words, size_t from) {
  return {words.begin() + static_cast<long>(std::min(from, words.size())), words.end()};
}

Result<int> RunVerb(const Verb& verb, const std::vector<std::string>& words, Context& context) {
  KERF_ASSIGN_OR_RETURN(const ParsedLine line, ParseLine(verb, words));
  if (line.help) {
    context.out.Data(VerbHelp(verb, context.out));
    return kExitDone;
  }
  return verb.run(line.args, context);
}

Result<int> RunGroup(const std::vector<Verb>& verbs, const std::vector<std::string>& words,
                     Context& context) {
  const std::string& group = words[0];
  if (words.size() == 1 || AsksForHelp(words[1])) {
    context.out.Data(GroupHelp(group, VerbsOfGroup(verbs, group), context.out));
    return kExitDone;
  }
  return UnknownVerb(verbs, words);
}

Result<int> DispatchVerb(const std::vector<Verb>& verbs, const std::vector<std::string>& words,
                         Context& context) {
  if (words.empty() || AsksForHelp(words[0])) {
    context.out.Data(OverviewHelp(verbs, context.out));
    return kExitDone;
  }
  if (words[0] == "--version") {
    context.out.Data(VersionLine() + "\n");
    return kExitDone;
  }
  if (!words[0].empty() && words[0].front() == '-') {
    return InvalidInput("unknown flag " + words[0] + "; flags follow the verb: kerf VERB " +
                        words[0] + ", see 'kerf help'");
  }
  if (words.size() > 1) {
    if (const Verb* verb = FindVerb(verbs, words[0] + " " + words[1])) {
      return RunVerb(*verb, Rest(words, 2), context);
    }
  }
  if (const Verb* verb = FindVerb(verbs, words[0])) {
    return RunVerb(*verb, Rest(words, 1), context);
  }
  if (!VerbsOfGroup(verbs, words[0]).empty()) return RunGroup(verbs, words, context);
  return UnknownVerb(verbs, words);
}

void Report(const Error& error, bool as_json, Output& out) {
  out.Fail(error);
  if (!as_json) return;
  std::string json = R"({"ok":false,"error":{"code":)";
  AppendJsonString(json, ErrorCodeName(error.code));
  json += R"(,"message":)";
  AppendJsonString(json, error.message);
  json += "}}\n";
  out.Data(json);
}

}  // namespace

int ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
      return kExitUsage;
    case ErrorCode::kCorrupt:
      return kExitCorrupt;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kDenied:
    case ErrorCode::kIo:
      return kExitEnvironment;
    case ErrorCode::kInternal:
      return kExitBug;
  }
  return kExitBug;
}

int RunVerbs(const std::vector<Verb>& verbs, const std::vector<std::string>& words,
             Context& context) {
  // Looked for before parsing, because the parse itself may be what fails.
  const auto end_of_flags = std::find(words.begin(), words.end(), "--");
  const bool as_json = std::find(words.begin(), end_of_flags, "--json") != end_of_flags;
  int exit_code = kExitDone;
  std::string reported;
  try {
    const Result<int> result = DispatchVerb(verbs, words, context);
    if (result.ok()) {
      exit_code = *result;
    } else {
      reported = result.error().message;
      Report(result.error(), as_json, context.out);
      exit_code = ExitCodeOf(result.error().code);
    }
  } catch (const std::exception& exception) {
    const Error bug{ErrorCode::kInternal, std::string("bug: unexpected exception: ") +
                                              exception.what() +
                                              ". Please report it with the command you ran."};
    Report(bug, as_json, context.out);
    exit_code = kExitBug;
  }
  context.out.Progress("");
  if (const Status flushed = context.out.Flush(); !flushed.ok()) {
    if (flushed.error().message != reported) context.out.Fail(flushed.error());
    // Output that did not arrive is no success; an earlier error stays the first cause.
    if (exit_code == kExitDone || exit_code == kExitNegative) exit_code = kExitEnvironment;
  }
  return exit_code;
}

int RunApp(int argc, char** argv, Context& context) {
  return RunVerbs(AllVerbs(), std::vector<std::string>(argv + std::min(argc, 1), argv + argc),
                  context);
}

}  // namespace kerf::cli
