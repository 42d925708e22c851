// The two wires an endpoint may speak: how a request is written and how what comes back is read.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "llm/api_error.h"
#include "llm/provider.h"
#include "llm/sse_reader.h"

namespace kerf::llm {

// What has come so far of one attempt.
struct Decoded {
  std::string text;
  std::string reasoning;
  std::string refusal;
  std::string finish_raw;
  bool finished = false;  // the server said why it stopped: without that nothing is whole
  Usage usage;
  std::string model;
  std::string id;
  std::optional<ApiError> error;  // inside the stream or the body
  std::string broken;             // why what came cannot be read; empty when it can
};

// Reads one answer. Feed it events, or the whole body when no stream came.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void OnEvent(const SseEvent& event) = 0;
  virtual void OnBody(std::string_view json) = 0;
  [[nodiscard]] const Decoded& decoded() const { return decoded_; }

 protected:
  Decoded decoded_;
};

class Codec {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  virtual ~Codec() = default;
  // "openai", "anthropic"
  [[nodiscard]] virtual const char* name() const = 0;
  [[nodiscard]] virtual std::string Url(const std::string& base_url) const = 0;
  // Without content type; the key is in them when there is one.
  [[nodiscard]] virtual Headers RequestHeaders(const std::string& key) const = 0;
  // `dropped` are members the endpoint refused; `extra` is a JSON object whose members are added.
  [[nodiscard]] virtual std::string Body(const std::string& model,
                                         const std::vector<Message>& messages,
                                         const Sampling& sampling,
                                         const std::set<std::string>& dropped,
                                         const std::string& extra) const = 0;
  // Sampling that this wire cannot express, for a note.
  [[nodiscard]] virtual std::vector<std::string> Unsent(const Sampling& sampling) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Decoder> MakeDecoder() const = 0;
};

std::unique_ptr<Codec> MakeOpenAiCodec();     // any Chat Completions endpoint
std::unique_ptr<Codec> MakeAnthropicCodec();  // Messages

// Turns what was decoded into a reply: inline thinking split off, refusals told from answers.
// `finished` must hold.
Reply ToReply(Decoded decoded);

// Counts as servers send them: any number, or null. What no server can mean is 0 or the largest.
void ReadCount(JsonReader& reader, int64_t& out);
// A text, or null.
void ReadOptionalText(JsonReader& reader, std::string& out);
// Writes the members of the JSON object `extra` that `json` lacks; see Codec::Body.
void WriteExtra(JsonWriter& json, const std::string& extra);

// The address of a call below the endpoint's; a query of the endpoint's stays behind it.
std::string WithPath(const std::string& base_url, const std::string& path);

}  // namespace kerf::llm
