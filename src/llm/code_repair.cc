#include "llm/code_repair.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "llm/code_blocks.h"

namespace kerf::llm {
namespace {

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  if (text.find(from) == std::string::npos) return;
  std::string out;
  size_t start = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, start)) {
    out.append(text, start, at - start);
    out += to;
    start = at + from.size();
  }
  out.append(text, start);
  text = std::move(out);
}

std::string ReplaceInvalid(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    const bool surrogate = c.value >= 0xD800 && c.value < 0xE000;
    if (c.valid && !surrogate) {
      out += text.substr(0, c.length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(c.length);
  }
  return out;
}

// The code as one line with \n written out, because it was escaped twice. Outside of quotes a
// backslash before an n is an error in C++ and in Python, so nothing right can look like that.
bool IsEscapedTwice(std::string_view code) {
  if (code.find('\n') != std::string_view::npos) return false;
  char quote = 0;
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i] == '\\') {
      if (quote == 0 && code[i + 1] == 'n') return true;
      ++i;
    } else if (quote == 0 && (code[i] == '"' || code[i] == '\'')) {
      quote = code[i];
    } else if (code[i] == quote) {
      quote = 0;
    }
  }
  return false;
}

std::string Unescape(std::string_view code) {
  std::string out;
  for (size_t i = 0; i < code.size(); ++i) {
    const char next = i + 1 < code.size() ? code[i + 1] : '\0';
    const size_t index =
        code[i] == '\\' ? std::string_view("nrt\"\\").find(next) : std::string_view::npos;
    if (next == 0 || index == std::string_view::npos) {
      out += code[i];
    } else {
      out += std::string_view("\n\r\t\"\\")[index];
      ++i;
    }
  }
  return out;
}

// The whole code is one fenced block.
bool StripFence(std::string& code) {
  if (code.find("```") == std::string_view::npos && code.find("~~~") == std::string_view::npos)
    return false;
  const size_t first = code.find_first_not_of(" \t\r\n");
  if (code.compare(first, 3, "```") != 0 && code.compare(first, 3, "~~~") != 0) return false;
  Markdown markdown = ParseMarkdown(code);
  if (markdown.blocks.size() != 1 || !markdown.blocks[0].closed || !markdown.prose.empty()) {
    return false;
  }
  code = std::move(markdown.blocks[0].text);
  return true;
}

// "#include &lt;cmath&gt;": without a single '<' of its own, the code went through something that
// writes HTML.
bool UnescapeHtml(std::string& code) {
  if (code.find("&lt;") == std::string_view::npos || code.find('<') != std::string_view::npos)
    return false;
  ReplaceAll(code, "&lt;", "<");
  ReplaceAll(code, "&gt;", ">");
  ReplaceAll(code, "&quot;", "\"");
  ReplaceAll(code, "&#39;", "'");
  ReplaceAll(code, "&amp;", "&");
  return true;
}

}  // namespace

std::string CleanText(std::string_view text, std::vector<std::string>& repairs) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
    repairs.emplace_back("byte order mark removed");
  }
  std::string out(text);
  if (out.find('\0') != std::string_view::npos) {
    out.erase(std::remove(out.begin(), out.end(), '\0'), out.end());
    repairs.emplace_back("NUL bytes removed");
  }
  if (DetectEncoding(out) != TextEncoding::kUtf8) {
    out = ReplaceInvalid(out);
    repairs.emplace_back("bytes that are no UTF-8 replaced by U+FFFD");
  }
  return out;
}

void RepairCode(std::string& code, std::vector<std::string>& repairs) {
  if (IsEscapedTwice(code)) {
    code = Unescape(code);
    repairs.emplace_back("code that was escaped twice unescaped");
  }
  if (StripFence(code)) repairs.emplace_back("a fence around the code in the JSON removed");
  if (code.find('\r') != std::string_view::npos) {
    ReplaceAll(code, "\r\n", "\n");
    ReplaceAll(code, "\r", "\n");
    repairs.emplace_back("line ends changed to LF");
  }
  if (UnescapeHtml(code)) repairs.emplace_back("HTML entities replaced");
}

std::string FindElision(std::string_view code) {
  static constexpr std::array<std::string_view, 10> kPhrases = {
      "existing code", "rest of the code", "rest of code",   "unchanged", "same as before",
      "as before",     "remaining code",   "rest of kernel", "其余",      "省略"};
  while (!code.empty()) {
    const size_t end = std::min(code.find('\n'), code.size());
    std::string_view line = code.substr(0, end);
    code.remove_prefix(std::min(end + 1, code.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("//") && !line.starts_with('#') && !line.starts_with("/*")) continue;
    if (line.find("...") == std::string_view::npos &&
        line.find("\xE2\x80\xA6") == std::string_view::npos)
      continue;
    for (const std::string_view phrase : kPhrases) {
      if (line.find(phrase) != std::string_view::npos) return std::string(line);
    }
  }
  return "";
}

}  // namespace kerf::llm
