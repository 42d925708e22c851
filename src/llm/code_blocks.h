// Fenced blocks of a reply in Markdown, as models write them: any language word, ~~~ or ```, in a
// list, behind `"code":` on the same line, or never closed; and <code> elements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::llm {

struct CodeBlock {
  std::string label;  // "cpp": lower case, the first word after the fence; may be empty
  std::string text;   // without the fences; with its last line end
  bool closed = false;
};

struct Markdown {
  std::vector<CodeBlock> blocks;
  std::string prose;  // everything outside, trimmed
};

Markdown ParseMarkdown(std::string_view text);

}  // namespace kerf::llm
