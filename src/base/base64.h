#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kerf {

// Standard alphabet with padding; nullopt for anything else.
std::optional<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace kerf
