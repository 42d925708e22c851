#include "loop/verify/cuda_lexer.h"

#include <string>
#include <utility>

namespace kerf::verify {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool IsWordChar(char c) { return IsWordStart(c) || IsDigit(c); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Longest first. No "<<", ">>" or "<<<": see the header.
constexpr std::string_view kOperators[] = {"<<=", ">>=", "...", "->*", "::", "->", "++", "--",
                                           "==",  "!=",  "<=",  ">=",  "&&", "||", "+=", "-=",
                                           "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##"};

constexpr std::string_view kContinuesOperator = "<>.-:+=&|#";

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> Run() {
    tokens_.reserve(source_.size() / 6);
    while (at_ < source_.size()) Step();
    if (in_define_) Add(TokenKind::kEndOfDefine, at_, at_);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char Peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void Advance() {
    if (source_[at_] == '\n') ++line_;
    ++at_;
  }

  void Add(TokenKind kind, size_t begin, size_t end) {
    tokens_.push_back(
        Token{kind, begin, end, line_, in_define_, source_.substr(begin, end - begin)});
  }

  void Step() {
    const char c = Peek();
    if (c == '\n') {
      if (in_define_) Add(TokenKind::kEndOfDefine, at_, at_);
      in_define_ = false;
      Advance();
      line_start_ = true;
    } else if (c == '\\' && (Peek(1) == '\n' || (Peek(1) == '\r' && Peek(2) == '\n'))) {
      while (Peek() != '\n') Advance();
      Advance();
    } else if (IsSpace(c)) {
      Advance();
    } else if (c == '/' && (Peek(1) == '/' || Peek(1) == '*')) {
      SkipComment();
    } else if (c == '#' && line_start_ && !in_define_) {
      Directive();
    } else {
      line_start_ = false;
      One();
    }
  }

  void SkipComment() {
    if (Peek(1) == '/') {
      while (at_ < source_.size() && Peek() != '\n') {
        if (Peek() == '\\' && Peek(1) == '\n') Advance();
        Advance();
      }
      return;
    }
    Advance();
    Advance();
    while (at_ < source_.size() && !(Peek() == '*' && Peek(1) == '/')) Advance();
    for (int i = 0; i < 2 && at_ < source_.size(); ++i) Advance();
  }

  void Directive() {
    const size_t begin = at_;
    Advance();
    while (Peek() == ' ' || Peek() == '\t') Advance();
    const size_t name_begin = at_;
    while (IsWordChar(Peek())) Advance();
    const std::string_view name = source_.substr(name_begin, at_ - name_begin);
    line_start_ = false;
    if (name == "define") {
      Add(TokenKind::kDefine, begin, at_);
      in_define_ = true;
      return;
    }
    if (name == "if" || name == "ifdef" || name == "ifndef") Add(TokenKind::kIf, begin, at_);
    if (name == "else" || name == "elif") Add(TokenKind::kElse, begin, at_);
    if (name == "endif") Add(TokenKind::kEndif, begin, at_);
    // The rest of the line is not code. A block comment may carry it over lines.
    while (at_ < source_.size() && Peek() != '\n') {
      if (Peek() == '/' && (Peek(1) == '*' || Peek(1) == '/')) {
        SkipComment();
      } else {
        if (Peek() == '\\' && at_ + 1 < source_.size()) Advance();
        Advance();
      }
    }
  }

  void One() {
    const size_t begin = at_;
    const char c = Peek();
    if (IsWordStart(c)) {
      while (IsWordChar(Peek())) ++at_;
      const std::string_view word = source_.substr(begin, at_ - begin);
      const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8" ||
                          word == "R" || word == "LR" || word == "uR" || word == "UR" ||
                          word == "u8R";
      if (prefix && Peek() == '"') return String(begin, word.back() == 'R');
      if (prefix && Peek() == '\'') return Character(begin);
      return Add(TokenKind::kWord, begin, at_);
    }
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
      return Number(begin);
    }
    if (c == '"') return String(begin, false);
    if (c == '\'') return Character(begin);
    at_ += OperatorLength();
    Add(TokenKind::kPunctuation, begin, at_);
  }

  [[nodiscard]] size_t OperatorLength() const {
    // Most are followed by something that continues no operator.
    if (kContinuesOperator.find(Peek(1)) == std::string_view::npos) return 1;
    for (const std::string_view op : kOperators) {
      if (source_.substr(at_, op.size()) == op) return op.size();
    }
    return 1;
  }

  void Number(size_t begin) {
    while (IsWordChar(Peek()) || Peek() == '.' || (Peek() == '\'' && IsWordChar(Peek(1))) ||
           ((Peek() == '+' || Peek() == '-') &&
            std::string_view("eEpP").find(source_[at_ - 1]) != std::string_view::npos &&
            at_ > begin)) {
      ++at_;
    }
    Add(TokenKind::kNumber, begin, at_);
  }

  void String(size_t begin, bool raw) {
    ++at_;
    if (raw) {
      const size_t open = source_.find('(', at_);
      if (open != std::string_view::npos) {
        std::string close(1, ')');
        close.append(source_.substr(at_, open - at_)).push_back('"');
        size_t end = source_.find(close, open);
        end = end == std::string_view::npos ? source_.size() : end + close.size();
        while (at_ < end) Advance();
      }
      return Add(TokenKind::kString, begin, at_);
    }
    Quoted('"');
    Add(TokenKind::kString, begin, at_);
  }

  void Character(size_t begin) {
    ++at_;
    Quoted('\'');
    Add(TokenKind::kCharacter, begin, at_);
  }

  // Ends at the quote, or at the end of the line where the source forgot it.
  void Quoted(char quote) {
    while (at_ < source_.size() && Peek() != quote && Peek() != '\n') {
      if (Peek() == '\\' && at_ + 1 < source_.size()) Advance();
      Advance();
    }
    if (Peek() == quote) ++at_;
  }

  const std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  bool in_define_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> LexCuda(std::string_view source) { return Lexer(source).Run(); }

}  // namespace kerf::verify
