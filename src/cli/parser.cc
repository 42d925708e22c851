// Two steps. SplitWords() is the grammar of the line: which words are flags, values and
// positionals, with a suggestion for each unknown one. CLI11 then checks the flags: required ones,
// choices, numbers. CLI11 never sees positionals or a flag it does not know, because it would take
// `--log-dir --json` as a value, `--flag=` as a flag without one and "[a,b]" as a list.
//
// The only file that includes CLI11, which costs seconds to compile.
#include "cli/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/suggest.h"

namespace kerf::cli {
namespace {

struct SplitLine {
  bool help = false;
  std::vector<std::string> flag_words;  // name, value, switch, name, value …
  std::vector<std::string> positionals;
};

std::string Called(const Verb& verb) { return "'kerf " + verb.name + "'"; }

std::string SeeHelp(const Verb& verb) { return "; see 'kerf " + verb.name + " --help'"; }

std::string Join(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

const Flag* FindFlag(const Verb& verb, const std::string& name) {
  const auto flag = std::find_if(verb.flags.begin(), verb.flags.end(),
                                 [&](const Flag& candidate) { return candidate.name == name; });
  return flag == verb.flags.end() ? nullptr : &*flag;
}

std::vector<std::string> FlagNames(const Verb& verb) {
  std::vector<std::string> names = {"--help"};
  for (const Flag& flag : verb.flags) names.push_back(flag.name);
  return names;
}

// Takes the flag at words[i] and its value; leaves `i` on the last word taken.
Status TakeFlag(const Verb& verb, const std::vector<std::string>& words, size_t& i,
                SplitLine& line) {
  const size_t equals = words[i].find('=');
  const std::string name = words[i].substr(0, equals);
  const Flag* flag = FindFlag(verb, name);
  if (flag == nullptr) {
    const std::string suggestion = DidYouMean(name, FlagNames(verb));
    return InvalidInput("unknown flag " + name + " for " + Called(verb) +
                        (suggestion.empty() ? SeeHelp(verb) : suggestion));
  }
  line.flag_words.push_back(name);
  if (flag->value_name.empty()) {
    if (equals == std::string::npos) return {};
    return InvalidInput(name + " takes no value; write just " + name);
  }
  if (equals != std::string::npos) {
    line.flag_words.push_back(words[i].substr(equals + 1));
    return {};
  }
  const bool last = i + 1 == words.size();
  if (last || (words[i + 1].size() > 1 && words[i + 1].front() == '-')) {
    std::string message = name + " needs a value: " + name + " " + flag->value_name;
    if (!last) message += " (a value that begins with a dash is written " + name + "=VALUE)";
    return InvalidInput(std::move(message));
  }
  line.flag_words.push_back(words[++i]);
  return {};
}

Result<SplitLine> SplitWords(const Verb& verb, const std::vector<std::string>& words) {
  SplitLine line;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      line.positionals.insert(line.positionals.end(), words.begin() + static_cast<long>(i) + 1,
                              words.end());
      break;
    }
    if (word == "-h" || word == "--help") {
      line.help = true;
      return line;
    }
    if (word.size() > 1 && word.front() == '-') {
      KERF_RETURN_IF_ERROR(TakeFlag(verb, words, i, line));
    } else {
      line.positionals.push_back(word);
    }
  }
  return line;
}

std::string NotAChoice(const std::vector<std::string>& choices, const std::string& value) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return "";
  return "'" + value + "' is none of " + Join(choices) + DidYouMean(value, choices);
}

std::string NotANumber(const std::string& value) {
  // 18 digits always fit an int64_t.
  const bool digits = !value.empty() && value.size() <= 18 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "'" + value + "' is not a whole number of 0 or more";
}

Status CheckFlags(const Verb& verb, const std::vector<std::string>& flag_words, Args& args) {
  CLI::App app;
  app.set_help_flag();
  std::vector<std::pair<const Flag*, CLI::Option*>> options;
  for (const Flag& flag : verb.flags) {
    CLI::Option* option = flag.value_name.empty()
                              ? app.add_flag(flag.name)
                              : app.add_option(flag.name)->expected(1)->allow_extra_args(false);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->required(flag.required);
    if (!flag.choices.empty()) {
      option->check([&flag](const std::string& value) { return NotAChoice(flag.choices, value); });
    }
    if (flag.number) option->check(NotANumber);
    options.emplace_back(&flag, option);
  }
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(flag_words.rbegin(), flag_words.rend()));
  } catch (const CLI::ParseError& error) {
    return InvalidInput(std::string(error.what()) + " for " + Called(verb));
  }
  for (const auto& [flag, option] : options) {
    if (option->count() > 1 && !flag->repeated) {
      return InvalidInput(flag->name + " was given " + std::to_string(option->count()) +
                          " times; give it once");
    }
    if (option->count() > 0) {
      args.Set(flag->name, option->results());
    } else if (!flag->default_value.empty()) {
      args.Set(flag->name, {flag->default_value});
    }
  }
  return {};
}

Error ExtraPositional(const Verb& verb, const std::string& word) {
  std::string message = "unexpected argument '" + word + "' for " + Called(verb);
  const std::string suggestion = DidYouMean(word, FlagNames(verb));
  return InvalidInput(message + (suggestion.empty() ? SeeHelp(verb) : suggestion));
}

Status CheckPositionals(const Verb& verb, const std::vector<std::string>& words, Args& args) {
  for (size_t i = 0; i < std::max(words.size(), verb.positionals.size()); ++i) {
    const size_t last = verb.positionals.size() - 1;
    const bool beyond = i >= verb.positionals.size();
    if (beyond && (verb.positionals.empty() || !verb.positionals[last].repeated)) {
      return ExtraPositional(verb, words[i]);
    }
    const Positional& positional = verb.positionals[std::min(i, last)];
    if (i >= words.size()) {
      if (!positional.required) break;
      const std::string choices =
          positional.choices.empty() ? "" : " (one of " + Join(positional.choices) + ")";
      return InvalidInput(Called(verb) + " needs " + positional.name + choices + SeeHelp(verb));
    }
    if (!positional.choices.empty()) {
      const std::string problem = NotAChoice(positional.choices, words[i]);
      if (!problem.empty()) return InvalidInput(positional.name + ": " + problem);
    }
    args.AddPositional(words[i]);
  }
  return {};
}

}  // namespace

Result<ParsedLine> ParseLine(const Verb& verb, const std::vector<std::string>& words) {
  KERF_ASSIGN_OR_RETURN(SplitLine line, SplitWords(verb, words));
  ParsedLine parsed;
  parsed.help = line.help;
  if (line.help) return parsed;
  KERF_RETURN_IF_ERROR(CheckFlags(verb, line.flag_words, parsed.args));
  KERF_RETURN_IF_ERROR(CheckPositionals(verb, line.positionals, parsed.args));
  return parsed;
}

}  // namespace kerf::cli
