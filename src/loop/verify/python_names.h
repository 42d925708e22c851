// The names in a Python source, as far as telling needs it what the source expects from elsewhere:
// imports, attributes of names, and calls of names that nobody defines. Token by token, without
// scopes: a name that is defined anywhere counts as defined everywhere, so that what is reported as
// undefined is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loop/verify/pybind_symbols.h"

namespace kerf::verify {

// `import module as as`, or `from module import name as as`.
struct PythonImport {
  std::string module;
  std::string name;  // empty for a plain import
  std::string as;
  int line = 0;
};

// object.name, or getattr(object, "name").
struct PythonAttribute {
  std::string object;
  std::string name;
  int line = 0;
};

struct PythonNames {
  std::vector<PythonImport> imports;
  std::vector<PythonAttribute> attributes;
  std::vector<NamedPlace> undefined_calls;  // each name once
  // It has a try, a hasattr, an exec or an import of everything: a missing name need not matter.
  bool guarded = false;
};
PythonNames ReadPythonNames(std::string_view source);

// Whether a module of this name is Python's own or a package that tests of kernels import.
bool IsKnownPackage(std::string_view module);

}  // namespace kerf::verify
