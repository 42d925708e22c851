#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "llm/answer_search.h"
#include "llm/reply_parser.h"

namespace kerf::llm {
namespace {

constexpr const char* kWantCheck =
    "Reply with one JSON object {\"result\": number, \"reason\": \"...\", \"suggestions\": "
    "\"...\"} and nothing else.";

std::optional<int64_t> IntOf(const LenientValue* value, std::vector<std::string>& repairs) {
  if (value == nullptr) return std::nullopt;
  if (value->type == LenientValue::Type::kBool) {
    repairs.emplace_back("\"result\" given as true or false");
    return value->text == "true" ? 1 : 0;
  }
  std::string_view digits = value->text;
  if (value->is_string()) {
    repairs.emplace_back("\"result\" given as text");
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  } else if (value->type != LenientValue::Type::kNumber) {
    return std::nullopt;
  }
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (std::abs(number) > 1e9 || number != std::floor(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

bool HasResult(const LenientValue& object) {
  std::vector<std::string> ignored;
  return IntOf(object.Find("result"), ignored).has_value();
}

std::string AllowedText(const std::vector<int64_t>& allowed) {
  std::string text;
  for (size_t i = 0; i < allowed.size(); ++i) {
    if (i > 0) text += i + 1 == allowed.size() ? " or " : ", ";
    text += std::to_string(allowed[i]);
  }
  return text;
}

std::string NoCheckComplaint(const std::string& text, const Search& search,
                             const std::vector<int64_t>& allowed) {
  if (search.broken != nullptr) return BrokenComplaint(text, *search.broken);
  for (const FoundObject& object : search.found.objects) {
    if (object.value.Find("result") != nullptr) {
      return "The member \"result\" is no whole number; it must be " + AllowedText(allowed) + ".";
    }
    if (object.value.Find("reason") != nullptr) return "The member \"result\" is missing.";
  }
  return "The reply holds no such object.";
}

}  // namespace

ParsedCheck ParseCheck(std::string_view reply, const std::vector<int64_t>& allowed, Finish finish) {
  ParsedCheck parsed;
  if (const char* cut = CutComplaint(finish)) {
    parsed.truncated = true;
    parsed.complaint = cut;
    return parsed;
  }
  Prepared prepared = Prepare(reply);
  parsed.repairs = std::move(prepared.repairs);
  parsed.truncated = prepared.truncated;
  if (!prepared.complaint.empty()) {
    parsed.complaint = prepared.complaint + " " + kWantCheck;
    return parsed;
  }
  const Search search = SearchAnswer(prepared.text, HasResult, {"result", "reason", "suggestions"});
  if (search.cut != nullptr) {
    parsed.truncated = true;
    parsed.complaint = "The reply was cut off: " + search.cut->error + ". " + kWantCheck;
    return parsed;
  }
  if (search.object == nullptr) {
    parsed.complaint = NoCheckComplaint(prepared.text, search, allowed) + " " + kWantCheck;
    return parsed;
  }
  TakeRepairs(search, parsed.repairs);
  parsed.result = *IntOf(search.object->Find("result"), parsed.repairs);
  parsed.reason = OptionalText(*search.object, "reason", parsed.repairs);
  parsed.suggestions = OptionalText(*search.object, "suggestions", parsed.repairs);
  if (std::find(allowed.begin(), allowed.end(), parsed.result) == allowed.end()) {
    parsed.complaint = "The member \"result\" is " + std::to_string(parsed.result) +
                       "; it must be " + AllowedText(allowed) + ". " + kWantCheck;
  }
  return parsed;
}

}  // namespace kerf::llm
