// Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, DeepSeek and the gateways speak it.
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "llm/codec.h"

namespace kerf::llm {
namespace {

class OpenAiDecoder : public Decoder {
 public:
  void OnEvent(const SseEvent& event) override {
    if (event.data.starts_with("[DONE]")) return;
    OnBody(event.data);
  }

  void OnBody(std::string_view json) override {
    if (decoded_.error.has_value() || !decoded_.broken.empty()) return;
    JsonReader reader(json);
    if (reader.Peek() != JsonType::kObject) {
      decoded_.broken = "what came is no JSON object: " + std::string(json.substr(0, 200));
      return;
    }
    Top(reader, json);
    if (!reader.Finish()) decoded_.broken = "what came is broken JSON: " + reader.error();
  }

 private:
  void Top(JsonReader& reader, std::string_view json) {
    std::string key;
    bool is_error = false;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "id") {
        ReadOptionalText(reader, decoded_.id);
      } else if (key == "model") {
        ReadOptionalText(reader, decoded_.model);
      } else if (key == "choices" && reader.Peek() == JsonType::kArray) {
        for (reader.BeginArray(); reader.NextElement();) Choice(reader);
      } else if (key == "usage" && reader.Peek() == JsonType::kObject) {
        ReadUsage(reader);
      } else if (key == "error" && reader.Peek() != JsonType::kNull) {
        ReadErrorValue(reader, decoded_.error.emplace());
      } else if (key == "object" && reader.Peek() == JsonType::kString) {
        std::string object;
        reader.ReadString(object);
        is_error = object == "error";
      } else {
        reader.Skip();
      }
    }
    // Older vLLM: {"object":"error","message":…}
    if (is_error && reader.ok()) decoded_.error = ParseErrorBody(0, json);
  }

  void Choice(JsonReader& reader) {
    if (reader.Peek() != JsonType::kObject) {
      reader.Skip();
      return;
    }
    int64_t index = 0;
    std::string finish;
    std::string_view delta;
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "index") {
        ReadCount(reader, index);
      } else if (key == "finish_reason") {
        ReadOptionalText(reader, finish);
      } else if ((key == "delta" || key == "message") && reader.Peek() == JsonType::kObject) {
        reader.ReadRaw(delta);
      } else {
        reader.Skip();
      }
    }
    if (index != 0 || !reader.ok()) return;  // one answer is asked for
    if (!delta.empty()) Delta(delta);
    if (!finish.empty()) {
      decoded_.finish_raw = finish;
      decoded_.finished = true;
    }
  }

  void Delta(std::string_view json) {
    JsonReader reader(json);
    std::string key, reasoning_content, reasoning, thinking;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "content") {
        Content(reader);
      } else if (key == "reasoning_content") {
        ReadOptionalText(reader, reasoning_content);
      } else if (key == "reasoning") {
        ReadOptionalText(reader, reasoning);
      } else if (key == "thinking") {
        ReadOptionalText(reader, thinking);
      } else if (key == "refusal") {
        std::string refusal;
        ReadOptionalText(reader, refusal);
        decoded_.refusal += refusal;
      } else {
        reader.Skip();
      }
    }
    // Some servers send the same text under two names.
    for (const std::string* text : {&reasoning_content, &reasoning, &thinking}) {
      if (text->empty()) continue;
      decoded_.reasoning += *text;
      break;
    }
  }

  // A text, null, or a list of parts.
  void Content(JsonReader& reader) {
    if (reader.Peek() != JsonType::kArray) {
      std::string text;
      ReadOptionalText(reader, text);
      decoded_.text += text;
      return;
    }
    for (reader.BeginArray(); reader.NextElement();) {
      if (reader.Peek() != JsonType::kObject) {
        reader.Skip();
        continue;
      }
      std::string key;
      for (reader.BeginObject(); reader.NextKey(key);) {
        std::string text;
        if (key == "text" || key == "thinking") {
          ReadOptionalText(reader, text);
          (key == "text" ? decoded_.text : decoded_.reasoning) += text;
        } else {
          reader.Skip();
        }
      }
    }
  }

  // The last one wins: some servers send it with every chunk.
  void ReadUsage(JsonReader& reader) {
    Usage usage;
    usage.source = Usage::Source::kReported;
    int64_t hit = 0;
    std::string key, inner;
    const auto detail = [&](const char* name, int64_t& out) {
      if (reader.Peek() != JsonType::kObject) {
        reader.Skip();
        return;
      }
      for (reader.BeginObject(); reader.NextKey(inner);) {
        if (inner == name) {
          ReadCount(reader, out);
        } else {
          reader.Skip();
        }
      }
    };
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "prompt_tokens") {
        ReadCount(reader, usage.input_total);
      } else if (key == "completion_tokens") {
        ReadCount(reader, usage.output_total);
      } else if (key == "prompt_tokens_details") {
        detail("cached_tokens", usage.input_cache_read);
      } else if (key == "completion_tokens_details") {
        detail("reasoning_tokens", usage.output_reasoning);
      } else if (key == "prompt_cache_hit_tokens") {
        ReadCount(reader, hit);  // DeepSeek
      } else {
        reader.Skip();
      }
    }
    if (usage.input_cache_read == 0) usage.input_cache_read = hit;
    decoded_.usage = usage;
  }
};

class OpenAiCodec : public Codec {
 public:
  [[nodiscard]] const char* name() const override { return "openai"; }

  // The base URL is used as it is: most end in /v1, some must not.
  [[nodiscard]] std::string Url(const std::string& base_url) const override {
    return WithPath(base_url, "/chat/completions");
  }

  [[nodiscard]] Headers RequestHeaders(const std::string& key) const override {
    if (key.empty()) return {};
    return {{"Authorization", "Bearer " + key}};
  }

  [[nodiscard]] std::string Body(const std::string& model, const std::vector<Message>& messages,
                                 const Sampling& sampling, const std::set<std::string>& dropped,
                                 const std::string& extra) const override {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("model").String(model).Key("stream").Bool(true);
    if (!dropped.contains("stream_options")) {
      json.Key("stream_options").BeginObject().Key("include_usage").Bool(true).EndObject();
    }
    WriteSampling(json, sampling, dropped);
    WriteExtra(json, extra);
    json.Key("messages").BeginArray();
    for (const Message& message : messages) {
      json.BeginObject().Key("role").String(message.role);
      json.Key("content").String(message.content).EndObject();
    }
    json.EndArray().EndObject();
    return out;
  }

  [[nodiscard]] std::vector<std::string> Unsent(const Sampling& /*sampling*/) const override {
    return {};
  }

  [[nodiscard]] std::unique_ptr<Decoder> MakeDecoder() const override {
    return std::make_unique<OpenAiDecoder>();
  }

 private:
  static void WriteSampling(JsonWriter& json, const Sampling& sampling,
                            const std::set<std::string>& dropped) {
    const auto number = [&](const char* name, const std::optional<double>& value) {
      if (value.has_value() && !dropped.contains(name)) json.Key(name).Double(*value);
    };
    number("temperature", sampling.temperature);
    number("top_p", sampling.top_p);
    number("frequency_penalty", sampling.frequency_penalty);
    number("presence_penalty", sampling.presence_penalty);
    if (sampling.max_tokens.has_value()) {
      // Reasoning models refuse the old name.
      const char* limit = dropped.contains("max_tokens") ? "max_completion_tokens" : "max_tokens";
      if (!dropped.contains(limit)) json.Key(limit).Int(*sampling.max_tokens);
    }
    if (sampling.seed.has_value() && !dropped.contains("seed")) {
      json.Key("seed").Int(*sampling.seed);
    }
    if (!sampling.reasoning_effort.empty() && !dropped.contains("reasoning_effort")) {
      json.Key("reasoning_effort").String(sampling.reasoning_effort);
    }
  }
};

}  // namespace

std::unique_ptr<Codec> MakeOpenAiCodec() { return std::make_unique<OpenAiCodec>(); }

}  // namespace kerf::llm
