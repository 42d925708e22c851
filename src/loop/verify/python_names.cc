#include "loop/verify/python_names.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace kerf::verify {
namespace {

enum class Kind { kWord, kString, kOther, kEndOfLine };

struct PythonToken {
  Kind kind = Kind::kOther;
  std::string_view text;  // of a string: its inside
  int line = 0;

  [[nodiscard]] bool Is(std::string_view word) const {
    return kind != Kind::kString && text == word;
  }
};

bool IsNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsNameChar(char c) {
  return IsNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class PythonLexer {
 public:
  explicit PythonLexer(std::string_view text) : text_(text) {}

  std::vector<PythonToken> Run() {
    while (at_ < text_.size()) Step();
    Add(Kind::kEndOfLine, "\n");
    return std::move(tokens_);
  }

 private:
  void Add(Kind kind, std::string_view text) { tokens_.push_back({kind, text, line_}); }

  void Step() {
    const char c = text_[at_];
    if (c == '\n') {
      if (depth_ == 0) Add(Kind::kEndOfLine, "\n");
      ++line_;
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\\' && text_.substr(at_ + 1, 1) == "\n") {
      ++line_;
      at_ += 2;
    } else if (c == '"' || c == '\'') {
      String(c);
    } else if (IsNameStart(c)) {
      Word();
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      const size_t begin = at_;
      while (at_ < text_.size() && (IsNameChar(text_[at_]) || text_[at_] == '.')) ++at_;
      Add(Kind::kOther, text_.substr(begin, at_ - begin));
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      if (std::isspace(static_cast<unsigned char>(c)) == 0) Add(Kind::kOther, text_.substr(at_, 1));
      ++at_;
    }
  }

  void Word() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool prefix =
        word.size() <= 2 && word.find_first_not_of("rRbBfFuU") == std::string_view::npos;
    if (prefix && at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      String(text_[at_]);
    } else {
      Add(Kind::kWord, word);
    }
  }

  void String(char quote) {
    const bool triple = text_.substr(at_, 3) == std::string(3, quote);
    at_ += triple ? 3 : 1;
    const size_t begin = at_;
    const int line = line_;
    size_t end = text_.size();
    while (at_ < text_.size()) {
      const bool closes = triple ? text_.substr(at_, 3) == std::string(3, quote)
                                 : text_[at_] == quote || text_[at_] == '\n';
      if (closes) {
        end = at_;
        if (triple) at_ += 3;
        if (!triple && text_[at_] == quote) ++at_;
        break;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
    tokens_.push_back({Kind::kString, text_.substr(begin, end - begin), line});
  }

  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  std::vector<PythonToken> tokens_;
};

constexpr std::string_view kBuiltins[] = {
    "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray",
    "bytes", "callable", "chr", "classmethod", "compile", "complex", "delattr", "dict", "dir",
    "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset",
    "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance",
    "issubclass", "iter", "len", "list", "locals", "map", "max", "memoryview", "min", "next",
    "object", "oct", "open", "ord", "pow", "print", "property", "quit", "range", "repr", "reversed",
    "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple",
    "type", "vars", "zip", "__import__", "BaseException", "Exception", "ArithmeticError",
    "AssertionError", "AttributeError", "ImportError", "IndexError", "KeyError",
    "KeyboardInterrupt", "LookupError", "ModuleNotFoundError", "NameError", "NotImplementedError",
    "OSError", "OverflowError", "RuntimeError", "StopIteration", "SystemExit", "TimeoutError",
    "TypeError", "ValueError", "ZeroDivisionError", "Warning", "RuntimeWarning", "UserWarning",
    // Words that a bracket may follow.
    "and", "as", "assert", "async", "await", "case", "del", "elif", "else", "except", "for", "from",
    "global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "raise",
    "return", "while", "with", "yield"};

class NameReader {
 public:
  explicit NameReader(std::vector<PythonToken> tokens) : tokens_(std::move(tokens)) {}

  PythonNames Run() {
    bool line_start = true;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const PythonToken& token = tokens_[i];
      if (line_start && (token.Is("import") || token.Is("from"))) {
        i = ReadImport(i);
        line_start = true;
        continue;
      }
      line_start = token.kind == Kind::kEndOfLine || token.Is(";");
      if (token.kind == Kind::kWord) ReadWord(i);
    }
    for (const NamedPlace& call : calls_) {
      const bool known =
          defined_.contains(call.name) ||
          std::find(std::begin(kBuiltins), std::end(kBuiltins), call.name) != std::end(kBuiltins);
      if (!known) names_.undefined_calls.push_back(call);
      defined_.insert(call.name);  // each once
    }
    return std::move(names_);
  }

 private:
  [[nodiscard]] bool Is(size_t i, std::string_view word) const {
    return i < tokens_.size() && tokens_[i].Is(word);
  }
  [[nodiscard]] bool IsWord(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Kind::kWord;
  }

  // a.b.c from `i` on; moves it behind.
  std::string Dotted(size_t& i) const {
    std::string name;
    while (IsWord(i) || Is(i, ".")) {
      const bool ends = IsWord(i) && !Is(i + 1, ".");
      name += tokens_[i++].text;
      if (ends) break;
    }
    return name;
  }

  // The position of the line's end.
  size_t ReadImport(size_t i) {
    const int line = tokens_[i].line;
    const bool from = tokens_[i].Is("from");
    std::string module;
    ++i;
    if (from) {
      module = FromModule(i);
      if (Is(i, "import")) ++i;
    }
    for (; i < tokens_.size() && tokens_[i].kind != Kind::kEndOfLine && !tokens_[i].Is(";"); ++i) {
      if (Is(i, "*")) names_.guarded = names_.guarded || !IsKnownPackage(module);
      if (!IsWord(i)) continue;
      std::string name = Dotted(i);
      std::string as = from ? name : name.substr(0, name.find('.'));
      if (Is(i, "as") && IsWord(i + 1)) {
        as = tokens_[i + 1].text;
        i += 2;
      }
      defined_.insert(as);
      names_.imports.push_back(
          {from ? module : name.substr(0, name.find('.')), from ? name : "", as, line});
      --i;
    }
    return i;
  }

  std::string FromModule(size_t& i) const {
    std::string module;
    while ((IsWord(i) && !Is(i, "import")) || Is(i, ".")) module += tokens_[i++].text;
    return module.substr(0, module.find('.', 1));
  }

  void ReadWord(size_t i) {
    const PythonToken& token = tokens_[i];
    const bool attribute = i > 0 && tokens_[i - 1].Is(".");
    const std::string name(token.text);
    if (!attribute && (name == "try" || name == "hasattr" || name == "exec" || name == "eval" ||
                       name == "globals" || name == "__import__" || name == "importlib")) {
      names_.guarded = true;
    }
    if (attribute) return;
    if ((name == "def" || name == "class") && IsWord(i + 1)) {
      defined_.insert(std::string(tokens_[i + 1].text));
      if (name == "def") DefineParameters(i + 2);
    } else if (name == "for" || name == "as" || name == "lambda" || name == "global") {
      for (size_t k = i + 1; k < tokens_.size() && tokens_[k].kind != Kind::kEndOfLine &&
                             !tokens_[k].Is("in") && !tokens_[k].Is(":");
           ++k) {
        if (IsWord(k)) defined_.insert(std::string(tokens_[k].text));
      }
    } else if (name == "getattr" && Is(i + 1, "(") && IsWord(i + 2) && Is(i + 3, ",") &&
               i + 5 < tokens_.size() && tokens_[i + 4].kind == Kind::kString) {
      // With a third argument it does not fail.
      if (Is(i + 5, ")")) {
        names_.attributes.push_back(
            {std::string(tokens_[i + 2].text), std::string(tokens_[i + 4].text), token.line});
      }
    } else if (Is(i + 1, ".") && IsWord(i + 2)) {
      names_.attributes.push_back({name, std::string(tokens_[i + 2].text), token.line});
    } else if (IsAssigned(i)) {
      defined_.insert(name);
    } else if (Is(i + 1, "(")) {
      calls_.push_back({name, token.line});
    }
  }

  // x = …, x: int = …, x, y = …, x := …; a keyword argument counts too: that only hides names.
  [[nodiscard]] bool IsAssigned(size_t i) const {
    if (Is(i + 1, "=") && !Is(i + 2, "=")) return true;
    return Is(i + 1, ":") || Is(i + 1, ",");
  }

  void DefineParameters(size_t open) {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (Is(i, "(")) ++depth;
      if (Is(i, ")") && --depth == 0) return;
      if (IsWord(i)) defined_.insert(std::string(tokens_[i].text));
      if (depth == 0) return;
    }
  }

  const std::vector<PythonToken> tokens_;
  std::set<std::string, std::less<>> defined_;
  std::vector<NamedPlace> calls_;
  PythonNames names_;
};

}  // namespace

bool IsKnownPackage(std::string_view module) {
  constexpr std::string_view kKnown[] = {"torch",
                                         "triton",
                                         "numpy",
                                         "math",
                                         "os",
                                         "sys",
                                         "time",
                                         "typing",
                                         "random",
                                         "pytest",
                                         "unittest",
                                         "argparse",
                                         "json",
                                         "functools",
                                         "itertools",
                                         "collections",
                                         "dataclasses",
                                         "scipy",
                                         "pandas",
                                         "matplotlib",
                                         "einops",
                                         "re",
                                         "gc",
                                         "copy",
                                         "warnings",
                                         "logging",
                                         "pathlib",
                                         "contextlib",
                                         "enum",
                                         "abc",
                                         "operator",
                                         "string",
                                         "struct",
                                         "ctypes",
                                         "io",
                                         "tempfile",
                                         "shutil",
                                         "subprocess",
                                         "importlib",
                                         "inspect",
                                         "traceback",
                                         "types",
                                         "hashlib",
                                         "datetime",
                                         "statistics",
                                         "tqdm",
                                         "packaging",
                                         "torchvision",
                                         "transformers",
                                         "__future__",
                                         "textwrap",
                                         "threading",
                                         "multiprocessing",
                                         "platform",
                                         "signal",
                                         "decimal",
                                         "fractions",
                                         "pprint",
                                         "numbers",
                                         "builtins",
                                         "cmath",
                                         "csv",
                                         "glob",
                                         "heapq",
                                         "bisect",
                                         "array"};
  return std::find(std::begin(kKnown), std::end(kKnown), module) != std::end(kKnown);
}

PythonNames ReadPythonNames(std::string_view source) {
  return NameReader(PythonLexer(source).Run()).Run();
}

}  // namespace kerf::verify
