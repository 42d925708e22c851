// Replies of models. Whatever is taken apart must come back byte for byte.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "expect.h"
#include "trace/result_text.h"

namespace {

using kerf::Expect;

std::string RoundTrip(const kerf::trace::CodeReply& reply) {
  const std::string encoded = kerf::trace::EncodeReplyFrame(reply.frame);
  kerf::JsonReader reader(encoded);
  kerf::trace::ReplyFrame frame;
  Expect(kerf::trace::DecodeReplyFrame(reader, frame) && reader.Finish(), "a frame is valid JSON");
  kerf::Result<std::string> raw =
      kerf::trace::RebuildReply(frame, kerf::trace::FormatCodeReply(reply));
  Expect(raw.ok(), "a frame fits the result it was made with");
  return *raw;
}

// A whole reply that any JSON library reads as the wanted object must be found.
void CheckPlainJson(std::string_view reply, const std::optional<kerf::trace::CodeReply>& found) {
  if (reply.starts_with("\xEF\xBB\xBF") || reply.find("\\u") != std::string_view::npos) return;
  if (reply.find('\0') != std::string_view::npos) return;        // the other one ends there
  if (reply.find("\"code\"") == std::string_view::npos) return;  // spelled with escapes
  const auto document = nlohmann::json::parse(reply, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("code") || !document.contains("description"))
    return;
  if (!document["code"].is_string() || !document["description"].is_string()) return;
  if (!found.has_value()) {
    // Refused for depth only; the reader allows 64 levels.
    Expect(
        std::count_if(reply.begin(), reply.end(), [](char c) { return c == '{' || c == '['; }) > 64,
        "a reply that is the object is recognised");
    return;
  }
  Expect(found->code == document["code"] && found->description == document["description"],
         "code and description are read as JSON has them");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  const std::optional<kerf::trace::CodeReply> found = kerf::trace::FindCodeReply(reply);
  if (found.has_value()) Expect(RoundTrip(*found) == reply, "the raw reply comes back");
  CheckPlainJson(reply, found);
  return 0;
}
