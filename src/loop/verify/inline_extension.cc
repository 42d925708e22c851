// A small reader of Python tokens: enough to find string literals, the names they are assigned to
// and the arguments of one call. What is computed (f-strings, joins, files) is not followed.
#include "loop/verify/inline_extension.h"

#include <cctype>
#include <cstring>
#include <map>

namespace kerf::verify {
namespace {

struct PythonToken {
  enum class Kind { kName, kString, kOther } kind = Kind::kOther;
  std::string text;  // of a string: its value
  int line = 0;
};

class PythonTokens {
 public:
  explicit PythonTokens(std::string_view text) : text_(text) {}

  std::vector<PythonToken> Read() {
    std::vector<PythonToken> tokens;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        if (c == '\n') ++line_;
        ++at_;
      } else if (const size_t quote = QuoteAt(); quote != std::string_view::npos) {
        tokens.push_back(ReadString(quote));
      } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
        const size_t begin = at_;
        while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
        tokens.push_back(
            {PythonToken::Kind::kName, std::string(text_.substr(begin, at_ - begin)), line_});
      } else {
        tokens.push_back({PythonToken::Kind::kOther, std::string(1, c), line_});
        ++at_;
      }
    }
    return tokens;
  }

 private:
  static bool IsWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  // Where the quote of a string stands that begins here, with or without a prefix.
  [[nodiscard]] size_t QuoteAt() const {
    size_t at = at_;
    while (at < text_.size() && at - at_ < 2 && std::strchr("rRbBuUfF", text_[at]) != nullptr) ++at;
    return at < text_.size() && (text_[at] == '"' || text_[at] == '\'') ? at
                                                                        : std::string_view::npos;
  }

  PythonToken ReadString(size_t quote) {
    const std::string_view prefix = text_.substr(at_, quote - at_);
    const bool raw = prefix.find_first_of("rR") != std::string_view::npos;
    const bool computed = prefix.find_first_of("fF") != std::string_view::npos;
    const char mark = text_[quote];
    const bool triple = text_.substr(quote, 3) == std::string(3, mark);
    PythonToken token{computed ? PythonToken::Kind::kOther : PythonToken::Kind::kString, "", line_};
    at_ = quote + (triple ? 3 : 1);
    while (at_ < text_.size()) {
      if (text_[at_] == mark && (!triple || text_.substr(at_, 3) == std::string(3, mark))) {
        at_ += triple ? 3 : 1;
        break;
      }
      if (text_[at_] == '\n') {
        if (!triple) break;
        ++line_;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ReadEscape(raw, token.text);
        continue;
      }
      token.text += text_[at_++];
    }
    return token;
  }

  void ReadEscape(bool raw, std::string& out) {
    const char next = text_[at_ + 1];
    at_ += 2;
    if (next == '\n') ++line_;
    if (raw) {
      out += {'\\', next};
      return;
    }
    switch (next) {
      case '\n':
        return;
      case 'n':
        out += '\n';
        return;
      case 't':
        out += '\t';
        return;
      case '\\':
      case '\'':
      case '"':
        out += next;
        return;
      default:
        out += {'\\', next};
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

using Strings = std::map<std::string, PythonToken>;

// name = "…" at any depth; the last one counts.
Strings Assigned(const std::vector<PythonToken>& tokens) {
  Strings strings;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].kind == PythonToken::Kind::kName && tokens[i + 1].text == "=" &&
        tokens[i + 2].kind == PythonToken::Kind::kString) {
      strings[tokens[i].text] = tokens[i + 2];
    }
  }
  return strings;
}

bool Is(const PythonToken& token, const char* text) {
  return token.kind != PythonToken::Kind::kString && token.text == text;
}

// The strings among the tokens of one argument: literals, names of literals, lists of both.
std::vector<PythonToken> StringsIn(const std::vector<PythonToken>& tokens, size_t begin, size_t end,
                                   const Strings& assigned) {
  std::vector<PythonToken> found;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].kind == PythonToken::Kind::kString) found.push_back(tokens[i]);
    if (tokens[i].kind != PythonToken::Kind::kName) continue;
    if (const auto name = assigned.find(tokens[i].text); name != assigned.end()) {
      found.push_back(name->second);
    }
  }
  return found;
}

struct CallArguments {
  std::map<std::string, std::vector<PythonToken>>
      named;  // also "0", "1", … for those without a name
};

CallArguments ReadArguments(const std::vector<PythonToken>& tokens, size_t open,
                            const Strings& assigned) {
  CallArguments arguments;
  int depth = 0;
  int position = 0;
  size_t begin = open + 1;
  const auto end_argument = [&](size_t end) {
    if (end <= begin) return;
    const bool named = end > begin + 1 && tokens[begin].kind == PythonToken::Kind::kName &&
                       Is(tokens[begin + 1], "=");
    const std::string name = named ? tokens[begin].text : std::to_string(position++);
    arguments.named[name] = StringsIn(tokens, named ? begin + 2 : begin, end, assigned);
  };
  for (size_t i = open; i < tokens.size(); ++i) {
    if (Is(tokens[i], "(") || Is(tokens[i], "[")) ++depth;
    if (Is(tokens[i], ")") || Is(tokens[i], "]")) --depth;
    if (depth == 0) {
      end_argument(i);
      break;
    }
    if (depth == 1 && Is(tokens[i], ",")) {
      end_argument(i);
      begin = i + 1;
    }
  }
  return arguments;
}

// What load_inline() adds for `functions`: a module that binds them.
std::string Bindings(const std::vector<PythonToken>& functions) {
  std::string text = "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n";
  for (const PythonToken& function : functions) {
    text += "  m.def(\"" + function.text + "\", &" + function.text + ");\n";
  }
  return text + "}\n";
}

}  // namespace

std::optional<InlineExtension> FindInlineExtension(std::string_view python) {
  if (python.find("load_inline") == std::string_view::npos) return std::nullopt;
  const std::vector<PythonToken> tokens = PythonTokens(python).Read();
  const Strings assigned = Assigned(tokens);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != PythonToken::Kind::kName || tokens[i].text != "load_inline" ||
        !Is(tokens[i + 1], "(")) {
      continue;
    }
    CallArguments arguments = ReadArguments(tokens, i + 1, assigned);
    InlineExtension extension;
    // Positions as in torch: name, cpp_sources, cuda_sources, functions.
    for (const auto& [name, place] : {std::pair("cpp_sources", "1"), {"cuda_sources", "2"}}) {
      std::vector<PythonToken>& parts = arguments.named[name];
      if (parts.empty()) parts = arguments.named[place];
      for (const PythonToken& part : parts) {
        if (extension.line == 0) extension.line = part.line;
        extension.source += part.text + "\n";
      }
    }
    std::vector<PythonToken>& functions = arguments.named["functions"];
    if (functions.empty()) functions = arguments.named["3"];
    const bool has_module = extension.source.find("PYBIND11_MODULE") != std::string::npos;
    if (!extension.source.empty() && !has_module && !functions.empty()) {
      extension.source = "#include <torch/extension.h>\n" + extension.source + Bindings(functions);
    }
    return extension;
  }
  return std::nullopt;
}

}  // namespace kerf::verify
