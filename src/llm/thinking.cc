#include "llm/thinking.h"

#include <array>
#include <cctype>

#include "llm/white_space.h"

namespace kerf::llm {
namespace {

struct Tag {
  std::string_view open, close;
};
constexpr std::array<Tag, 2> kTags = {Tag{"<think>", "</think>"}, Tag{"<thinking>", "</thinking>"}};

// Only white space between it and the start of its line.
bool BeginsLine(std::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

size_t FindAtLine(std::string_view text, std::string_view tag) {
  for (size_t at = text.find(tag); at != std::string_view::npos; at = text.find(tag, at + 1)) {
    if (BeginsLine(text, at)) return at;
  }
  return std::string_view::npos;
}

void AddReasoning(SplitText& split, std::string_view part) {
  part = TrimRight(TrimLeft(part));
  if (part.empty()) return;
  if (!split.reasoning.empty()) split.reasoning += "\n\n";
  split.reasoning += part;
}

// Only white space between it and the end of its line.
bool EndsLine(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) ++at;
  return at == text.size() || text[at] == '\n';
}

// A closing tag without an opening one, at one end of its line. Not in a reply that begins with its
// answer: there it stands in a text of the answer.
std::string_view DropLoneClose(std::string_view rest, SplitText& split) {
  const std::string_view start = TrimLeft(rest);
  if (start.starts_with('{') || start.starts_with("```")) return rest;
  for (const Tag& tag : kTags) {
    const size_t close = rest.find(tag.close);
    if (close == std::string_view::npos || rest.find(tag.open) < close) continue;
    if (!BeginsLine(rest, close) && !EndsLine(rest, close + tag.close.size())) continue;
    AddReasoning(split, rest.substr(0, close));
    return TrimLeft(rest.substr(close + tag.close.size()));
  }
  return rest;
}

}  // namespace

SplitText SplitThinking(std::string_view reply) {
  SplitText split;
  std::string_view rest = DropLoneClose(reply, split);
  bool found = rest.size() != reply.size();
  while (true) {
    const Tag* first = nullptr;
    size_t at = std::string_view::npos;
    for (const Tag& tag : kTags) {
      const size_t here = FindAtLine(rest, tag.open);
      if (here < at) {
        at = here;
        first = &tag;
      }
    }
    if (first == nullptr) break;
    found = true;
    split.text += rest.substr(0, at);
    const size_t begin = at + first->open.size();
    const size_t close = rest.find(first->close, begin);
    split.open = close == std::string_view::npos;
    AddReasoning(split, rest.substr(begin, split.open ? std::string_view::npos : close - begin));
    rest = split.open ? std::string_view() : rest.substr(close + first->close.size());
    if (TrimLeft(split.text).empty()) {
      split.text.clear();
      rest = TrimLeft(rest);
    }
  }
  split.text += rest;
  if (!found) split.text = reply;
  return split;
}

}  // namespace kerf::llm
