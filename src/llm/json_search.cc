#include "llm/json_search.h"

namespace kerf::llm {

FoundObjects FindObjects(std::string_view text) {
  FoundObjects found;
  // Each brace may be tried, and a text made for it could make every try run to the end.
  size_t work = text.size() * 80 + 4096;
  for (size_t at = text.find('{'); at != std::string_view::npos;) {
    LenientParse parse = ParseLenient(text, at);
    const size_t cost = parse.end - at + 1;
    if (cost > work) return found;
    work -= cost;
    if (parse.state == LenientParse::State::kWhole) {
      found.objects.push_back({at, std::move(parse.value), std::move(parse.repairs)});
      at = text.find('{', parse.end);
      continue;
    }
    if (!parse.names.empty()) {
      found.unread.push_back({at, parse.end, parse.state == LenientParse::State::kTruncated,
                              std::move(parse.error), std::move(parse.names)});
    }
    at = text.find('{', at + 1);
  }
  return found;
}

}  // namespace kerf::llm
