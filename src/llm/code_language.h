// Tells code of one language from other text: by the label of its block and by what it defines.
#pragma once

#include <string_view>

#include "llm/code_blocks.h"
#include "llm/reply_parser.h"

namespace kerf::llm {

// Whether a block with this label may hold the code: not a shell session when C++ was asked for.
bool MayHold(const std::string& label, CodeLanguage language);

// nullptr when no block can be it.
const CodeBlock* ChooseBlock(const Markdown& markdown, CodeLanguage language);

// Whether the text is code and nothing else.
bool IsBareCode(std::string_view text, CodeLanguage language);

}  // namespace kerf::llm
