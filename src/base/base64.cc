#include "base/base64.h"

#include <openssl/evp.h>

namespace kerf {

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  // EVP_DecodeBlock tolerates white space at the ends; a shorter result shows that it skipped some.
  if (length < 0 || static_cast<size_t>(length) != bytes.size()) return std::nullopt;
  // It also counts padding as zero bytes.
  if (text.ends_with("==")) {
    bytes.resize(bytes.size() - 2);
  } else if (text.ends_with("=")) {
    bytes.resize(bytes.size() - 1);
  }
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a zero
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

}  // namespace kerf
