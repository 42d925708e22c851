#include "base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/sha256_lanes.h"

namespace kerf {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Fetched once: the lookup takes longer than hashing a small file.
const EVP_MD* Sha256Method() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return method;
}

std::string HexOf(const unsigned char* bytes, size_t count) {
  std::string hex;
  hex.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) {
    hex += kHexDigits[bytes[i] >> 4];
    hex += kHexDigits[bytes[i] & 15];
  }
  return hex;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest, &length, Sha256Method(), nullptr);
  KERF_CHECK(ok == 1 && length == 32, "OpenSSL could not compute SHA-256");
  return HexOf(digest, length);
}

std::vector<std::string> Sha256HexOfAll(const std::vector<std::string_view>& texts) {
  std::vector<std::string> hashes;
  hashes.reserve(texts.size());
  if (texts.size() < 2 || !HasSha256Lanes()) {
    for (const std::string_view text : texts) hashes.push_back(Sha256Hex(text));
    return hashes;
  }
  for (const Sha256Digest& digest : Sha256Lanes(texts)) {
    hashes.push_back(HexOf(digest.data(), digest.size()));
  }
  return hashes;
}

uint64_t Xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string Hex64(uint64_t value) {
  std::string hex(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) {
    hex[static_cast<size_t>(i)] = kHexDigits[value & 15];
  }
  return hex;
}

}  // namespace kerf
