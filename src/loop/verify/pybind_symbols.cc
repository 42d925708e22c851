#include "loop/verify/pybind_symbols.h"

#include <algorithm>
#include <cctype>

#include "loop/verify/cuda_lexer.h"
#include "loop/verify/python_names.h"

namespace kerf::verify {
namespace {

// The tokens a compiler may see: without the bodies of macros, and without what `#if 0` hides.
std::vector<Token> LiveTokens(std::string_view source) {
  std::vector<Token> live = LexCuda(source);
  size_t kept = 0;
  std::vector<bool> dead;  // of each open #if, whether its current branch is hidden
  for (size_t i = 0; i < live.size(); ++i) {
    const Token token = live[i];
    if (token.kind == TokenKind::kIf) {
      const size_t line_end = std::min(source.find('\n', token.end), source.size());
      const std::string_view rest = source.substr(token.end, line_end - token.end);
      const size_t word = rest.find_first_not_of(" \t");
      const bool zero = word != std::string_view::npos && rest[word] == '0' &&
                        (word + 1 == rest.size() ||
                         std::isalnum(static_cast<unsigned char>(rest[word + 1])) == 0);
      dead.push_back(token.text.ends_with("if") && zero);
    } else if (token.kind == TokenKind::kElse && !dead.empty()) {
      dead.back() = false;
    } else if (token.kind == TokenKind::kEndif && !dead.empty()) {
      dead.pop_back();
    } else if (token.kind != TokenKind::kDefine && token.kind != TokenKind::kEndOfDefine &&
               !token.in_define && std::find(dead.begin(), dead.end(), true) == dead.end()) {
      live[kept++] = token;
    }
  }
  live.resize(kept);
  return live;
}

// "…" and R"x(…)x" without their marks; escapes stay, for names have none.
std::string StringValue(std::string_view text) {
  const size_t quote = text.find('"');
  if (quote == std::string_view::npos) return "";
  const bool raw = quote > 0 && text[quote - 1] == 'R';
  text.remove_prefix(quote + 1);
  if (raw) {
    text.remove_prefix(std::min(text.find('(') + 1, text.size()));
    return std::string(text.substr(0, text.rfind(')')));
  }
  return std::string(text.substr(0, text.rfind('"')));
}

// Reads the body of one PYBIND11_MODULE or TORCH_LIBRARY.
class BindingReader {
 public:
  BindingReader(const std::vector<Token>& tokens, BoundSymbols& bound)
      : tokens_(tokens), bound_(bound) {}

  void Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (Is(i, "PYBIND11_MODULE")) ReadBlock(i, false);
      if (Is(i, "TORCH_LIBRARY") || Is(i, "TORCH_LIBRARY_FRAGMENT")) ReadBlock(i, true);
    }
  }

 private:
  [[nodiscard]] bool Is(size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].Is(text);
  }
  [[nodiscard]] bool IsKind(size_t i, TokenKind kind) const {
    return i < tokens_.size() && tokens_[i].kind == kind;
  }

  // Behind the bracket that closes the one at `open`.
  [[nodiscard]] size_t Behind(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (Is(i, "(") || Is(i, "{") || Is(i, "[")) ++depth;
      if (Is(i, ")") || Is(i, "}") || Is(i, "]")) --depth;
      if (depth == 0) return i + 1;
    }
    return tokens_.size();
  }

  void ReadBlock(size_t at, bool library) {
    if (!Is(at + 1, "(") || !IsKind(at + 2, TokenKind::kWord) || !Is(at + 3, ",") ||
        !IsKind(at + 4, TokenKind::kWord)) {
      bound_.certain = false;
      return;
    }
    (library ? bound_.library : bound_.module) = std::string(tokens_[at + 2].text);
    variable_ = tokens_[at + 4].text;
    const size_t open = Behind(at + 1);
    if (!Is(open, "{")) return;
    const size_t end = Behind(open);
    for (size_t i = open + 1; i < end; ++i) {
      if (Is(i, variable_) && !Is(i - 1, ".") && !Is(i - 1, "->") && !Is(i - 1, "::")) {
        ReadUse(i, library);
      } else if (IsMacroCall(i)) {
        bound_.certain = false;
      }
    }
  }

  [[nodiscard]] bool IsMacroCall(size_t i) const {
    if (!IsKind(i, TokenKind::kWord) || !Is(i + 1, "(")) return false;
    const std::string_view word = tokens_[i].text;
    return word.size() > 2 && std::all_of(word.begin(), word.end(), [](char c) {
             return std::islower(static_cast<unsigned char>(c)) == 0;
           });
  }

  // `i` is the module's variable.
  void ReadUse(size_t i, bool library) {
    if (Is(i + 1, ".")) {
      ReadChain(i + 1, library);
    } else if (Is(i - 1, "(") && Is(i + 1, ",") && IsKind(i + 2, TokenKind::kString)) {
      Add(i + 2, library);  // py::class_<T>(m, "Name")
    } else {
      bound_.certain = false;  // it is given to somebody
    }
  }

  // .def("a", …).def("b", …)
  void ReadChain(size_t dot, bool library) {
    while (Is(dot, ".") && IsKind(dot + 1, TokenKind::kWord) && Is(dot + 2, "(")) {
      const std::string_view verb = tokens_[dot + 1].text;
      const bool binds = verb == "def" || verb == "attr" || verb == "def_submodule";
      if (binds && IsKind(dot + 3, TokenKind::kString)) {
        Add(dot + 3, library);
      } else if (binds) {
        bound_.certain = false;
      }
      dot = Behind(dot + 2);
      if (verb == "attr" || verb == "def_submodule") return;  // what follows is on another object
    }
  }

  void Add(size_t at, bool library) {
    std::string name;
    for (size_t i = at; IsKind(i, TokenKind::kString); ++i) name += StringValue(tokens_[i].text);
    std::vector<NamedPlace>& list = library ? bound_.operators : bound_.names;
    if (library) {  // "ns::name.overload(Tensor a) -> Tensor"
      name = name.substr(0, name.find('('));
      const size_t colons = name.rfind("::");
      if (colons != std::string::npos) name.erase(0, colons + 2);
      name = name.substr(0, name.find('.'));
    }
    if (name == "__doc__" || name == "__version__") return;
    const auto same = [&](const NamedPlace& one) { return one.name == name; };
    if (std::none_of(list.begin(), list.end(), same)) list.push_back({name, tokens_[at].line});
  }

  const std::vector<Token>& tokens_;
  BoundSymbols& bound_;
  std::string_view variable_;
};

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

bool LooksLike(const std::string& wanted, const std::string& bound) {
  const std::string a = Lower(wanted);
  const std::string b = Lower(bound);
  if (a.find(b) != std::string::npos || b.find(a) != std::string::npos) return true;
  return EditDistance(a, b) <= std::max<size_t>(1, std::min(a.size(), b.size()) / 3);
}

std::string Sentence(const BoundSymbols& bound, const UsedSymbols& used,
                     const SymbolDiagnosis& found) {
  std::string text;
  if (!found.wrong_module.empty()) {
    text += "the test imports " + used.module + ", the extension's PYBIND11_MODULE is named " +
            found.wrong_module + ": write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)\n";
  }
  for (const MissingName& one : found.missing) {
    text += "the test calls " + one.used.name + " (line " + std::to_string(one.used.line) +
            "), which the extension does not bind; bound: " +
            (bound.names.empty() ? "nothing" : ListNames(bound.names));
    if (!one.near.empty()) {
      text +=
          "; did you mean " + one.near.front() + "? Bind it: m.def(\"" + one.used.name + "\", &…)";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string ListNames(const std::vector<NamedPlace>& names) {
  std::string text;
  for (const NamedPlace& one : names) text += (text.empty() ? "" : ", ") + one.name;
  return text;
}

BoundSymbols FindBoundSymbols(std::string_view source) {
  BoundSymbols bound;
  const std::vector<Token> tokens = LiveTokens(source);
  BindingReader(tokens, bound).Run();
  // A macro of the source's own may be the one that binds.
  if (bound.module.empty() && source.find("PYBIND11_MODULE") != std::string_view::npos) {
    bound.certain = false;
  }
  return bound;
}

UsedSymbols FindUsedSymbols(std::string_view test_code, const BoundSymbols& bound) {
  const PythonNames names = ReadPythonNames(test_code);
  UsedSymbols used;
  used.certain = !names.guarded;
  const PythonImport* module = nullptr;
  for (const PythonImport& one : names.imports) {
    if (one.module == bound.module) module = &one;
  }
  if (module == nullptr) {
    int strangers = 0;
    for (const PythonImport& one : names.imports) {
      if (IsKnownPackage(one.module)) continue;
      if (module == nullptr || module->module != one.module) ++strangers;
      module = &one;
    }
    if (strangers > 1) {  // which of them is the extension cannot be told
      used.certain = false;
      module = nullptr;
    }
  }
  const auto add = [&](const NamedPlace& place) {
    const auto same = [&](const NamedPlace& one) { return one.name == place.name; };
    if (std::none_of(used.names.begin(), used.names.end(), same)) used.names.push_back(place);
  };
  if (module != nullptr) {
    used.module = module->module;
    for (const PythonImport& one : names.imports) {
      if (one.module == used.module && !one.name.empty()) add({one.name, one.line});
    }
    for (const PythonAttribute& one : names.attributes) {
      const bool of_module =
          std::any_of(names.imports.begin(), names.imports.end(), [&](const PythonImport& import) {
            return import.module == used.module && import.name.empty() && import.as == one.object;
          });
      if (of_module && !one.name.starts_with("__")) add({one.name, one.line});
    }
  }
  for (const NamedPlace& one : names.undefined_calls) add(one);
  return used;
}

SymbolDiagnosis DiagnoseSymbols(const BoundSymbols& bound, const UsedSymbols& used) {
  SymbolDiagnosis found;
  found.certain = bound.certain && used.certain;
  if (!used.module.empty() && !bound.module.empty() && !bound.any_name() &&
      used.module != bound.module) {
    found.wrong_module = bound.module;
  }
  for (const NamedPlace& one : used.names) {
    const auto same = [&](const NamedPlace& other) { return other.name == one.name; };
    if (std::any_of(bound.names.begin(), bound.names.end(), same)) continue;
    MissingName missing{one, {}};
    for (const NamedPlace& candidate : bound.names) {
      if (LooksLike(one.name, candidate.name)) missing.near.push_back(candidate.name);
    }
    std::stable_sort(
        missing.near.begin(), missing.near.end(), [&](const std::string& a, const std::string& b) {
          return EditDistance(Lower(a), Lower(one.name)) < EditDistance(Lower(b), Lower(one.name));
        });
    found.missing.push_back(std::move(missing));
  }
  for (const NamedPlace& one : bound.names) {
    const auto same = [&](const NamedPlace& other) { return other.name == one.name; };
    if (std::none_of(used.names.begin(), used.names.end(), same)) found.unused.push_back(one.name);
  }
  if (found.mismatch()) found.text = Sentence(bound, used, found);
  return found;
}

}  // namespace kerf::verify
