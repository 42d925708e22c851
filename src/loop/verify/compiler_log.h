// Makes a compiler's output readable for whoever has to repair the source: a person, or a model
// that pays by the token.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kerf::verify {

struct CompilerLog {
  std::string
      text;  // errors first, each with its source line; notes and warnings only where they help
  std::string
      reason;  // of status compile_error: "syntax", "missing_header", "undefined_symbol" or "other"
  size_t errors = 0;
};

// `raw` is what g++, clang++, nvcc, NVRTC or hipcc wrote. At most `most` bytes are kept; what was
// left out is counted in the last line.
CompilerLog CleanCompilerLog(std::string_view raw, size_t most = 8192);

}  // namespace kerf::verify
