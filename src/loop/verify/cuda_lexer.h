// The tokens of a CUDA or HIP source, as far as rewriting it needs them: comments and white space
// are left out, strings and raw strings are one token, `<` and `>` are single so that <<< and >>>
// can be told from template brackets.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace kerf::verify {

enum class TokenKind {
  kWord,
  kNumber,
  kString,
  kCharacter,
  kPunctuation,
  kIf,      // #if, #ifdef, #ifndef
  kElse,    // #else, #elif
  kEndif,   // #endif
  kDefine,  // the start of a #define; the tokens of its body follow, marked
  kEndOfDefine,
};

struct Token {
  TokenKind kind = TokenKind::kWord;
  size_t begin = 0;
  size_t end = 0;
  int line = 0;
  bool in_define = false;
  std::string_view text;

  [[nodiscard]] bool Is(std::string_view s) const {
    return text == s && (kind == TokenKind::kWord || kind == TokenKind::kPunctuation);
  }
};

// Never fails: a source that is not well formed gives some tokens, and the compiler will say what
// is wrong. The tokens point into `source`.
std::vector<Token> LexCuda(std::string_view source);

}  // namespace kerf::verify
