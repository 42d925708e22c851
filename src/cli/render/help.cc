#include "cli/render/help.h"

#include <algorithm>
#include <optional>

#include "cli/render/output.h"
#include "cli/render/text_width.h"
#include "cli/suggest.h"

namespace kerf::cli {
namespace {

constexpr size_t kLineWidth = 100;

struct Line {
  std::string left;
  std::string right;
};

// Breaks `text` at spaces into lines that begin at column `indent`; the first is assumed to stand
// there already.
std::string Wrapped(const std::string& text, size_t indent) {
  std::string out;
  size_t column = indent;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const size_t width = DisplayWidth(word);
    if (column > indent && column + 1 + width > kLineWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
    begin = end + 1;
  }
  return out;
}

std::string Section(const std::string& title, const std::vector<Line>& lines, const Output& out) {
  if (lines.empty()) return "";
  constexpr size_t kWidestLeft = 30;
  size_t width = 0;
  for (const Line& line : lines) {
    if (line.left.size() <= kWidestLeft) width = std::max(width, line.left.size());
  }
  std::string text = "\n" + out.Styled(title, Style::kBold) + "\n";
  for (const Line& line : lines) {
    text += "  " + line.left;
    const size_t indent = width + 4;
    text += line.left.size() > width ? "\n" + std::string(indent, ' ')
                                     : std::string(width - line.left.size() + 2, ' ');
    text += Wrapped(line.right, indent) + "\n";
  }
  return text;
}

std::string Described(const std::string& help, const std::vector<std::string>& choices,
                      const std::string& default_value, bool required, bool repeated) {
  std::vector<std::string> remarks;
  if (!choices.empty()) {
    std::string all;
    for (const std::string& choice : choices) all += (all.empty() ? "one of " : ", ") + choice;
    remarks.push_back(all);
  }
  if (!default_value.empty()) remarks.push_back("default: " + default_value);
  if (required) remarks.push_back("required");
  if (repeated) remarks.push_back("may be repeated");
  std::string text = help;
  for (size_t i = 0; i < remarks.size(); ++i) text += (i == 0 ? " (" : "; ") + remarks[i];
  return remarks.empty() ? text : text + ")";
}

// A table that would not fit on a screen explains its first flags and names the others: a verb puts
// first what people need first.
std::vector<Line> FlagLines(const Verb& verb) {
  constexpr size_t kMost = 24;
  const size_t explained = verb.flags.size() <= kMost ? verb.flags.size() : 18;
  std::vector<Line> lines;
  std::string others;
  for (size_t i = 0; i < verb.flags.size(); ++i) {
    const Flag& flag = verb.flags[i];
    const std::string left =
        flag.value_name.empty() ? flag.name : flag.name + " " + flag.value_name;
    if (i < explained) {
      lines.push_back({left, FlagHelp(flag)});
    } else {
      others += (others.empty() ? "" : ", ") + left;
    }
  }
  if (!others.empty()) lines.push_back({"more", others + " ('kerf man' explains them)"});
  lines.push_back({"-h, --help", "Show this help"});
  return lines;
}

// One paragraph: a list would push long flag tables off the screen.
std::string ExitCodes(const Output& out) {
  std::string text;
  for (const auto& [code, meaning] : ExitCodeHelp()) {
    text.append(text.empty() ? "" : "; ").append(code).append(" ").append(meaning);
  }
  return "\n" + out.Styled("Exit codes", Style::kBold) + "\n  " + Wrapped(text, 2) + "\n";
}

}  // namespace

std::string FlagHelp(const Flag& flag) {
  return Described(flag.help, flag.choices, flag.default_value, flag.required, flag.repeated);
}

std::vector<std::pair<std::string, std::string>> ExitCodeHelp() {
  return {{"0", "done"},
          {"1", "done, and the answer is negative"},
          {"2", "the command line or the input is wrong"},
          {"3", "this machine lacks something, or refused it"},
          {"4", "stored data is corrupt"},
          {"70", "a bug in kerf"},
          {"130", "interrupted"}};
}

std::string UsageLine(const Verb& verb) {
  std::string usage = "kerf " + verb.name;
  const auto add_flag = [&usage](const Flag& flag) {
    std::string text = flag.name + (flag.value_name.empty() ? "" : " " + flag.value_name);
    if (!flag.required) text = "[" + text + "]";
    usage += " " + text + (flag.repeated ? "…" : "");
  };
  for (const Flag& flag : verb.flags) {
    if (flag.required) add_flag(flag);
  }
  // The list below names them all; a usage of many lines helps nobody.
  constexpr size_t kMostFlags = 16;
  if (verb.flags.size() > kMostFlags) usage += " [flags]";
  for (const Flag& flag : verb.flags) {
    if (!flag.required && verb.flags.size() <= kMostFlags) add_flag(flag);
  }
  for (const Positional& positional : verb.positionals) {
    const std::string name = positional.name + (positional.repeated ? "…" : "");
    usage += positional.required ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string OverviewHelp(const std::vector<Verb>& verbs, const Output& out) {
  std::vector<Line> lines;
  lines.reserve(verbs.size());
  for (const Verb& verb : verbs) lines.push_back({verb.name, verb.summary});
  return "kerf: the workbench for AI-generated accelerator kernels.\n\n" +
         out.Styled("Usage", Style::kBold) + "\n  kerf VERB [flags] [arguments]\n" +
         Section("Verbs", lines, out) +
         "\nMore: 'kerf VERB --help' for one verb, 'kerf doctor' for this machine, 'kerf man' for "
         "the "
         "manual.\n";
}

std::string GroupHelp(const std::string& group, const std::vector<Verb>& members,
                      const Output& out) {
  std::vector<Line> lines;
  lines.reserve(members.size());
  for (const Verb& verb : members) lines.push_back({verb.name, verb.summary});
  return out.Styled("Usage", Style::kBold) + "\n  kerf " + group + " VERB [flags] [arguments]\n" +
         Section("Verbs", lines, out) + "\nMore: 'kerf " + group + " VERB --help'.\n";
}

std::string VerbHelp(const Verb& verb, const Output& out) {
  std::string text = verb.summary + ".\n\n" + out.Styled("Usage", Style::kBold) + "\n  " +
                     Wrapped(UsageLine(verb), 6) + "\n";
  if (!verb.details.empty()) {
    text += "\n" + verb.details + (verb.details.back() == '\n' ? "" : "\n");
  }
  std::vector<Line> arguments;
  for (const Positional& positional : verb.positionals) {
    arguments.push_back({positional.name, Described(positional.help, positional.choices, "", false,
                                                    positional.repeated)});
  }
  text += Section("Arguments", arguments, out) + Section("Flags", FlagLines(verb), out);
  std::vector<Line> examples;
  for (const Example& example : verb.examples) {
    examples.push_back({example.command, example.explanation});
  }
  return text + Section("Examples", examples, out) + ExitCodes(out);
}

Error UnknownVerb(const std::vector<Verb>& verbs, const std::vector<std::string>& words) {
  std::vector<std::string> pairs;    // "trace append"
  std::vector<std::string> singles;  // "version", and the group "trace"
  for (const Verb& verb : verbs) {
    const size_t space = verb.name.find(' ');
    if (space != std::string::npos) pairs.push_back(verb.name);
    singles.push_back(verb.name.substr(0, space));
  }
  const bool in_group = std::any_of(pairs.begin(), pairs.end(), [&](const std::string& pair) {
    return pair.rfind(words[0] + " ", 0) == 0;
  });
  const std::string both = words.size() > 1 ? words[0] + " " + words[1] : words[0];
  std::optional<std::string> nearest = Nearest(both, pairs);
  if (!nearest.has_value() && !in_group) nearest = Nearest(words[0], singles);
  for (const std::string& pair : pairs) {
    // `kerf append` for `kerf trace append`.
    if (!nearest.has_value() && pair.substr(pair.find(' ') + 1) == words[0]) nearest = pair;
  }
  const std::string see = in_group ? "'kerf help " + words[0] + "'" : "'kerf help'";
  const std::string advice = nearest.has_value() ? "; did you mean 'kerf " + *nearest + "'?"
                                                 : "; " + see + " lists the verbs";
  return InvalidInput("unknown verb '" + (in_group ? both : words[0]) + "'" + advice);
}

}  // namespace kerf::cli
