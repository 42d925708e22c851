#include "cli/render/man_page.h"

#include <algorithm>

#include "base/utf8.h"
#include "cli/render/help.h"

namespace kerf::cli {
namespace {

std::string Bold(const std::string& text) { return "\\fB" + RoffEscaped(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + RoffEscaped(text) + "\\fR"; }

std::string Item(const std::string& tag, const std::string& body) {
  return ".TP\n" + tag + "\n" + body + "\n";
}

// Details are plain text: a blank line separates paragraphs, an indented line stays as it is.
std::string Paragraphs(const std::string& text) {
  std::string out;
  bool example = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const bool indented = line.rfind("  ", 0) == 0;
    if (indented != example) out += indented ? ".PP\n.nf\n" : ".fi\n.PP\n";
    example = indented;
    out += line.empty() ? ".PP\n" : RoffEscaped(line) + "\n";
  }
  return out + (example ? ".fi\n" : "");
}

std::string VerbSection(const Verb& verb) {
  std::string text = ".SS \"kerf " + verb.name + "\"\n" + RoffEscaped(verb.summary) + ".\n.PP\n" +
                     Bold(UsageLine(verb)) + "\n";
  if (!verb.details.empty()) text += ".PP\n" + Paragraphs(verb.details);
  for (const Positional& positional : verb.positionals) {
    std::string help = positional.help;
    if (!positional.choices.empty()) {
      help += " (one of";
      for (const std::string& choice : positional.choices) help += " " + choice;
      help += ")";
    }
    text += Item(Italic(positional.name), RoffEscaped(help));
  }
  for (const Flag& flag : verb.flags) {
    const std::string value = flag.value_name.empty() ? "" : " " + Italic(flag.value_name);
    text += Item(Bold(flag.name) + value, RoffEscaped(FlagHelp(flag)));
  }
  for (const Example& example : verb.examples) {
    text += ".PP\nExample, " + RoffEscaped(example.explanation) + ":\n.PP\n.nf\n.RS\n" +
            RoffEscaped(example.command) + "\n.RE\n.fi\n";
  }
  return text;
}

}  // namespace

std::string RoffEscaped(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // A dot or a quote at the beginning of a line would be a request.
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (static_cast<unsigned char>(c) >= 0x80) {
      // By code point, since old roffs read bytes as Latin-1.
      const Utf8Char decoded = DecodeUtf8(std::string_view(text).substr(i));
      constexpr char kHex[] = "0123456789ABCDEF";
      std::string digits;
      for (char32_t value = decoded.value; value != 0; value >>= 4) digits += kHex[value & 15];
      digits.append(digits.size() < 4 ? 4 - digits.size() : 0, '0');
      out += "\\[u" + std::string(digits.rbegin(), digits.rend()) + "]";
      i += decoded.length - 1;
      continue;
    }
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':  // a plain hyphen may be typeset as U+2010, which nobody can paste into a shell
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '`':
        out += "\\(ga";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string ManPage(const std::vector<Verb>& verbs, const std::string& version) {
  std::string text = ".TH KERF 1 \"\" \"kerf " + version + "\" \"User Commands\"\n.nh\n.ad l\n";
  text += ".SH NAME\nkerf \\- the workbench for AI\\-generated accelerator kernels\n";
  text += ".SH SYNOPSIS\n.B kerf\n.I VERB\n[flags] [arguments]\n";
  text +=
      ".SH DESCRIPTION\n" +
      Paragraphs(
          "Data goes to standard output, everything said about the work to standard error.\n"
          "Flags may stand before, between and after arguments; -- ends them, and - is standard "
          "input where a file is expected.\n"
          "A value that begins with a dash is written --flag=VALUE.\n\n"
          "With --json an error is also printed on standard output, as one object: "
          "{\"ok\":false,\"error\":{\"code\":\"not_found\",\"message\":\"...\"}}.");
  text += ".SH VERBS\n";
  for (const Verb& verb : verbs) text += VerbSection(verb);
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : ExitCodeHelp()) text += Item(Bold(code), RoffEscaped(meaning));
  text += ".SH ENVIRONMENT\n";
  text += Item(Bold("NO_COLOR"), "When set, nothing is coloured.");
  text += Item(Bold("COLUMNS"), "The width of the terminal, instead of what the terminal says.");
  text += Item(Bold("KERF_PYTHON"), "The Python interpreter to use before any other.");
  text += Item(Bold("TMPDIR"), "Where temporary files go, instead of /tmp.");
  return text;
}

}  // namespace kerf::cli
