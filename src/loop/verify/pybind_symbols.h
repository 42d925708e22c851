// Which names an extension binds, which names its test calls, and where the two do not meet: the
// classic failure of a translated kernel is one that builds and loads under another name.
//
//   const BoundSymbols bound = FindBoundSymbols(source);
//   const UsedSymbols used = FindUsedSymbols(test_code, bound);
//   const SymbolDiagnosis found = DiagnoseSymbols(bound, used);
//   if (found.mismatch()) … found.text …
//
// Works on tokens, without Python and without a compiler, and so on sources that do not build.
// Nothing here fails: a text that is not understood gives fewer names and `certain` false.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::verify {

struct NamedPlace {
  std::string name;
  int line = 0;
};

struct BoundSymbols {
  std::string module;  // as PYBIND11_MODULE says; empty when there is none
  std::vector<NamedPlace> names;
  std::string library;                // the namespace of TORCH_LIBRARY
  std::vector<NamedPlace> operators;  // defined there
  // False when more may be bound than was found: by a macro, by a function that gets the module, or
  // under a name that is no literal.
  bool certain = true;

  // Whether the builder chooses the module's name: PYBIND11_MODULE(TORCH_EXTENSION_NAME, m).
  [[nodiscard]] bool any_name() const { return module == "TORCH_EXTENSION_NAME"; }
};
// Reads PYBIND11_MODULE and TORCH_LIBRARY in C++, CUDA or HIP; code behind `#if 0` does not count.
BoundSymbols FindBoundSymbols(std::string_view source);

struct UsedSymbols {
  std::string module;  // the one import that must be the extension; empty when names are used bare
  std::vector<NamedPlace> names;  // M.x, from M import x, getattr(M, "x"), or bare calls
  // False when the test may survive a missing name (try, hasattr) or gets names in other ways.
  bool certain = true;
};
UsedSymbols FindUsedSymbols(std::string_view test_code, const BoundSymbols& bound);

struct MissingName {
  NamedPlace used;
  std::vector<std::string> near;  // bound names that look like it
};

struct SymbolDiagnosis {
  std::vector<MissingName> missing;
  std::vector<std::string> unused;  // bound, and never called
  std::string wrong_module;         // the module's own name, where the test imports another
  bool certain = true;
  std::string text;  // for the log; empty when everything is there

  [[nodiscard]] bool mismatch() const { return !missing.empty() || !wrong_module.empty(); }
};
SymbolDiagnosis DiagnoseSymbols(const BoundSymbols& bound, const UsedSymbols& used);

// "forward, forward_out": the names, for a message.
std::string ListNames(const std::vector<NamedPlace>& names);

}  // namespace kerf::verify
