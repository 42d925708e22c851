#include "loop/conduct/failed_calls.h"

#include <algorithm>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "loop/conduct/append_line.h"
#include "loop/conduct/record_meta.h"

namespace kerf::conduct {
namespace {

llm::Usage ReadUsage(JsonReader& json) {
  llm::Usage usage;
  std::string key;
  std::string source;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "input") {
      json.ReadInt(usage.input_total);
    } else if (key == "output") {
      json.ReadInt(usage.output_total);
    } else if (key == "source") {
      json.ReadString(source);
    } else {
      json.Skip();
    }
  }
  usage.source =
      source == "reported" ? llm::Usage::Source::kReported : llm::Usage::Source::kEstimated;
  return usage;
}

llm::Attempt ReadAttempt(JsonReader& json) {
  llm::Attempt attempt;
  std::string key;
  int64_t status = 0;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "http_status") {
      json.ReadInt(status);
    } else if (key == "cause") {
      json.ReadString(attempt.cause);
    } else if (key == "tokens") {
      attempt.usage = ReadUsage(json);
    } else if (key == "partial") {
      json.ReadString(attempt.partial);
    } else {
      json.Skip();
    }
  }
  attempt.http_status = static_cast<int>(status);
  return attempt;
}

bool ReadCall(const std::string& line, FailedCall& call) {
  JsonReader json(line);
  std::string key;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "time") {
      json.ReadString(call.time);
    } else if (key == "task") {
      json.ReadString(call.owner);
    } else if (key == "agent") {
      json.ReadString(call.agent);
    } else if (key == "model") {
      json.ReadString(call.model);
    } else if (key == "error") {
      json.ReadString(call.error);
    } else if (key == "attempts") {
      for (json.BeginArray(); json.NextElement();) call.attempts.push_back(ReadAttempt(json));
    } else {
      json.Skip();
    }
  }
  return json.Finish() && !call.owner.empty();
}

}  // namespace

Status AppendFailedCall(FileSystem& fs, const std::string& log_dir, const FailedCall& call,
                        const trace::Redactor& redactor) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("time").String(call.time).Key("task").String(call.owner);
  json.Key("agent").String(call.agent).Key("model").String(call.model);
  json.Key("error").String(call.error).Key("attempts").BeginArray();
  for (const llm::Attempt& attempt : call.attempts) WriteAttempt(json, attempt);
  json.EndArray().EndObject();
  trace::Redactor::Counts counts;
  KERF_ASSIGN_OR_RETURN(const std::string line, redactor.RedactMeta(text, counts));
  return AppendLine(fs, JoinPath(log_dir, kFailedCallsName), line + "\n");
}

Result<std::vector<FailedCall>> ReadFailedCalls(FileSystem& fs, const std::string& log_dir) {
  std::vector<FailedCall> calls;
  const Result<std::string> text = fs.ReadFile(JoinPath(log_dir, kFailedCallsName));
  if (!text.ok()) {
    if (text.error().code == ErrorCode::kNotFound) return calls;
    return text.error();
  }
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    FailedCall call;
    if (ReadCall(text->substr(begin, end - begin), call)) calls.push_back(std::move(call));
    begin = end + 1;
  }
  return calls;
}

}  // namespace kerf::conduct
