// Recursive descent, one function per level of precedence. An unknown name is remembered, not
// reported, until somebody needs its value: "scale ?? 1.0" must be able to ask.
#include "replay/args/recipe_expression.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

namespace kerf::args {
namespace {

using Maybe = std::optional<RecipeValue>;

double AsDouble(const RecipeValue& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

class Parser {
 public:
  Parser(std::string_view text, const RecipeNames& names) : text_(text), names_(names) {}

  Result<RecipeValue> Run() {
    const Maybe value = Ternary();
    SkipSpace();
    if (error_.empty() && at_ != text_.size()) Fail("something is left over");
    if (error_.empty() && !value) Fail("'" + missing_ + "' is no parameter of the case");
    if (!error_.empty()) {
      return InvalidInput("\"" + std::string(text_) + "\": " + error_ + " (column " +
                          std::to_string(at_ + 1) + ")");
    }
    return *value;
  }

 private:
  Maybe Ternary() {
    const Maybe condition = Coalesce();
    if (!Take("?")) return condition;
    const Maybe yes = Ternary();
    if (!Take(":")) Fail("':' is missing");
    const Maybe no = Ternary();
    if (!condition) return condition;
    return AsDouble(*condition) != 0 ? yes : no;
  }

  Maybe Coalesce() {
    const Maybe first = Comparison();
    if (!Take("??")) return first;
    const Maybe second = Coalesce();
    return first ? first : second;
  }

  Maybe Comparison() {
    const Maybe left = Sum();
    for (const char* op : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (!Take(op)) continue;
      const Maybe right = Sum();
      if (!left || !right) return std::nullopt;
      const double a = AsDouble(*left);
      const double b = AsDouble(*right);
      const std::string name = op;
      const bool holds = name == "<="   ? a <= b
                         : name == ">=" ? a >= b
                         : name == "==" ? a == b
                         : name == "!=" ? a != b
                         : name == "<"  ? a < b
                                        : a > b;
      return RecipeValue(int64_t{holds ? 1 : 0});
    }
    return left;
  }

  Maybe Sum() {
    Maybe value = Product();
    for (;;) {
      if (Take("+")) {
        value = Apply('+', value, Product());
      } else if (Take("-")) {
        value = Apply('-', value, Product());
      } else {
        return value;
      }
    }
  }

  Maybe Product() {
    Maybe value = Unary();
    for (;;) {
      if (Take("*")) {
        value = Apply('*', value, Unary());
      } else if (Take("/")) {
        value = Apply('/', value, Unary());
      } else if (Take("%")) {
        value = Apply('%', value, Unary());
      } else {
        return value;
      }
    }
  }

  Maybe Unary() {
    if (Take("-")) return Apply('-', RecipeValue(int64_t{0}), Unary());
    return Primary();
  }

  Maybe Primary() {
    if (++depth_ > 50) {
      Fail("nested too deeply");
      return RecipeValue(int64_t{0});
    }
    const Maybe value = Atom();
    --depth_;
    return value;
  }

  Maybe Atom() {
    if (Take("(")) {
      const Maybe value = Ternary();
      if (!Take(")")) Fail("')' is missing");
      return value;
    }
    SkipSpace();
    const size_t begin = at_;
    const auto is_word = [&] {
      return at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                    text_[at_] == '_' || text_[at_] == '.');
    };
    while (is_word()) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) {
      Fail("a value is missing");
      return RecipeValue(int64_t{0});
    }
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return Number(word);
    if (Take("(")) return Call(word);
    const auto found = names_.find(word);
    if (found != names_.end()) return found->second;
    missing_ = word;
    return std::nullopt;
  }

  Maybe Number(const std::string& word) {
    const char* end = word.data() + word.size();
    int64_t whole = 0;
    if (const auto [stop, code] = std::from_chars(word.data(), end, whole);
        code == std::errc() && stop == end) {
      return RecipeValue(whole);
    }
    double fraction = 0;
    const auto [stop, code] = std::from_chars(word.data(), end, fraction);
    if (code != std::errc() || stop != end) Fail("'" + word + "' is no number");
    return RecipeValue(fraction);
  }

  Maybe Call(const std::string& name) {
    const Maybe a = Ternary();
    if (!Take(",")) Fail("',' is missing");
    const Maybe b = Ternary();
    if (!Take(")")) Fail("')' is missing");
    if (name != "min" && name != "max" && name != "ceil_div") Fail("no function " + name);
    if (!a || !b || !error_.empty()) return std::nullopt;
    if (name == "min") return AsDouble(*a) <= AsDouble(*b) ? a : b;
    if (name == "max") return AsDouble(*a) >= AsDouble(*b) ? a : b;
    const auto* x = std::get_if<int64_t>(&*a);
    const auto* y = std::get_if<int64_t>(&*b);
    if (x == nullptr || y == nullptr || *y <= 0 || *x < 0) {
      Fail("ceil_div takes whole numbers, the second above 0");
      return std::nullopt;
    }
    return RecipeValue(*x / *y + (*x % *y != 0 ? 1 : 0));
  }

  Maybe Apply(char op, const Maybe& left, const Maybe& right) {
    if (!left || !right || !error_.empty()) return std::nullopt;
    const auto* a = std::get_if<int64_t>(&*left);
    const auto* b = std::get_if<int64_t>(&*right);
    if (a != nullptr && b != nullptr) return ApplyWhole(op, *a, *b);
    const double x = AsDouble(*left);
    const double y = AsDouble(*right);
    if (op == '%') {
      Fail("% takes whole numbers");
      return std::nullopt;
    }
    return RecipeValue(op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y);
  }

  Maybe ApplyWhole(char op, int64_t a, int64_t b) {
    int64_t result = 0;
    bool overflow = false;
    if (op == '+') overflow = __builtin_add_overflow(a, b, &result);
    if (op == '-') overflow = __builtin_sub_overflow(a, b, &result);
    if (op == '*') overflow = __builtin_mul_overflow(a, b, &result);
    if (op == '/' || op == '%') {
      if (b == 0 || (a == INT64_MIN && b == -1)) {
        Fail("division by zero");
        return std::nullopt;
      }
      if (op == '/' && a % b != 0) {
        Fail(std::to_string(a) + " / " + std::to_string(b) + " leaves a rest; use ceil_div");
      }
      result = op == '/' ? a / b : a % b;
    }
    if (overflow) Fail("a number grew beyond 64 bits");
    return RecipeValue(result);
  }

  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    // "?" is not the beginning of "??".
    if (token == "?" && text_.substr(at_, 2) == "??") return false;
    at_ += token.size();
    return true;
  }

  void Fail(const std::string& why) {
    if (error_.empty()) error_ = why;
  }

  std::string_view text_;
  const RecipeNames& names_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string missing_;
  std::string error_;
};

}  // namespace

Result<RecipeValue> Evaluate(std::string_view text, const RecipeNames& names) {
  return Parser(text, names).Run();
}

std::string RecipeLiteral(const RecipeValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::get<double>(value));
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace kerf::args
