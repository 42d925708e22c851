// SHA-256 for what a person may want to check by hand, XXH3 for checksums that only guard against
// damage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

// 64 lowercase hex digits, as `sha256sum` prints them.
std::string Sha256Hex(std::string_view bytes);
// Of each of the texts, in their order: sooner than one after the other.
std::vector<std::string> Sha256HexOfAll(const std::vector<std::string_view>& texts);

// Fast and not cryptographic: for checksums of records and keys of caches.
uint64_t Xxh3(std::string_view bytes);

// 16 lowercase hex digits.
std::string Hex64(uint64_t value);

}  // namespace kerf
