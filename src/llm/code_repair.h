// Puts right what models do to code on its way into a reply. Only repairs that cannot change code
// that was right: each states why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::llm {

// Valid UTF-8 without a byte order mark and NULs; what changed is added to `repairs`.
std::string CleanText(std::string_view text, std::vector<std::string>& repairs);

void RepairCode(std::string& code, std::vector<std::string>& repairs);

// The line in which the code says that something was left out ("// ... rest unchanged"); empty when
// it is all there.
std::string FindElision(std::string_view code);

}  // namespace kerf::llm
