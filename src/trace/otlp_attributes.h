// Attributes in OTLP's JSON: {"key":…,"value":{"stringValue":…}}. What is absent or empty is left
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "trace/step_facts.h"

namespace kerf::trace {

// The member "attributes" of the object that `json` is in, for as long as it lives.
class OtlpAttributes {
 public:
  explicit OtlpAttributes(JsonWriter& json) : json_(json) { json_.Key("attributes").BeginArray(); }
  ~OtlpAttributes() { json_.EndArray(); }
  OtlpAttributes(const OtlpAttributes&) = delete;
  OtlpAttributes& operator=(const OtlpAttributes&) = delete;

  void String(std::string_view key, std::string_view value);
  void Int(std::string_view key, std::optional<int64_t> value);
  void Double(std::string_view key, std::optional<double> value);
  void True(std::string_view key, bool value);
  // An array with one element.
  void OneString(std::string_view key, std::string_view value);
  // gen_ai.request.temperature and so on.
  void Params(const StepFacts& facts);
  // error.type wants a word; a message becomes "_OTHER".
  void ErrorType(std::string_view error);

 private:
  JsonWriter& Begin(std::string_view key);
  void End();

  JsonWriter& json_;
};

}  // namespace kerf::trace
