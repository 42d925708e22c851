// Torch extensions that a Python file compiles itself: strings of C++ or CUDA C++ handed to
// load_inline(), and a ModelNew that calls what comes back. kerf takes the strings out and builds
// them as any extension; the file then runs with a load_inline() that gives it what was built.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::verify {

struct InlineExtension {
  std::string source;  // C++: all strings, in the order cpp_sources, cuda_sources
  int line = 0;        // of the first string
};

// nullopt when the text is no Python that calls load_inline(). An empty source when it does, but
// its strings are not plain ones that stand in the file.
std::optional<InlineExtension> FindInlineExtension(std::string_view python);

}  // namespace kerf::verify
