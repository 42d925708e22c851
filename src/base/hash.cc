#include "base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "base/check.h"

namespace kerf {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Fetched once: the lookup takes longer than hashing a small file.
const EVP_MD* Sha256Method() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return method;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest, &length, Sha256Method(), nullptr);
  KERF_CHECK(ok == 1 && length == 32, "OpenSSL could not compute SHA-256");
  std::string hex;
  hex.reserve(64);
  for (unsigned int i = 0; i < length; ++i) {
    hex += kHexDigits[digest[i] >> 4];
    hex += kHexDigits[digest[i] & 15];
  }
  return hex;
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
