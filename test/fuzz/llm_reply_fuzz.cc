// Replies of models. Whatever comes, the parser ends, and what it accepts it accepts for a reason.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "expect.h"
#include "llm/reply_parser.h"

namespace {

using kerf::Expect;
using kerf::llm::CodeLanguage;

void CheckCode(std::string_view reply, CodeLanguage language) {
  const kerf::llm::ParsedReply parsed = kerf::llm::ParseCode(reply, language);
  Expect(parsed.ok() != parsed.code.empty(), "there is code or a complaint");
  Expect(!parsed.truncated || !parsed.ok(), "what was cut off is not taken");
  Expect(kerf::DetectEncoding(parsed.code) == kerf::TextEncoding::kUtf8, "code is UTF-8");
  Expect(kerf::DetectEncoding(parsed.complaint) == kerf::TextEncoding::kUtf8,
         "a complaint is UTF-8");
  Expect(parsed.code.find('\0') == std::string::npos, "code holds no NUL");
}

// A reply that is the object, whole and by itself, is always taken.
void CheckPlainJson(std::string_view reply) {
  if (reply.find("think") != std::string_view::npos) return;
  const auto document = nlohmann::json::parse(reply, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || document.size() != 2 || !document.contains("code") ||
      !document.contains("description") || !document["code"].is_string() ||
      !document["description"].is_string()) {
    return;
  }
  const std::string code = document["code"];
  if (code.find_first_not_of(" \t\r\n\0") == std::string::npos ||
      code.find("...") != std::string::npos || code.find("\xE2\x80\xA6") != std::string::npos ||
      code.find('\0') != std::string::npos || code.find("```") != std::string::npos ||
      code.find("~~~") != std::string::npos) {
    return;
  }
  const kerf::llm::ParsedReply parsed = kerf::llm::ParseCode(reply, CodeLanguage::kCpp);
  Expect(parsed.ok(), "a reply that is the object is taken");
  Expect(parsed.form == "json", "as what it is");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  for (const CodeLanguage language :
       {CodeLanguage::kAny, CodeLanguage::kAul, CodeLanguage::kCpp, CodeLanguage::kPython}) {
    CheckCode(reply, language);
  }
  const kerf::llm::ParsedCheck check = kerf::llm::ParseCheck(reply);
  Expect(!check.ok() || check.result == 0 || check.result == 1, "a result is an allowed one");
  Expect(!check.truncated || !check.ok(), "what was cut off is not taken");
  CheckPlainJson(reply);
  return 0;
}
