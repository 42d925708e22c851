#include "llm/request_hash.h"

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace kerf::llm {
namespace {

void WriteSampling(JsonWriter& json, const Sampling& sampling) {
  json.BeginObject();
  const auto number = [&](const char* name, const std::optional<double>& value) {
    if (value.has_value()) json.Key(name).Double(*value);
  };
  const auto whole = [&](const char* name, const std::optional<int64_t>& value) {
    if (value.has_value()) json.Key(name).Int(*value);
  };
  number("frequency_penalty", sampling.frequency_penalty);
  whole("max_tokens", sampling.max_tokens);
  number("presence_penalty", sampling.presence_penalty);
  if (!sampling.reasoning_effort.empty()) {
    json.Key("reasoning_effort").String(sampling.reasoning_effort);
  }
  whole("seed", sampling.seed);
  number("temperature", sampling.temperature);
  number("top_p", sampling.top_p);
  json.EndObject();
}

bool ReadNumber(JsonReader& reader, std::optional<double>& out) {
  double value = 0;
  if (!reader.ReadDouble(value)) return false;
  out = value;
  return true;
}

bool ReadWhole(JsonReader& reader, std::optional<int64_t>& out) {
  int64_t value = 0;
  if (!reader.ReadInt(value)) return false;
  out = value;
  return true;
}

}  // namespace

std::string EncodeSampling(const Sampling& sampling) {
  std::string out;
  JsonWriter json(out);
  WriteSampling(json, sampling);
  return out;
}

Result<Sampling> DecodeSampling(std::string_view text) {
  Sampling sampling;
  if (text.empty()) return sampling;
  JsonReader reader(text);
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "frequency_penalty") {
      ReadNumber(reader, sampling.frequency_penalty);
    } else if (key == "presence_penalty") {
      ReadNumber(reader, sampling.presence_penalty);
    } else if (key == "temperature") {
      ReadNumber(reader, sampling.temperature);
    } else if (key == "top_p") {
      ReadNumber(reader, sampling.top_p);
    } else if (key == "max_tokens") {
      ReadWhole(reader, sampling.max_tokens);
    } else if (key == "seed") {
      ReadWhole(reader, sampling.seed);
    } else if (key == "reasoning_effort") {
      reader.ReadString(sampling.reasoning_effort);
    } else {
      reader.Skip();
    }
  }
  if (!reader.Finish()) return InvalidInput("sampling parameters: " + reader.error());
  return sampling;
}

std::string CanonicalRequest(std::string_view model, const std::vector<Message>& messages,
                             const Sampling& sampling) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("messages").BeginArray();
  for (const Message& message : messages) {
    json.BeginObject().Key("content").String(message.content);
    json.Key("role").String(message.role).EndObject();
  }
  json.EndArray().Key("model").String(model).Key("sampling");
  WriteSampling(json, sampling);
  json.EndObject();
  return out;
}

std::string RequestSha256(std::string_view model, const std::vector<Message>& messages,
                          const Sampling& sampling) {
  return Sha256Hex(CanonicalRequest(model, messages, sampling));
}

int64_t EstimateTokens(std::string_view text) {
  return static_cast<int64_t>((text.size() + 2) / 3);
}

int64_t EstimateTokens(const std::vector<Message>& messages) {
  int64_t tokens = 8;
  for (const Message& message : messages) tokens += EstimateTokens(message.content) + 8;
  return tokens;
}

}  // namespace kerf::llm
