// Reasoning that stands inside the text of a reply, between <think> and </think>, as raw chat
// templates leave it.
#pragma once

#include <string>
#include <string_view>

namespace kerf::llm {

struct SplitText {
  std::string text;
  std::string reasoning;
  bool open = false;  // the reply ended before its thinking did: there is no answer
};

// Takes out blocks that begin at the start of a line, and everything up to a closing tag whose
// opening tag the template had put into the prompt. Also <thinking>.
SplitText SplitThinking(std::string_view reply);

}  // namespace kerf::llm
