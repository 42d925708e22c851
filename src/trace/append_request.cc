#include "trace/append_request.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/json_reader.h"

namespace kerf::trace {
namespace {

constexpr char kMembers[] =
    "kind, op_name, task_id, action_type, res, prompt, reasoning, verify_res, verify_log, profile, "
    "meta";

class RequestReader {
 public:
  explicit RequestReader(std::span<char> line) : reader_(line) {}

  Result<AppendRequest> Run() {
    if (reader_.Peek() != JsonType::kObject) {
      return InvalidInput("the line is not a JSON object");
    }
    std::string key;
    for (reader_.BeginObject(); reader_.NextKey(key);) {
      // A repeated member would silently replace the first.
      if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) {
        return InvalidInput("member \"" + key + "\" appears twice");
      }
      KERF_RETURN_IF_ERROR(ReadMember(key));
      seen_.push_back(key);
    }
    if (!reader_.Finish()) return InvalidInput("the line is not valid JSON: " + reader_.error());
    KERF_RETURN_IF_ERROR(CheckComplete());
    return std::move(request_);
  }

 private:
  Status ReadMember(const std::string& key) {
    TextInput& input = request_.input;
    if (key == "kind") return ReadKind();
    if (key == "action_type") return ReadAction();
    if (key == "op_name") return ReadName(key, request_.op);
    if (key == "task_id") return ReadName(key, request_.task);
    if (key == "res") return ReadText(key, input.res);
    if (key == "prompt") return ReadText(key, input.prompt);
    if (key == "reasoning") return ReadText(key, input.reasoning);
    if (key == "verify_res") return ReadText(key, input.verify_res);
    if (key == "verify_log") return ReadText(key, input.verify_log);
    if (key == "profile") return ReadText(key, input.profile);
    if (key == "meta") return ReadMeta();
    return InvalidInput("unknown member \"" + key + "\"; known are " + kMembers +
                        " (put facts of your own into meta)");
  }

  Status ReadKind() {
    std::string word;
    if (!ReadWord(word)) return Malformed("kind");
    const std::optional<RecordKind> kind = ParseRecordKind(word);
    if (!kind.has_value()) {
      return InvalidInput("kind \"" + word +
                          "\" is none of designer_or_coder, verifier, conductor");
    }
    request_.input.kind = *kind;
    has_kind_ = true;
    return {};
  }

  Status ReadAction() {
    std::string word;
    if (!ReadWord(word)) return Malformed("action_type");
    const std::optional<ActionType> action = ParseAction(word);
    if (!action.has_value()) {
      return InvalidInput("action_type \"" + word +
                          "\" is none of DO_DESIGNER, FIX_DESIGNER, DO_CODER, FIX_CODER, "
                          "DO_CODER_DIRECT, VERIFY");
    }
    request_.input.action = *action;
    has_action_ = true;
    return {};
  }

  // A task id is often a number in the caller's program.
  Status ReadName(const std::string& key, std::string& out) {
    if (reader_.Peek() == JsonType::kNumber) {
      int64_t number = 0;
      if (!reader_.ReadInt(number)) {
        return InvalidInput("\"" + key + "\" must be a string or a whole number");
      }
      out = std::to_string(number);
      return {};
    }
    return ReadWord(out) ? Status() : Malformed(key);
  }

  // Leaves the reader well when something else than a string comes: that is still valid JSON.
  bool ReadWord(std::string& out) {
    return reader_.Peek() == JsonType::kString && reader_.ReadString(out);
  }

  Status ReadText(const std::string& key, Text& out) {
    switch (reader_.Peek()) {
      case JsonType::kString:
        return reader_.ReadInPlace(out) ? Status() : Malformed(key);
      case JsonType::kNull:
        return reader_.ReadNull() ? Status() : Malformed(key);
      case JsonType::kObject:
        return ReadObjectText(key, out);
      case JsonType::kBool:
        if (key == "verify_res") {  // AIKG stores str(bool)
          bool value = false;
          if (!reader_.ReadBool(value)) return Malformed(key);
          out = value ? "True" : "False";
          return {};
        }
        [[fallthrough]];
      default:
        return Malformed(key);
    }
  }

  // {"base64":"…"}; for the profile also any other object, kept as it was written.
  Status ReadObjectText(const std::string& key, Text& out) {
    std::string_view raw;
    if (!reader_.ReadRaw(raw)) return Malformed(key);
    JsonReader object(raw);
    std::string name;
    std::string encoded;
    object.BeginObject();
    const bool is_base64 = object.NextKey(name) && name == "base64" &&
                           object.Peek() == JsonType::kString && object.ReadString(encoded) &&
                           !object.NextKey(name) && object.Finish();
    if (!is_base64) {
      if (key != "profile") return Malformed(key);
      out = std::string(raw);
      return {};
    }
    std::optional<std::string> bytes = DecodeBase64(encoded);
    if (!bytes.has_value()) return InvalidInput("\"" + key + "\" has invalid base64");
    out = std::move(*bytes);
    return {};
  }

  Status ReadMeta() {
    if (reader_.Peek() == JsonType::kNull) return reader_.ReadNull() ? Status() : Malformed("meta");
    std::string_view raw;
    if (reader_.Peek() != JsonType::kObject || !reader_.ReadRaw(raw)) {
      return reader_.ok() ? InvalidInput("\"meta\" must be a JSON object") : Malformed("meta");
    }
    request_.input.meta = raw;
    return {};
  }

  Status Malformed(const std::string& key) {
    if (reader_.ok()) {
      return InvalidInput("\"" + key + "\" must be a string, or {\"base64\":\"…\"} for a text");
    }
    return InvalidInput("the line is not valid JSON in \"" + key + "\": " + reader_.error());
  }

  Status CheckComplete() {
    if (!has_kind_) return InvalidInput("\"kind\" is missing");
    if (request_.op.empty()) return InvalidInput("\"op_name\" is missing or empty");
    if (request_.task.empty()) return InvalidInput("\"task_id\" is missing or empty");
    if (!has_action_) {
      if (request_.input.kind != RecordKind::kVerifier) {
        return InvalidInput("\"action_type\" is missing");
      }
      request_.input.action = ActionType::kVerify;
    }
    return CheckTexts();
  }

  // A text that records of this kind do not have would be lost.
  Status CheckTexts() {
    const TextInput& input = request_.input;
    const bool verifier = input.kind == RecordKind::kVerifier;
    const std::pair<const char*, const Text*> foreign[] = {
        {verifier ? "res" : "verify_res", verifier ? &input.res : &input.verify_res},
        {verifier ? "prompt" : "verify_log", verifier ? &input.prompt : &input.verify_log},
        {verifier ? "reasoning" : "profile", verifier ? &input.reasoning : &input.profile}};
    for (const auto& [name, text] : foreign) {
      if (text->empty()) continue;
      return InvalidInput(std::string("a ") + RecordKindName(input.kind) + " record has no \"" +
                          name + "\"; put it into meta or into a record of another kind");
    }
    return {};
  }

  JsonReader reader_;
  AppendRequest request_;
  std::vector<std::string> seen_;
  bool has_kind_ = false;
  bool has_action_ = false;
};

}  // namespace

Result<AppendRequest> ParseAppendRequest(std::span<char> line) { return RequestReader(line).Run(); }

}  // namespace kerf::trace
