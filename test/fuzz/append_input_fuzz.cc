// Lines of `kerf trace append`: texts agree with another JSON library's, and no secret gets
// through.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "expect.h"
#include "trace/append_request.h"
#include "trace/journal_line.h"
#include "trace/prepared_record.h"
#include "trace/result_text.h"

namespace {

using kerf::Expect;
using Json = nlohmann::json;

constexpr char kSecret[] = "sk-abcdef";

const kerf::trace::Redactor& TheRedactor() {
  static const kerf::trace::Redactor redactor = [] {
    kerf::trace::Redactor made;
    made.AddSecret("A_KEY", kSecret);
    Expect(made.AddPattern("tok_[0-9]+").ok(), "the pattern is valid");
    return made;
  }();
  return redactor;
}

void CheckText(const Json& document, const char* key, const kerf::Text& given) {
  const std::string text(given.view());
  if (!document.contains(key) || document[key].is_null()) {
    Expect(text.empty(), "a text that was not given is empty");
    return;
  }
  const Json& value = document[key];
  if (value.is_string()) {
    Expect(value == text, "a text is read as JSON has it");
  } else if (value.is_boolean()) {
    Expect(text == (value.get<bool>() ? "True" : "False"), "a verdict is Python's word");
  } else {
    Expect(value.is_object(), "no other type is accepted");
    const bool base64 =
        value.size() == 1 && value.contains("base64") && value["base64"].is_string();
    if (base64) {
      Expect(kerf::DecodeBase64(value["base64"].get<std::string>()) == text, "base64 is decoded");
    } else {
      Expect(Json::parse(text, nullptr, false) == value, "a profile is kept as it was written");
    }
  }
}

void CheckAgainstJson(std::string_view line, const kerf::trace::AppendRequest& request) {
  const Json document = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return;
  const kerf::trace::TextInput& input = request.input;
  const auto name = [&](const char* key) {
    return document[key].is_string() ? document[key].get<std::string>() : document[key].dump();
  };
  Expect(name("op_name") == request.op && name("task_id") == request.task, "names are the same");
  CheckText(document, "res", input.res);
  CheckText(document, "prompt", input.prompt);
  CheckText(document, "reasoning", input.reasoning);
  CheckText(document, "verify_res", input.verify_res);
  CheckText(document, "verify_log", input.verify_log);
  CheckText(document, "profile", input.profile);
  if (!input.meta.empty()) Expect(Json::parse(input.meta) == document["meta"], "meta is the same");
}

void CheckClean(const std::string& text) {
  Expect(text.find(kSecret) == std::string::npos, "no secret is stored");
}

void CheckPrepared(const kerf::trace::PreparedRecord& record) {
  kerf::trace::JournalLine line;
  line.seq = 1;
  line.step.task = "0";
  line.step.kind = record.kind;
  line.step.redacted = record.redacted;
  line.step.reply_frame = record.reply_frame;
  line.step.meta = record.meta;
  line.verify_res = record.verify_res;
  for (const kerf::trace::PreparedFile& file : record.files) {
    CheckClean(std::string(file.content.view()));
    Expect(file.sha256 == kerf::Sha256Hex(file.content.view()), "the hash is the content's");
  }
  const std::string encoded = kerf::trace::EncodeLine(line);
  CheckClean(encoded);
  Expect(encoded.find('\n') == encoded.size() - 1, "a journal line is one line");
  const auto decoded =
      kerf::trace::DecodeLine(std::string_view(encoded).substr(0, encoded.size() - 1));
  Expect(decoded.ok(), "the journal line can be read");
  Expect(decoded->step.meta == record.meta && decoded->verify_res == record.verify_res,
         "the journal line says the same");
}

// Nothing a model said is lost, unless it was redacted.
void CheckReply(std::string_view reply, const kerf::trace::PreparedRecord& record) {
  if (record.kind != kerf::RecordKind::kDesignerOrCoder || !record.redacted.empty()) return;
  const std::string_view result = record.files[0].content.view();
  if (record.reply_frame.empty()) {
    Expect(result == reply, "a reply without frame is stored raw");
    return;
  }
  kerf::JsonReader reader(record.reply_frame);
  kerf::trace::ReplyFrame frame;
  Expect(kerf::trace::DecodeReplyFrame(reader, frame), "the frame can be read");
  const kerf::Result<std::string> raw = kerf::trace::RebuildReply(frame, result);
  Expect(raw.ok() && *raw == reply, "the raw reply comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  std::string overwritten(line);
  const kerf::Result<kerf::trace::AppendRequest> request =
      kerf::trace::ParseAppendRequest(overwritten);
  if (!request.ok()) {
    Expect(!request.error().message.empty(), "a refusal says why");
    return 0;
  }
  CheckAgainstJson(line, *request);
  for (const auto names : {kerf::trace::Names::kDoc, kerf::trace::Names::kAgent}) {
    const kerf::Result<kerf::trace::PreparedRecord> record =
        kerf::trace::PrepareRecord(request->input, names, TheRedactor());
    if (!record.ok()) continue;
    CheckPrepared(*record);
    CheckReply(request->input.res.view(), *record);
  }
  return 0;
}
