#include "llm/import_provider.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include "base/json_reader.h"
#include "llm/codec.h"
#include "llm/request_hash.h"
#include "llm/thinking.h"

namespace kerf::llm {
namespace {

struct Entry {
  RecordedReply record;
  std::optional<int64_t> n;  // of "<name>:<n>@<m>"
  int64_t m = 0;
  double time = 0;
};

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void ReadKey(const std::string& key, Entry& entry) {
  const size_t at = key.rfind('@');
  const size_t colon = at == std::string::npos ? at : key.rfind(':', at);
  if (colon == std::string::npos) return;
  entry.n = Number(std::string_view(key).substr(colon + 1, at - colon - 1));
  entry.m = Number(std::string_view(key).substr(at + 1)).value_or(0);
}

void ReadMessages(JsonReader& reader, std::vector<Message>& messages) {
  for (reader.BeginArray(); reader.NextElement();) {
    Message& message = messages.emplace_back();
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "role") {
        ReadOptionalText(reader, message.role);
      } else if (key == "content") {
        ReadOptionalText(reader, message.content);
      } else {
        reader.Skip();
      }
    }
  }
}

void ReadUsage(JsonReader& reader, Usage& usage) {
  if (reader.Peek() != JsonType::kObject) {
    reader.Skip();
    return;
  }
  usage.source = Usage::Source::kReported;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "prompt_tokens") {
      ReadCount(reader, usage.input_total);
    } else if (key == "completion_tokens") {
      ReadCount(reader, usage.output_total);
    } else {
      reader.Skip();
    }
  }
}

void ReadResult(JsonReader& reader, Reply& reply) {
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "content") {
      ReadOptionalText(reader, reply.text);
    } else if (key == "reasoning_content") {
      ReadOptionalText(reader, reply.reasoning);
    } else if (key == "finish_reason") {
      ReadOptionalText(reader, reply.finish_raw);
    } else if (key == "usage") {
      ReadUsage(reader, reply.usage);
    } else {
      reader.Skip();
    }
  }
  reply.finish = ParseFinish(reply.finish_raw);
  if (!reply.reasoning.empty()) return;
  SplitText split = SplitThinking(reply.text);
  reply.text = std::move(split.text);
  reply.reasoning = std::move(split.reasoning);
}

// False when it is no record: then nothing is lost by leaving it out.
bool ReadRecord(JsonReader& reader, Entry& entry) {
  bool has_result = false;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "messages" && reader.Peek() == JsonType::kArray) {
      ReadMessages(reader, entry.record.messages);
    } else if (key == "result" && reader.Peek() == JsonType::kObject) {
      ReadResult(reader, entry.record.reply);
      has_result = true;
    } else if (key == "params" && reader.Peek() == JsonType::kObject) {
      std::string_view raw;
      if (!reader.ReadRaw(raw)) return false;
      const Result<Sampling> sampling = DecodeSampling(raw);
      if (sampling.ok()) entry.record.sampling = EncodeSampling(*sampling);
    } else if (key == "create_time" && reader.Peek() == JsonType::kNumber) {
      reader.ReadDouble(entry.time);
    } else {
      reader.Skip();
    }
  }
  return has_result;
}

// "coder@0" → 0: "coder".
void ReadSnapshots(JsonReader& reader, std::map<int64_t, std::string>& agents) {
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key) && reader.Skip();) {
    const size_t at = key.rfind('@');
    if (at == std::string::npos) continue;
    const std::optional<int64_t> n = Number(std::string_view(key).substr(at + 1));
    if (n.has_value()) agents[*n] = key.substr(0, at);
  }
}

bool SameExchange(const Entry& a, const Entry& b) {
  const auto same = [](const Message& x, const Message& y) {
    return x.role == y.role && x.content == y.content;
  };
  return a.record.reply.text == b.record.reply.text &&
         std::equal(a.record.messages.begin(), a.record.messages.end(), b.record.messages.begin(),
                    b.record.messages.end(), same);
}

// Numbered ones in their order; the others are their second copies, or stand alone.
std::vector<Entry> InOrder(std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(!a.n.has_value(), a.n.value_or(0), a.m, a.time) <
           std::tuple(!b.n.has_value(), b.n.value_or(0), b.m, b.time);
  });
  std::vector<Entry> kept;
  for (Entry& entry : entries) {
    const bool copy = !entry.n.has_value() &&
                      std::any_of(kept.begin(), kept.end(),
                                  [&](const Entry& other) { return SameExchange(entry, other); });
    if (!copy) kept.push_back(std::move(entry));
  }
  return kept;
}

}  // namespace

Result<std::vector<RecordedReply>> ReadAikgRecording(std::string_view json,
                                                     const std::string& name) {
  std::vector<Entry> entries;
  std::map<int64_t, std::string> agents;
  JsonReader reader(json);
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (reader.Peek() != JsonType::kObject) {
      reader.Skip();
    } else if (key == "_node_snapshots") {
      ReadSnapshots(reader, agents);
    } else {
      Entry entry;
      ReadKey(key, entry);
      entry.record.where = name + " " + key;
      if (ReadRecord(reader, entry)) entries.push_back(std::move(entry));
    }
  }
  if (!reader.Finish()) return Corrupt(name + ": no recorded session: " + reader.error());
  if (entries.empty()) return InvalidInput(name + ": no recorded reply in it");
  std::vector<RecordedReply> records;
  for (Entry& entry : InOrder(std::move(entries))) {
    if (entry.n.has_value() && agents.contains(*entry.n)) entry.record.agent = agents[*entry.n];
    entry.record.reply.model = "recorded by AIKG";
    entry.record.reply.cost = 0;
    records.push_back(std::move(entry.record));
  }
  return records;
}

Result<std::unique_ptr<Provider>> MakeImportProvider(std::string_view json,
                                                     const std::string& name) {
  KERF_ASSIGN_OR_RETURN(std::vector<RecordedReply> records, ReadAikgRecording(json, name));
  return std::unique_ptr<Provider>(std::make_unique<RecordedProvider>(
      std::move(records),
      RecordedProvider::Options{
          .loose = true, .agent_parts = true, .name = "kerf.import", .source = name}));
}

}  // namespace kerf::llm
