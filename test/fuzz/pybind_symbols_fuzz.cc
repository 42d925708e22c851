// The same bytes as an extension's source and as its test: neither must fail, and what is called
// missing must be used and not bound.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "expect.h"
#include "loop/verify/pybind_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kerf::verify::NamedPlace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kerf::verify::BoundSymbols bound = kerf::verify::FindBoundSymbols(text);
  const kerf::verify::UsedSymbols used = kerf::verify::FindUsedSymbols(text, bound);
  const kerf::verify::SymbolDiagnosis found = kerf::verify::DiagnoseSymbols(bound, used);
  for (const kerf::verify::MissingName& missing : found.missing) {
    const auto same = [&](const NamedPlace& one) { return one.name == missing.used.name; };
    kerf::Expect(std::any_of(used.names.begin(), used.names.end(), same), "missing, but unused");
    kerf::Expect(std::none_of(bound.names.begin(), bound.names.end(), same), "missing, but bound");
  }
  kerf::Expect(found.mismatch() == !found.text.empty(), "a mismatch without words");
  return 0;
}
