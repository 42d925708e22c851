#include "llm/lenient_json.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/utf8.h"

namespace kerf::llm {
namespace {

constexpr int kMaxDepth = 64;

bool IsNameByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || c == '-';
}

bool IsSurrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

class Parser {
 public:
  Parser(std::string_view text, size_t from, LenientParse& result)
      : text_(text), at_(from), result_(result) {}

  void Run() {
    LenientValue value;
    if (Value(value, 0)) {
      result_.state = LenientParse::State::kWhole;
      result_.value = std::move(value);
    }
    result_.end = at_;
  }

 private:
  using Type = LenientValue::Type;

  bool Broken(std::string what) {
    result_.state = LenientParse::State::kBroken;
    result_.error = std::move(what);
    return false;
  }
  bool Truncated(std::string what) {
    result_.state = LenientParse::State::kTruncated;
    result_.error = std::move(what);
    return false;
  }
  void Repaired(const char* what) { result_.repairs.insert(what); }

  [[nodiscard]] bool AtEnd() const { return at_ >= text_.size(); }
  [[nodiscard]] bool Starts(std::string_view word) const {
    return text_.substr(at_, word.size()) == word;
  }

  // White space and comments; the latter are a repair.
  void SkipSpace() {
    while (!AtEnd()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (Starts("//")) {
        Repaired("comments in the JSON left out");
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (Starts("/*")) {
        Repaired("comments in the JSON left out");
        const size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else {
        return;
      }
    }
  }

  bool Value(LenientValue& value, int depth) {
    SkipSpace();
    if (AtEnd()) return Truncated("the text ends where a value should stand");
    const char c = text_[at_];
    if (c == '{') return Object(value, depth);
    if (c == '[') return Array(value, depth);
    if (c == '"' || c == '\'' || c == '`') {
      value.type = Type::kString;
      return String(value.text);
    }
    if (c == '-' || c == '+' || c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0) {
      return Number(value);
    }
    return Word(value);
  }

  bool Number(LenientValue& value) {
    const size_t from = at_;
    while (!AtEnd() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                        text_[at_] == '+' || text_[at_] == '-' || text_[at_] == '.')) {
      ++at_;
    }
    if (AtEnd()) return Truncated("the text ends inside a number");
    value.type = Type::kNumber;
    value.text = text_.substr(from, at_ - from);
    return true;
  }

  bool Word(LenientValue& value) {
    const size_t from = at_;
    while (!AtEnd() && IsNameByte(text_[at_])) ++at_;
    const std::string_view word = text_.substr(from, at_ - from);
    if (AtEnd() && !word.empty()) return Truncated("the text ends inside a value");
    if (word == "True" || word == "False" || word == "None") {
      Repaired("Python's True, False or None read as JSON's");
    }
    if (word == "true" || word == "True" || word == "false" || word == "False") {
      value.type = Type::kBool;
      value.text = word == "true" || word == "True" ? "true" : "false";
      return true;
    }
    if (word == "null" || word == "None") return true;
    at_ = from;
    return Broken("no value begins here");
  }

  bool Array(LenientValue& value, int depth) {
    if (depth >= kMaxDepth) return Broken("nested too deeply");
    value.type = Type::kArray;
    ++at_;
    while (true) {
      SkipSpace();
      if (AtEnd()) return Truncated("the text ends inside a list");
      if (text_[at_] == ']') break;
      if (!Value(value.items.emplace_back(), depth + 1)) return false;
      if (!Separator(']', "an element of a list")) return false;
    }
    ++at_;
    return true;
  }

  // After a member or an element: its comma, or the end of the list, which stays.
  bool Separator(char close, const char* after) {
    SkipSpace();
    if (AtEnd()) return Truncated(std::string("the text ends after ") + after);
    if (text_[at_] == close) return true;
    if (text_[at_] != ',') {
      return Broken(std::string("expected ',' or '") + close + "' after " + after +
                    " (is a quote inside a string not escaped?)");
    }
    ++at_;
    SkipSpace();
    if (!AtEnd() && text_[at_] == close) Repaired("a trailing comma left out");
    return true;
  }

  bool Object(LenientValue& value, int depth) {
    if (depth >= kMaxDepth) return Broken("nested too deeply");
    value.type = Type::kObject;
    ++at_;
    while (true) {
      SkipSpace();
      if (AtEnd()) return Truncated("the text ends inside the object");
      if (text_[at_] == '}') break;
      std::string name;
      if (!Name(name)) return false;
      value.names.push_back(name);
      LenientValue& member = value.items.emplace_back();
      if (depth == 0) result_.names.insert(name);
      SkipSpace();
      if (AtEnd()) return Truncated("the text ends after the name \"" + name + "\"");
      if (text_[at_] != ':') return Broken("expected ':' after a name");
      ++at_;
      if (!Value(member, depth + 1)) return Within(name);
      if (!Separator('}', "a member")) return Within(name);
    }
    ++at_;
    return true;
  }

  bool Within(const std::string& name) {
    if (result_.error.find("member \"") == std::string::npos && name.size() < 64) {
      result_.error += ", at the member \"" + name + "\"";
    }
    return false;
  }

  bool Name(std::string& name) {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return String(name);
    const size_t from = at_;
    if (std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '_') {
      return Broken("expected the name of a member");
    }
    while (!AtEnd() && IsNameByte(text_[at_])) ++at_;
    name = text_.substr(from, at_ - from);
    if (AtEnd()) return Truncated("the text ends inside a name");
    // Words between braces are prose or code unless a colon follows.
    SkipSpace();
    if (AtEnd() || text_[at_] != ':') return Broken("expected the name of a member");
    Repaired("names without quotes taken");
    return true;
  }

  bool String(std::string& out) {
    const char quote = text_[at_];
    std::string_view close = text_.substr(at_, 1);
    const std::string three(3, quote);
    if (quote != '`' && Starts(three)) {
      close = text_.substr(at_, 3);
      Repaired("a string in triple quotes read");
    } else if (quote == '\'') {
      Repaired("single quotes read as double ones");
    } else if (quote == '`') {
      Repaired("back quotes read as double ones");
    }
    at_ += close.size();
    while (true) {
      if (AtEnd()) return Truncated("the text ends inside a string");
      if (Starts(close)) break;
      if (text_[at_] == '\\') {
        if (!Escape(out)) return false;
        continue;
      }
      if (close.size() == 1 && quote != '`' && static_cast<unsigned char>(text_[at_]) < 0x20) {
        Repaired("raw line ends or control characters in a string taken");
      }
      out += text_[at_++];
    }
    at_ += close.size();
    return true;
  }

  bool Escape(std::string& out) {
    if (at_ + 1 >= text_.size()) return Truncated("the text ends inside a string");
    const char c = text_[at_ + 1];
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (const size_t index = kNames.find(c); index != std::string_view::npos) {
      out += kValues[index];
      at_ += 2;
      return true;
    }
    if (c == 'u') return Unicode(out);
    if (c == '\'' || c == '`') {
      Repaired("quotes escaped without need");
      out += c;
    } else if (c == '\n') {
      // Python's line continuation inside a string.
      Repaired("a continued line joined");
    } else {
      Repaired("a backslash that escapes nothing kept");
      out += '\\';
      out += c;
    }
    at_ += 2;
    return true;
  }

  [[nodiscard]] std::optional<char32_t> Hex4(size_t from) const {
    char32_t value = 0;
    for (size_t i = from; i < from + 4; ++i) {
      if (i >= text_.size() || std::isxdigit(static_cast<unsigned char>(text_[i])) == 0) {
        return std::nullopt;
      }
      const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(text_[i])));
      value = value * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return value;
  }

  bool Unicode(std::string& out) {
    const std::optional<char32_t> first = Hex4(at_ + 2);
    if (!first.has_value()) {
      if (at_ + 6 > text_.size()) return Truncated("the text ends inside a string");
      Repaired("a backslash that escapes nothing kept");
      out += "\\u";
      at_ += 2;
      return true;
    }
    at_ += 6;
    char32_t value = *first;
    if (IsSurrogate(value)) {
      const std::optional<char32_t> second = Starts("\\u") ? Hex4(at_ + 2) : std::nullopt;
      if (value < 0xDC00 && second.has_value() && *second >= 0xDC00 && *second < 0xE000) {
        value = 0x10000 + ((value - 0xD800) << 10) + (*second - 0xDC00);
        at_ += 6;
      } else {
        Repaired("half a surrogate pair replaced by U+FFFD");
        value = 0xFFFD;
      }
    }
    AppendUtf8(out, value);
    return true;
  }

  const std::string_view text_;
  size_t at_;
  LenientParse& result_;
};

}  // namespace

const LenientValue* LenientValue::Find(std::string_view name) const {
  for (size_t i = names.size(); i > 0; --i) {
    if (names[i - 1] == name) return &items[i - 1];
  }
  return nullptr;
}

LenientParse ParseLenient(std::string_view text, size_t from) {
  LenientParse result;
  Parser(text, from, result).Run();
  return result;
}

}  // namespace kerf::llm
