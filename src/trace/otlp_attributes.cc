#include "trace/otlp_attributes.h"

#include <algorithm>
#include <cmath>

namespace kerf::trace {
namespace {

struct ParamName {
  const char* param;
  const char* attribute;
  bool whole;
};

constexpr ParamName kParams[] = {
    {"temperature", "gen_ai.request.temperature", false},
    {"top_p", "gen_ai.request.top_p", false},
    {"top_k", "gen_ai.request.top_k", false},
    {"frequency_penalty", "gen_ai.request.frequency_penalty", false},
    {"presence_penalty", "gen_ai.request.presence_penalty", false},
    {"max_tokens", "gen_ai.request.max_tokens", true},
    {"seed", "gen_ai.request.seed", true},
    {"n", "gen_ai.request.choice.count", true},
};

}  // namespace

JsonWriter& OtlpAttributes::Begin(std::string_view key) {
  return json_.BeginObject().Key("key").String(key).Key("value").BeginObject();
}

void OtlpAttributes::End() { json_.EndObject().EndObject(); }

void OtlpAttributes::String(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  Begin(key).Key("stringValue").String(value);
  End();
}

void OtlpAttributes::Int(std::string_view key, std::optional<int64_t> value) {
  if (!value.has_value()) return;
  // 64-bit integers are strings in the JSON form of protocol buffers.
  Begin(key).Key("intValue").String(std::to_string(*value));
  End();
}

void OtlpAttributes::Double(std::string_view key, std::optional<double> value) {
  if (!value.has_value() || !std::isfinite(*value)) return;
  Begin(key).Key("doubleValue").Double(*value);
  End();
}

void OtlpAttributes::True(std::string_view key, bool value) {
  if (!value) return;
  Begin(key).Key("boolValue").Bool(true);
  End();
}

void OtlpAttributes::OneString(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  Begin(key).Key("arrayValue").BeginObject().Key("values").BeginArray();
  json_.BeginObject().Key("stringValue").String(value).EndObject();
  json_.EndArray().EndObject();
  End();
}

void OtlpAttributes::Params(const StepFacts& facts) {
  for (const ParamName& name : kParams) {
    for (const Fact& fact : facts.params) {
      if (fact.path != name.param || !fact.number.has_value()) continue;
      if (!name.whole) {
        Double(name.attribute, fact.number);
      } else if (std::fabs(*fact.number) < 9e15 && std::floor(*fact.number) == *fact.number) {
        Int(name.attribute, static_cast<int64_t>(*fact.number));
      }
      break;  // of a member given twice only one may appear
    }
  }
}

void OtlpAttributes::ErrorType(std::string_view error) {
  if (error.empty()) return;
  const bool is_word = error.size() <= 64 && std::none_of(error.begin(), error.end(), [](char c) {
                         return c == ' ' || c == '\n' || c == '\t';
                       });
  String("error.type", is_word ? error : "_OTHER");
}

}  // namespace kerf::trace
