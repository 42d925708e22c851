#include "llm/codec.h"

#include <algorithm>

#include "llm/thinking.h"

namespace kerf::llm {

Reply ToReply(Decoded decoded) {
  Reply reply;
  reply.finish_raw = std::move(decoded.finish_raw);
  reply.finish = ParseFinish(reply.finish_raw);
  reply.usage = decoded.usage;
  reply.model = std::move(decoded.model);
  reply.request_id = std::move(decoded.id);
  reply.reasoning = std::move(decoded.reasoning);
  reply.text = std::move(decoded.text);
  if (reply.reasoning.empty()) {
    SplitText split = SplitThinking(reply.text);
    reply.text = std::move(split.text);
    reply.reasoning = std::move(split.reasoning);
  }
  if (!decoded.refusal.empty()) {
    reply.finish = Finish::kRefusal;
    if (reply.text.empty()) reply.text = std::move(decoded.refusal);
  }
  return reply;
}

void ReadCount(JsonReader& reader, int64_t& out) {
  constexpr double kMost = 1e12;
  if (reader.Peek() != JsonType::kNumber) {
    reader.Skip();
    return;
  }
  double value = 0;
  if (reader.ReadDouble(value)) out = static_cast<int64_t>(std::clamp(value, 0.0, kMost));
}

void ReadOptionalText(JsonReader& reader, std::string& out) {
  if (reader.Peek() == JsonType::kString) {
    reader.ReadString(out);
  } else {
    reader.Skip();
  }
}

void WriteExtra(JsonWriter& json, const std::string& extra) {
  if (extra.empty()) return;
  JsonReader reader(extra);
  std::string key;
  std::string_view raw;
  for (reader.BeginObject(); reader.NextKey(key) && reader.ReadRaw(raw);) json.Key(key).Raw(raw);
}

std::string WithPath(const std::string& base_url, const std::string& path) {
  const size_t query = std::min(base_url.find('?'), base_url.size());
  std::string url = base_url.substr(0, query);
  while (url.ends_with('/')) url.pop_back();
  return url + path + base_url.substr(query);
}

}  // namespace kerf::llm
