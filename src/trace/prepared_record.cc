#include "trace/prepared_record.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "trace/result_text.h"

namespace kerf::trace {
namespace {

Status CheckAction(RecordKind kind, ActionType action) {
  switch (kind) {
    case RecordKind::kDesignerOrCoder:
      if (!IsDesigner(action) && !IsCoder(action)) {
        return InvalidInput("action_type must be Designer or Coder");
      }
      return {};
    case RecordKind::kVerifier:
      if (action != ActionType::kVerify) return InvalidInput("action_type must be Verify");
      return {};
    case RecordKind::kConductor:
      if (ConductorCheck(action) == nullptr) {
        return InvalidInput(std::string("action_type must be the action that is judged, not ") +
                            ActionName(action));
      }
      return {};
  }
  return {};
}

class Preparer {
 public:
  Preparer(Names names, const Redactor& redactor) : names_(names), redactor_(redactor) {}

  Result<PreparedRecord> Run(TextInput input) {
    KERF_RETURN_IF_ERROR(CheckAction(input.kind, input.action));
    record_.kind = input.kind;
    record_.action = input.action;
    Redactor::Counts& counts = counts_;
    if (!input.meta.empty()) {
      KERF_ASSIGN_OR_RETURN(record_.meta, redactor_.RedactMeta(input.meta, counts));
    }
    switch (input.kind) {
      case RecordKind::kDesignerOrCoder:
        AddReply(std::move(input.res));
        AddFile("", "prompt", std::move(input.prompt));
        AddFile("", "reasoning", std::move(input.reasoning));
        break;
      case RecordKind::kVerifier:
        AddVerification(std::move(input));
        break;
      case RecordKind::kConductor:
        AddUnlessEmpty(kConductorFolder, "result", std::move(input.res));
        AddUnlessEmpty(kConductorFolder, "prompt", std::move(input.prompt));
        AddUnlessEmpty(kConductorFolder, "reasoning", std::move(input.reasoning));
        break;
    }
    record_.redacted = ToNotes(counts);
    return std::move(record_);
  }

 private:
  void AddFile(const char* folder, const char* parameter, Text content,
               const char* extension = ".txt") {
    redactor_.Redact(content, counts_);
    AddClean(folder, parameter, std::move(content), extension);
  }

  // Content that holds nothing to redact any more.
  void AddClean(const char* folder, const char* parameter, Text content, const char* extension) {
    PreparedFile file{folder, parameter, extension, std::move(content), "", ""};
    file.encoding = TextEncodingName(
        file.content.known_ascii() ? TextEncoding::kUtf8 : DetectEncoding(file.content.view()));
    record_.files.push_back(std::move(file));
  }

  void AddUnlessEmpty(const char* folder, const char* parameter, Text content,
                      const char* extension = ".txt") {
    if (!content.empty()) AddFile(folder, parameter, std::move(content), extension);
  }

  void AddReply(Text reply) {
    // Cleaned before it is taken apart: the frame must not carry what the file may not.
    redactor_.Redact(reply, counts_);
    const bool formatted = names_ == Names::kDoc || names_ == Names::kValue;
    const std::optional<CodeReply> code = formatted ? FindCodeReply(reply.view()) : std::nullopt;
    if (!code.has_value()) {
      AddClean("", "result", std::move(reply), ".txt");
      return;
    }
    std::string result = FormatCodeReply(*code);
    // Unescaping may have brought a secret together that the JSON text spelled with escapes.
    if (redactor_.Redact(result, counts_)) {
      AddClean("", "result", std::move(result), ".txt");
      return;
    }
    AddClean("", "result", std::move(result), ".txt");
    record_.reply_frame = EncodeReplyFrame(code->frame);
  }

  void AddVerification(TextInput input) {
    AddFile("", "verify_res", std::move(input.verify_res));
    const PreparedFile& result = record_.files.back();
    if (result.content.size() <= kShortResult &&
        result.encoding == TextEncodingName(TextEncoding::kUtf8)) {
      record_.verify_res = result.content.view();
    }
    AddUnlessEmpty("", "error_log", std::move(input.verify_log));
    AddUnlessEmpty("", "profile", std::move(input.profile), ".json");
  }

  const Names names_;
  const Redactor& redactor_;
  Redactor::Counts counts_;
  PreparedRecord record_;
};

}  // namespace

Result<PreparedRecord> PrepareTexts(TextInput input, Names names, const Redactor& redactor) {
  return Preparer(names, redactor).Run(std::move(input));
}

void HashFiles(const std::vector<PreparedFile*>& files) {
  std::vector<PreparedFile*> waiting;
  std::vector<std::string_view> texts;
  for (PreparedFile* file : files) {
    if (!file->sha256.empty()) continue;
    waiting.push_back(file);
    texts.push_back(file->content.view());
  }
  const std::vector<std::string> hashes = Sha256HexOfAll(texts);
  for (size_t i = 0; i < waiting.size(); ++i) waiting[i]->sha256 = hashes[i];
}

Result<PreparedRecord> PrepareRecord(TextInput input, Names names, const Redactor& redactor) {
  Result<PreparedRecord> record = PrepareTexts(std::move(input), names, redactor);
  if (!record.ok()) return record;
  std::vector<PreparedFile*> files;
  for (PreparedFile& file : record->files) files.push_back(&file);
  HashFiles(files);
  return record;
}

}  // namespace kerf::trace
