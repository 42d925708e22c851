#include "llm/code_blocks.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "llm/white_space.h"

namespace kerf::llm {
namespace {

struct Fence {
  char mark = '`';
  size_t length = 3;
  size_t indent = 0;
  std::string label;
};

bool IsLabel(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '#' || c == '_' ||
           c == '-' || c == '.';
  });
}

size_t MarkLength(std::string_view text, char mark) {
  size_t n = 0;
  while (n < text.size() && text[n] == mark) ++n;
  return n;
}

// "```cpp title=x", also behind other text when a language follows, as in `"code": ```cpp`.
std::optional<Fence> OpenFence(std::string_view line) {
  for (const char mark : {'`', '~'}) {
    const size_t at = line.find(std::string(3, mark));
    if (at == std::string_view::npos) continue;
    Fence fence{mark, MarkLength(line.substr(at), mark), at, ""};
    const std::string_view info = Trim(line.substr(at + fence.length));
    const bool first = Trim(line.substr(0, at)).empty();
    if (info.find(mark) != std::string_view::npos) continue;  // an inline span
    const std::string_view word = info.substr(0, info.find_first_of(" \t{,:"));
    if (!IsLabel(word)) continue;
    if (!first && (word.empty() || word.size() != info.size())) continue;
    if (!first) fence.indent = 0;
    for (const char c : word) {
      fence.label += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return fence;
  }
  return std::nullopt;
}

bool CloseFence(std::string_view line, const Fence& fence) {
  line = Trim(line);
  const size_t n = MarkLength(line, fence.mark);
  if (n < fence.length) return false;
  const std::string_view after = Trim(line.substr(n));
  return after.empty() || std::string_view(",\"'}])").find(after.front()) != std::string_view::npos;
}

// "<code>" or "<code lang=cpp>" at the start of a line: the length up to its end, else 0. A name in
// angle brackets inside a line is C++ or prose.
size_t OpenElement(std::string_view line) {
  const size_t at = line.size() - TrimLeft(line).size();
  if (!line.substr(at).starts_with("<code")) return 0;
  const size_t end = line.find('>', at);
  if (end == std::string_view::npos) return 0;
  const char after = line[at + std::string_view("<code").size()];
  return after == '>' || after == ' ' ? end + 1 : 0;
}

std::string_view Dedent(std::string_view line, size_t indent) {
  while (indent > 0 && !line.empty() && (line.front() == ' ' || line.front() == '\t')) {
    line.remove_prefix(1);
    --indent;
  }
  return line;
}

// Whether the element ends in this line.
bool TakeElementLine(std::string_view line, CodeBlock& block) {
  const size_t end = line.find("</code>");
  const std::string_view code = line.substr(0, end);
  if (!block.text.empty() || !Trim(code).empty()) block.text += code;
  block.closed = end != std::string_view::npos;
  return block.closed;
}

}  // namespace

Markdown ParseMarkdown(std::string_view text) {
  Markdown markdown;
  std::string prose;
  std::optional<Fence> open;
  bool in_element = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (in_element) {
      in_element = !TakeElementLine(line, markdown.blocks.back());
    } else if (open.has_value()) {
      CodeBlock& block = markdown.blocks.back();
      if (CloseFence(line, *open)) {
        block.closed = true;
        open.reset();
      } else {
        block.text += Dedent(line, open->indent);
      }
    } else if ((open = OpenFence(line)).has_value()) {
      markdown.blocks.push_back({open->label, "", false});
    } else if (const size_t tag = OpenElement(line); tag > 0) {
      markdown.blocks.push_back({"", "", false});
      in_element = !TakeElementLine(line.substr(tag), markdown.blocks.back());
    } else {
      prose += line;
    }
  }
  markdown.prose = Trim(prose);
  return markdown;
}

}  // namespace kerf::llm
