// What a compiled candidate asks of the system: the names it imports and the libraries it needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kerf::verify {

struct ElfSymbols {
  std::vector<std::string> imported;  // undefined dynamic symbols, without versions
  std::vector<std::string> exported;
  std::vector<std::string> needed;  // "libm.so.6"
};

// Of a 64-bit little-endian shared object. kCorrupt when the bytes are none.
Result<ElfSymbols> ReadElfSymbols(std::string_view bytes);

struct ForbiddenUse {
  std::string reason;  // of status cheat
  std::string text;
};

// The first import no honest kernel has, if any: running programs, loading libraries, raw system
// calls, sockets. What gets past this is met by the sandbox; this gives it a name before it runs.
// `torch`: an extension, which is linked with torch's libraries; what it computes with them is
// found out when it runs.
std::optional<ForbiddenUse> FindForbiddenUse(const ElfSymbols& symbols, bool torch = false);

// Whether a candidate may need this library: the language's own, "libm.so.6".
bool IsAllowedLibrary(const std::string& name, bool torch = false);

}  // namespace kerf::verify
