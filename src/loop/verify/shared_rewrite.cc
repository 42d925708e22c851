// One pass over the tokens with a stack of scopes. A declaration
//   __shared__ float tile[16][17], total;
// becomes, on the same lines,
//   typedef float kerf_simt_t_tile[16][17], kerf_simt_t_total; static ::kerf_simt::Slot
//   kerf_simt_s_tile; auto& tile =
//   ::kerf_simt::StaticShared<kerf_simt_t_tile>(kerf_simt_s_tile, "tile"); …
// which needs no understanding of the type. The static slot exists once for each instance of a
// template, as the variable itself would.
//
// Before Volta a warp ran in lock step, and reductions over volatile memory relied on it.
// Statements like s[i] += s[i + 16] on something volatile therefore start with Step(), where the
// lanes of a warp wait for each other.
//
// A use is marked only where the tokens leave no doubt what it is; every other use sees the
// variable with its declared type. Wrong marks could only miss a race, never break a kernel: R, W,
// U and A all give the element itself.
#include "loop/verify/shared_rewrite.h"

#include <optional>
#include <string>
#include <utility>

namespace kerf::verify {
namespace {

using Tokens = std::vector<Token>;

struct Variable {
  std::string name;
  int dimensions = 0;
  bool pointer = false;  // a local pointer into shared memory
  bool at_namespace = false;
  bool dynamic = false;
  bool is_volatile = false;
};

struct Scope {
  bool code = false;
  std::vector<Variable> variables;
};

bool OneOf(const Token& t, std::initializer_list<std::string_view> words) {
  for (std::string_view w : words) {
    if (t.Is(w)) return true;
  }
  return false;
}

bool IsKeywordBeforeExpression(const Token& t) {
  return OneOf(t, {"return", "else", "case", "do", "throw", "co_return", "and", "or", "not"});
}

class SharedRewriter {
 public:
  SharedRewriter(const Tokens& tokens, bool check, std::vector<UnsupportedUse>& unsupported,
                 EditList& edits)
      : tokens_(tokens), check_(check), unsupported_(unsupported), edits_(edits), scopes_(1) {}

  void Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (t.Is("__shared__")) {
        i = Declaration(i);
      } else if (!t.in_define) {
        Visit(i);
      }
    }
  }

 private:
  struct Declarator {
    size_t name;
    int dimensions;
  };

  void Visit(size_t i) {
    const Token& t = tokens_[i];
    switch (t.kind) {
      // The branches of an #if start with the same scopes, so that a brace opened in each counts
      // once.
      case TokenKind::kIf:
        saved_.push_back(scopes_);
        break;
      case TokenKind::kElse:
        if (!saved_.empty()) scopes_ = saved_.back();
        break;
      case TokenKind::kEndif:
        if (!saved_.empty()) saved_.pop_back();
        break;
      case TokenKind::kWord:
        Word(i);
        break;
      default:
        if (t.Is("{")) {
          scopes_.push_back({IsCode(i), std::move(parameters_)});
          parameters_.clear();
        }
        if (t.Is(";")) parameters_.clear();
        if (t.Is("}") && scopes_.size() > 1) scopes_.pop_back();
        break;
    }
  }

  // Whether the brace opens statements, not the members of a namespace or a class.
  [[nodiscard]] bool IsCode(size_t brace) const {
    if (InCode()) return true;
    bool class_word = false;
    int angle = 0;
    for (size_t k = brace; k-- > 0;) {
      const Token& t = tokens_[k];
      if (OneOf(t, {";", "{", "}"}) || t.kind != TokenKind::kWord) {
        if (OneOf(t, {";", "{", "}"}) || t.kind == TokenKind::kEndOfDefine) break;
        if (t.kind == TokenKind::kString && k > 0 && tokens_[k - 1].Is("extern")) return false;
      }
      if (t.Is(">")) ++angle;
      if (t.Is("<")) --angle;
      if (t.Is("namespace")) return false;
      if (angle == 0 && OneOf(t, {"struct", "class", "union", "enum"})) class_word = true;
    }
    return !class_word || (brace > 0 && tokens_[brace - 1].Is(")"));
  }

  [[nodiscard]] bool InCode() const {
    for (const Scope& s : scopes_) {
      if (s.code) return true;
    }
    return false;
  }

  // Index behind the bracket group that opens at i; `tokens_.size()` where it does not close.
  [[nodiscard]] size_t SkipGroup(size_t i) const {
    const bool angle = tokens_[i].Is("<");
    int angles = 0;
    int others = 0;
    for (; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (OneOf(t, {"(", "[", "{"})) ++others;
      if (OneOf(t, {")", "]", "}"})) --others;
      if (angle && others == 0 && t.Is("<")) ++angles;
      if (angle && others == 0 && t.Is(">")) --angles;
      if (others == 0 && angles == 0) return i + 1;
      if (others < 0 || t.kind == TokenKind::kEndOfDefine) break;
    }
    return tokens_.size();
  }

  void Drop(size_t first, size_t last) {
    for (size_t k = first; k < last; ++k) edits_.Replace(tokens_[k].begin, tokens_[k].end, "");
  }

  // Handles the declaration around the __shared__ at i; returns the index of its last token.
  size_t Declaration(size_t i) {
    size_t first = i;
    while (first > 0 &&
           OneOf(tokens_[first - 1], {"static", "extern", "volatile", "const", "inline"}))
      --first;
    std::vector<Declarator> declarators;
    std::vector<std::pair<size_t, size_t>> dropped;
    std::string align = "16";
    bool dynamic = false;
    size_t k = first;
    while (k < tokens_.size()) {
      const Token& t = tokens_[k];
      const bool at_end = t.Is(";") || t.kind == TokenKind::kEndOfDefine;
      if (at_end) break;
      if (OneOf(t, {"static", "extern", "__shared__", "inline"})) {
        dynamic = dynamic || t.Is("extern");
        dropped.emplace_back(k, k + 1);
        ++k;
      } else if (OneOf(t, {"alignas", "__align__", "__attribute__", "__attribute"}) &&
                 k + 1 < tokens_.size() && tokens_[k + 1].Is("(")) {
        const size_t end = SkipGroup(k + 1);
        align = AlignText(k + 1, end);
        dropped.emplace_back(k, end);
        k = end;
      } else if (declarators.empty() && (t.Is("<") || t.Is("{"))) {
        k = SkipGroup(k);
      } else if (t.kind == TokenKind::kWord && k + 1 < tokens_.size() && IsName(k)) {
        declarators.push_back({k, 0});
        for (++k; k < tokens_.size() && tokens_[k].Is("["); k = SkipGroup(k))
          ++declarators.back().dimensions;
      } else if (t.Is("(") || t.Is("=")) {
        unsupported_.push_back(
            {t.line, "simt: this form of __shared__ declaration is not understood"});
        return i;
      } else {
        ++k;
      }
    }
    if (declarators.empty() || k >= tokens_.size()) return i;
    Emit(first, k, declarators, dropped, align, dynamic);
    return k - 1;
  }

  [[nodiscard]] bool IsName(size_t k) const {
    const Token& next = tokens_[k + 1];
    return OneOf(next, {"[", ";", ",", "="}) || next.kind == TokenKind::kEndOfDefine;
  }

  // The number in __align__(16), alignas(16) or __attribute__((aligned(16))).
  [[nodiscard]] std::string AlignText(size_t open, size_t end) const {
    std::string text;
    for (size_t k = open; k < end; ++k) {
      if (OneOf(tokens_[k], {"aligned", "__aligned__"})) continue;
      text += std::string(tokens_[k].text) + " ";
    }
    return "sizeof(char[" + text + "])";
  }

  void Emit(size_t first, size_t end, const std::vector<Declarator>& declarators,
            const std::vector<std::pair<size_t, size_t>>& dropped, const std::string& align,
            bool dynamic) {
    const bool in_code = tokens_[first].in_define || InCode();
    bool is_volatile = false;
    for (size_t k = first; k < declarators.front().name; ++k)
      is_volatile = is_volatile || tokens_[k].Is("volatile");
    edits_.Insert(tokens_[first].begin, "typedef ");
    for (const auto& [from, to] : dropped) Drop(from, to);
    std::string tail;
    for (const Declarator& d : declarators) {
      const std::string name(tokens_[d.name].text);
      const std::string type = "kerf_simt_t_" + name;
      const std::string slot = "kerf_simt_s_" + name;
      edits_.Replace(tokens_[d.name].begin, tokens_[d.name].end, type);
      if (!dynamic) tail += "; static ::kerf_simt::Slot " + slot;
      if (in_code && dynamic)
        tail += "; auto& " + name + " = ::kerf_simt::DynamicShared<" + type + ">()";
      if (in_code && !dynamic) {
        tail += "; auto& " + name + " = ::kerf_simt::StaticShared<" + type + ">(" + slot + ", \"" +
                name + "\", " + align + ")";
      }
      if (tokens_[first].in_define) continue;
      scopes_.back().variables.push_back(
          {name, d.dimensions, false, !in_code, dynamic, is_volatile});
    }
    edits_.Insert(tokens_[end].begin, tail);
  }

  [[nodiscard]] const Variable* Find(std::string_view name) const {
    for (size_t s = scopes_.size(); s-- > 0;) {
      const auto& variables = scopes_[s].variables;
      for (size_t v = variables.size(); v-- > 0;) {
        if (variables[v].name == name) return &variables[v];
      }
    }
    return nullptr;
  }

  void Word(size_t i) {
    const bool is_volatile = IsVolatilePointer(i);
    if (is_volatile || (InCode() && IsPointerToShared(i))) {
      // A parameter belongs to the body that follows.
      auto& variables = InCode() ? scopes_.back().variables : parameters_;
      variables.push_back({std::string(tokens_[i].text), 1, true, false, false, is_volatile});
      return;
    }
    const Variable* found = Find(tokens_[i].text);
    if (found == nullptr || i == 0) return;
    const Token& before = tokens_[i - 1];
    if (OneOf(before, {".", "->", "::"})) return;
    const Variable variable = *found;
    if (Redeclares(i)) {
      // A marker that hides the outer variable until the scope ends.
      scopes_.back().variables.push_back({variable.name, -1, false, false, false, false});
      return;
    }
    if (variable.dimensions < 0) return;
    if (variable.at_namespace) return ReplaceNamespaceUse(i, variable);
    if (check_ || variable.is_volatile) MarkUse(i, variable);
  }

  // `volatile T* name`, as a parameter or a local variable.
  [[nodiscard]] bool IsVolatilePointer(size_t i) const {
    if (i < 3 || i + 1 >= tokens_.size() || !OneOf(tokens_[i + 1], {",", ")", "=", ";"}))
      return false;
    size_t k = i - 1;
    while (k > 0 && OneOf(tokens_[k], {"const", "__restrict__", "__restrict"})) --k;
    if (!tokens_[k].Is("*")) return false;
    for (int words = 0; k > 0 && words < 4; ++words) {
      --k;
      if (tokens_[k].Is("volatile")) return true;
      if (tokens_[k].kind != TokenKind::kWord) return false;
    }
    return false;
  }

  // `T* name = …` with something shared on the right: T* const, T* __restrict__ too.
  [[nodiscard]] bool IsPointerToShared(size_t i) const {
    if (i < 2 || i + 1 >= tokens_.size() || !tokens_[i + 1].Is("=")) return false;
    size_t k = i - 1;
    while (k > 0 &&
           OneOf(tokens_[k], {"const", "__restrict__", "__restrict", "restrict", "volatile"}))
      --k;
    if (!tokens_[k].Is("*") || k == 0) return false;
    const Token& type = tokens_[k - 1];
    const bool declaration = (type.kind == TokenKind::kWord && !IsKeywordBeforeExpression(type)) ||
                             OneOf(type, {">", ","});
    if (!declaration) return false;
    int depth = 0;
    for (size_t e = i + 2; e < tokens_.size(); ++e) {
      const Token& t = tokens_[e];
      if (OneOf(t, {"(", "[", "{"})) ++depth;
      if (OneOf(t, {")", "]", "}"})) --depth;
      if (depth < 0 || t.Is(";") || (depth == 0 && t.Is(","))) return false;
      if (t.kind != TokenKind::kWord) continue;
      const Variable* v = Find(t.text);
      if (v != nullptr && v->dimensions > 0) return true;
    }
    return false;
  }

  [[nodiscard]] bool Redeclares(size_t i) const {
    const Token& before = tokens_[i - 1];
    if (before.kind == TokenKind::kWord)
      return !IsKeywordBeforeExpression(before) && !before.Is("sizeof");
    if (!OneOf(before, {"*", "&"}) || i < 3 || i + 1 >= tokens_.size()) return false;
    // `T* name` at the start of a statement or among parameters.
    return tokens_[i - 2].kind == TokenKind::kWord && OneOf(tokens_[i - 3], {";", "{", "}"}) &&
           OneOf(tokens_[i + 1], {"=", ";", ","});
  }

  void ReplaceNamespaceUse(size_t i, const Variable& v) {
    const std::string type = "kerf_simt_t_" + v.name;
    edits_.Replace(tokens_[i].begin, tokens_[i].end,
                   v.dynamic ? "(::kerf_simt::DynamicShared<" + type + ">())"
                             : "(::kerf_simt::StaticShared<" + type + ">(kerf_simt_s_" + v.name +
                                   ", \"" + v.name + "\"))");
  }

  // Whether the & before the use takes its address.
  [[nodiscard]] bool AddressTaken(size_t i) const {
    if (!tokens_[i - 1].Is("&")) return false;
    if (i < 2) return true;
    const Token& t = tokens_[i - 2];
    if (t.Is(")")) return i >= 3 && tokens_[i - 3].Is("*");  // a cast: (float4*)&x
    const bool operand = t.kind == TokenKind::kNumber || t.Is("]") ||
                         (t.kind == TokenKind::kWord && !IsKeywordBeforeExpression(t));
    return !operand;
  }

  // Whether the rest of the statement uses the name: an exchange, not only a store.
  [[nodiscard]] bool ReadsAgain(size_t from, std::string_view name) const {
    for (size_t k = from; k < tokens_.size() && !tokens_[k].Is(";"); ++k) {
      if (tokens_[k].Is(name)) return true;
    }
    return false;
  }

  void MarkUse(size_t i, const Variable& v) {
    size_t k = i + 1;
    int subscripts = 0;
    for (; k < tokens_.size() && tokens_[k].Is("["); k = SkipGroup(k)) ++subscripts;
    if (k >= tokens_.size() || subscripts < v.dimensions) return;
    const Token& next = tokens_[k];
    const Token& before = tokens_[i - 1];
    const bool member = subscripts > v.dimensions || OneOf(next, {".", "->", "("});
    std::string_view mark = "R";
    if (member || AddressTaken(i)) {
      if (v.dimensions == 0 || v.pointer) return;
      mark = "A";
    } else if (next.Is("=")) {
      mark = "W";
    } else if (OneOf(next,
                     {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}) ||
               OneOf(before, {"++", "--"})) {
      mark = "U";
    }
    std::string step;
    if (v.is_volatile && (mark == "W" || mark == "U") &&
        OneOf(before, {";", "{", "}", ")", "else"}) && ReadsAgain(k, v.name)) {
      step = "::kerf_simt::Step(), ";
    }
    edits_.Replace(
        tokens_[i].begin, tokens_[i].end,
        step + std::string("::kerf_simt::").append(mark) + "(" + v.name + ", \"" + v.name + "\")");
  }

  const Tokens& tokens_;
  const bool check_;
  std::vector<UnsupportedUse>& unsupported_;
  EditList& edits_;
  std::vector<Scope> scopes_;
  std::vector<Variable> parameters_;  // of the function whose body has not begun
  std::vector<std::vector<Scope>> saved_;
};

}  // namespace

void RewriteShared(const std::vector<Token>& tokens, bool check,
                   std::vector<UnsupportedUse>& unsupported, EditList& edits) {
  SharedRewriter(tokens, check, unsupported, edits).Run();
}

}  // namespace kerf::verify
