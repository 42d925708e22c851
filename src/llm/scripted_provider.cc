#include "llm/scripted_provider.h"

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/json_reader.h"
#include "base/suggest.h"
#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

std::optional<ErrorCode> ParseErrorCode(std::string_view word) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidInput, ErrorCode::kNotFound, ErrorCode::kCorrupt,
        ErrorCode::kUnavailable, ErrorCode::kTimeout, ErrorCode::kDenied, ErrorCode::kIo}) {
    if (word == ErrorCodeName(code)) return code;
  }
  return std::nullopt;
}

// Reads the members of one entry; the first complaint wins.
class EntryReader {
 public:
  explicit EntryReader(JsonReader& reader) : reader_(reader) {}

  Result<ScriptedProvider::Entry> Read() {
    entry_.reply.finish = Finish::kStop;
    entry_.reply.cost = 0;
    std::string key;
    for (reader_.BeginObject(); reader_.NextKey(key);) {
      if (!Member(key) && reader_.ok() && complaint_.empty()) {
        static const std::vector<std::string> kKnown = {
            "agent", "text",   "json",  "reasoning", "finish",  "usage",
            "model", "repeat", "error", "delay_ms",  "cost_usd"};
        complaint_ = "\"" + key + "\" is not known" + DidYouMean(key, kKnown);
        reader_.Skip();
      }
    }
    if (!reader_.ok()) return InvalidInput(reader_.error());
    if (!complaint_.empty()) return InvalidInput(complaint_);
    entry_.reply.finish_raw =
        entry_.reply.finish_raw.empty() ? "stop" : std::move(entry_.reply.finish_raw);
    return std::move(entry_);
  }

 private:
  // False when nobody knows the name.
  bool Member(const std::string& key) {
    Reply& reply = entry_.reply;
    if (key == "agent") return reader_.ReadString(entry_.agent), true;
    if (key == "text") return reader_.ReadString(reply.text), true;
    if (key == "reasoning") return reader_.ReadString(reply.reasoning), true;
    if (key == "repeat") return reader_.ReadBool(entry_.repeat), true;
    if (key == "json") {
      std::string_view raw;
      if (reader_.ReadRaw(raw)) reply.text = raw;
      return true;
    }
    if (key == "finish") {
      reader_.ReadString(reply.finish_raw);
      reply.finish = ParseFinish(reply.finish_raw);
      return true;
    }
    if (key == "model") {
      reader_.ReadString(reply.model);
      reply.cost.reset();
      return true;
    }
    if (key == "cost_usd") {
      double dollars = 0;
      if (reader_.ReadDouble(dollars)) reply.cost = std::llround(dollars * 1e9);
      return true;
    }
    if (key == "delay_ms") {
      double ms = 0;
      if (reader_.ReadDouble(ms)) entry_.delay_s = ms / 1000;
      return true;
    }
    if (key == "usage") return Usage_(), true;
    if (key == "error") return Error_(), true;
    return false;
  }

  void Usage_() {
    Usage& usage = entry_.reply.usage;
    usage.source = Usage::Source::kReported;
    std::string key;
    for (reader_.BeginObject(); reader_.NextKey(key);) {
      if (key == "input") {
        reader_.ReadInt(usage.input_total);
      } else if (key == "output") {
        reader_.ReadInt(usage.output_total);
      } else if (key == "cached") {
        reader_.ReadInt(usage.input_cache_read);
      } else if (key == "reasoning") {
        reader_.ReadInt(usage.output_reasoning);
      } else {
        complaint_ = "\"usage\" has input, output, cached and reasoning, not \"" + key + "\"";
        reader_.Skip();
      }
    }
  }

  void Error_() {
    Error error{ErrorCode::kUnavailable, "scripted error"};
    if (reader_.Peek() == JsonType::kString) {
      reader_.ReadString(error.message);
      entry_.error = std::move(error);
      return;
    }
    std::string key, code;
    for (reader_.BeginObject(); reader_.NextKey(key);) {
      if (key == "message") {
        reader_.ReadString(error.message);
      } else if (key == "code") {
        reader_.ReadString(code);
        const std::optional<ErrorCode> known = ParseErrorCode(code);
        if (!known.has_value()) complaint_ = "error code \"" + code + "\" is not known";
        error.code = known.value_or(ErrorCode::kInternal);
      } else {
        complaint_ = "\"error\" has code and message, not \"" + key + "\"";
        reader_.Skip();
      }
    }
    entry_.error = std::move(error);
  }

  JsonReader& reader_;
  ScriptedProvider::Entry entry_;
  std::string complaint_;
};

}  // namespace

Result<ScriptedProvider::Script> ScriptedProvider::ReadScript(std::string_view json) {
  Script script;
  JsonReader reader(json, {.allow_control_characters = true});
  const auto read_list = [&]() -> Status {
    for (reader.BeginArray(); reader.NextElement();) {
      Result<Entry> entry = EntryReader(reader).Read();
      if (!entry.ok()) {
        return std::move(entry).error().Within("reply " +
                                               std::to_string(script.entries.size() + 1));
      }
      script.entries.push_back(*std::move(entry));
    }
    return {};
  };
  if (reader.Peek() == JsonType::kArray) {
    KERF_RETURN_IF_ERROR(read_list());
  } else {
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "replies") {
        KERF_RETURN_IF_ERROR(read_list());
      } else if (key == "per_owner") {
        reader.ReadBool(script.per_owner);
      } else {
        return InvalidInput("\"" + key + "\" is not known; there are replies and per_owner");
      }
    }
  }
  if (!reader.Finish()) return InvalidInput(reader.error());
  return script;
}

Result<std::unique_ptr<ScriptedProvider>> ScriptedProvider::Parse(std::string_view json,
                                                                  const std::string& name) {
  Result<Script> script = ReadScript(json);
  if (!script.ok()) return std::move(script).error().Within(name);
  return std::unique_ptr<ScriptedProvider>(new ScriptedProvider(*std::move(script), name));
}

std::optional<size_t> ScriptedProvider::Take(const Request& request) {
  std::vector<bool>& used = used_[script_.per_owner ? request.owner : ""];
  used.resize(script_.entries.size());
  for (size_t i = 0; i < script_.entries.size(); ++i) {
    const Entry& entry = script_.entries[i];
    if (used[i] || (!entry.agent.empty() && entry.agent != request.agent)) continue;
    used[i] = !entry.repeat;
    return i;
  }
  return std::nullopt;
}

void ScriptedProvider::Ask(Request request, Done done) {
  std::optional<size_t> index;
  bool stopped = false;
  {
    const std::lock_guard lock(mu_);
    stopped = stopped_;
    if (!stopped) index = Take(request);
  }
  if (stopped) return done(Unavailable("stopped"));
  if (!index.has_value()) {
    return done(NotFound(file_ + ": no reply is left for agent '" + request.agent + "' of " +
                         request.owner));
  }
  const Entry& entry = script_.entries[*index];
  Reply reply = entry.reply;
  reply.provider = name();
  if (reply.model.empty()) reply.model = name();
  reply.request_sha256 = RequestSha256(name(), request.messages, {});
  reply.asked = name();
  reply.took_s = entry.delay_s;
  Attempt attempt{.cause = entry.error.has_value() ? entry.error->message : "",
                  .took_s = entry.delay_s,
                  .usage = reply.usage};
  reply.attempts = {attempt};
  auto answer = [this, done = std::move(done), on_attempt = std::move(request.on_attempt), attempt,
                 error = entry.error, reply = std::move(reply)]() mutable {
    {
      const std::lock_guard lock(mu_);
      if (stopped_) error = Unavailable("stopped");
    }
    if (on_attempt) on_attempt(attempt);
    if (error.has_value()) return done(*error);
    done(std::move(reply));
  };
  if (entry.delay_s <= 0) return answer();
  timers_.After(std::chrono::nanoseconds(std::llround(entry.delay_s * 1e9)), std::move(answer));
}

void ScriptedProvider::Stop() {
  {
    const std::lock_guard lock(mu_);
    stopped_ = true;
  }
  timers_.Flush();
}

}  // namespace kerf::llm
