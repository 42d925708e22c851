// SHA-256 of several texts side by side, by the processor's own instructions. One text alone keeps
// the unit that does the rounds waiting for itself half of the time, because every round needs the
// one before; a second text fills the gaps (docs/decisions/0040-sha256.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kerf {

using Sha256Digest = std::array<uint8_t, 32>;

// Whether this processor has the instructions. Without them Sha256Lanes() must not be called.
bool HasSha256Lanes();

// The digests of the texts, in their order.
std::vector<Sha256Digest> Sha256Lanes(const std::vector<std::string_view>& texts);

}  // namespace kerf
