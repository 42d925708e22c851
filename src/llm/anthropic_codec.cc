// Anthropic Messages.
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "llm/codec.h"

namespace kerf::llm {
namespace {

constexpr const char* kApiVersion = "2023-06-01";
// The wire demands a limit; a kernel with its reasoning fits well.
constexpr int64_t kDefaultMaxTokens = 16384;

class AnthropicDecoder : public Decoder {
 public:
  void OnEvent(const SseEvent& event) override { OnBody(event.data); }

  void OnBody(std::string_view json) override {
    if (decoded_.error.has_value() || !decoded_.broken.empty()) return;
    JsonReader reader(json);
    if (reader.Peek() != JsonType::kObject) {
      decoded_.broken = "what came is no JSON object: " + std::string(json.substr(0, 200));
      return;
    }
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) Member(reader, key);
    if (!reader.Finish()) decoded_.broken = "what came is broken JSON: " + reader.error();
  }

 private:
  using Type = JsonType;

  // Members of all events have names of their own, so the event's type need not be known first.
  void Member(JsonReader& reader, const std::string& key) {
    const Type type = reader.Peek();
    if (key == "message" && type == Type::kObject) {
      std::string inner;
      for (reader.BeginObject(); reader.NextKey(inner);) Member(reader, inner);
    } else if (key == "id") {
      ReadOptionalText(reader, decoded_.id);
    } else if (key == "model") {
      ReadOptionalText(reader, decoded_.model);
    } else if (key == "content" && type == Type::kArray) {
      for (reader.BeginArray(); reader.NextElement();) Block(reader);
    } else if (key == "content_block" && type == Type::kObject) {
      Block(reader);
    } else if (key == "delta" && type == Type::kObject) {
      Block(reader);
    } else if (key == "stop_reason") {
      StopReason(reader);
    } else if (key == "usage" && type == Type::kObject) {
      ReadUsage(reader);
    } else if (key == "error" && type != Type::kNull) {
      ReadErrorValue(reader, decoded_.error.emplace());
    } else {
      reader.Skip();
    }
  }

  void StopReason(JsonReader& reader) {
    std::string reason;
    ReadOptionalText(reader, reason);
    if (reason.empty()) return;
    decoded_.finish_raw = reason;
    decoded_.finished = true;
  }

  // A block, or a delta of one: text, thinking, or the end of the message.
  void Block(JsonReader& reader) {
    if (reader.Peek() != Type::kObject) {
      reader.Skip();
      return;
    }
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      std::string text;
      if (key == "text" || key == "thinking") {
        ReadOptionalText(reader, text);
        (key == "text" ? decoded_.text : decoded_.reasoning) += text;
      } else if (key == "stop_reason") {
        StopReason(reader);
      } else {
        reader.Skip();
      }
    }
  }

  // Counts are totals so far, not increments; a later event may leave out what did not change.
  void ReadUsage(JsonReader& reader) {
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "input_tokens") {
        ReadCount(reader, input_);
      } else if (key == "cache_read_input_tokens") {
        ReadCount(reader, decoded_.usage.input_cache_read);
      } else if (key == "cache_creation_input_tokens") {
        ReadCount(reader, decoded_.usage.input_cache_write);
      } else if (key == "output_tokens") {
        ReadCount(reader, decoded_.usage.output_total);
      } else {
        reader.Skip();
      }
    }
    // input_tokens leaves out what the cache had.
    Usage& usage = decoded_.usage;
    usage.input_total = input_ + usage.input_cache_read + usage.input_cache_write;
    usage.source = Usage::Source::kReported;
  }

  int64_t input_ = 0;
};

class AnthropicCodec : public Codec {
 public:
  [[nodiscard]] const char* name() const override { return "anthropic"; }

  [[nodiscard]] std::string Url(const std::string& base_url) const override {
    const bool versioned = base_url.substr(0, base_url.find('?')).ends_with("/v1");
    return WithPath(base_url, versioned ? "/messages" : "/v1/messages");
  }

  [[nodiscard]] Headers RequestHeaders(const std::string& key) const override {
    Headers headers = {{"anthropic-version", kApiVersion}};
    if (!key.empty()) headers.emplace_back("x-api-key", key);
    return headers;
  }

  [[nodiscard]] std::string Body(const std::string& model, const std::vector<Message>& messages,
                                 const Sampling& sampling, const std::set<std::string>& dropped,
                                 const std::string& extra) const override {
    std::string system;
    for (const Message& message : messages) {
      if (message.role != "system") continue;
      system += (system.empty() ? "" : "\n\n") + message.content;
    }
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("model").String(model).Key("stream").Bool(true);
    json.Key("max_tokens").Int(sampling.max_tokens.value_or(kDefaultMaxTokens));
    if (!system.empty()) json.Key("system").String(system);
    if (sampling.temperature.has_value() && !dropped.contains("temperature")) {
      json.Key("temperature").Double(*sampling.temperature);
    }
    if (sampling.top_p.has_value() && !dropped.contains("top_p")) {
      json.Key("top_p").Double(*sampling.top_p);
    }
    WriteExtra(json, extra);
    json.Key("messages").BeginArray();
    for (const Message& message : messages) {
      if (message.role == "system") continue;
      json.BeginObject().Key("role").String(message.role);
      json.Key("content").String(message.content).EndObject();
    }
    json.EndArray().EndObject();
    return out;
  }

  [[nodiscard]] std::vector<std::string> Unsent(const Sampling& sampling) const override {
    std::vector<std::string> names;
    if (sampling.frequency_penalty.has_value()) names.emplace_back("frequency_penalty");
    if (sampling.presence_penalty.has_value()) names.emplace_back("presence_penalty");
    if (sampling.seed.has_value()) names.emplace_back("seed");
    if (!sampling.reasoning_effort.empty()) names.emplace_back("reasoning_effort");
    return names;
  }

  [[nodiscard]] std::unique_ptr<Decoder> MakeDecoder() const override {
    return std::make_unique<AnthropicDecoder>();
  }
};

}  // namespace

std::unique_ptr<Codec> MakeAnthropicCodec() { return std::make_unique<AnthropicCodec>(); }

}  // namespace kerf::llm
