#include "loop/conduct/failed_calls.h"

#include <algorithm>

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace kerf::conduct {
namespace {

constexpr char kFile[] = "failed_calls.jsonl";

void WriteAttempt(JsonWriter& json, const llm::Attempt& attempt) {
  json.BeginObject().Key("http_status").Int(attempt.http_status);
  json.Key("cause").String(attempt.cause);
  json.Key("waited_s").Double(attempt.waited_s).Key("took_s").Double(attempt.took_s);
  if (attempt.usage.source != llm::Usage::Source::kNone) {
    json.Key("input").Int(attempt.usage.input_total);
    json.Key("output").Int(attempt.usage.output_total);
    json.Key("reported").Bool(attempt.usage.source == llm::Usage::Source::kReported);
  }
  if (!attempt.partial.empty()) json.Key("partial").String(attempt.partial);
  json.EndObject();
}

llm::Attempt ReadAttempt(JsonReader& json) {
  llm::Attempt attempt;
  std::string key;
  int64_t status = 0;
  bool reported = false;
  bool used = false;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "http_status") {
      json.ReadInt(status);
    } else if (key == "cause") {
      json.ReadString(attempt.cause);
    } else if (key == "input") {
      used = json.ReadInt(attempt.usage.input_total);
    } else if (key == "output") {
      used = json.ReadInt(attempt.usage.output_total);
    } else if (key == "reported") {
      json.ReadBool(reported);
    } else if (key == "partial") {
      json.ReadString(attempt.partial);
    } else {
      json.Skip();
    }
  }
  attempt.http_status = static_cast<int>(status);
  if (used) {
    attempt.usage.source =
        reported ? llm::Usage::Source::kReported : llm::Usage::Source::kEstimated;
  }
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
  KERF_ASSIGN_OR_RETURN(std::string line, redactor.RedactMeta(text, counts));
  KERF_RETURN_IF_ERROR(fs.CreateDirs(log_dir));
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs.OpenAppend(JoinPath(log_dir, kFile)));
  KERF_RETURN_IF_ERROR(file->Lock());
  Status written = file->Write(line + "\n");
  file->Unlock();
  return written;
}

Result<std::vector<FailedCall>> ReadFailedCalls(FileSystem& fs, const std::string& log_dir) {
  std::vector<FailedCall> calls;
  const Result<std::string> text = fs.ReadFile(JoinPath(log_dir, kFile));
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
