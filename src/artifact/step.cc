#include "artifact/step.h"

#include <algorithm>
#include <array>

namespace kerf {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

const char* RecordKindName(RecordKind kind) {
  switch (kind) {
    case RecordKind::kDesignerOrCoder:
      return "designer_or_coder";
    case RecordKind::kVerifier:
      return "verifier";
    case RecordKind::kConductor:
      return "conductor";
  }
  return "";
}

std::optional<RecordKind> ParseRecordKind(std::string_view text) {
  for (const RecordKind kind :
       {RecordKind::kDesignerOrCoder, RecordKind::kVerifier, RecordKind::kConductor}) {
    if (text == RecordKindName(kind)) return kind;
  }
  return std::nullopt;
}

const char* VerificationName(Verification verification) {
  switch (verification) {
    case Verification::kNone:
      return "";
    case Verification::kPassed:
      return "passed";
    case Verification::kFailed:
      return "failed";
    case Verification::kUnknown:
      return "unknown";
  }
  return "";
}

Verification ParseVerification(std::string_view verify_res) {
  std::string word;
  for (const char c : verify_res.substr(0, 32)) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  if (IsOneOf(word, {"true", "pass", "passed", "ok", "success", "1"})) {
    return Verification::kPassed;
  }
  if (IsOneOf(word, {"false", "fail", "failed", "error", "failure", "0"})) {
    return Verification::kFailed;
  }
  return Verification::kUnknown;
}

std::string StepFileParameter(const StepFile& file) {
  static constexpr std::array<std::string_view, 8> kParameters = {
      "error_log", "verify_res", "result", "prompt", "reasoning", "profile", "reply", "parsed"};
  std::string_view stem = file.name;
  const size_t dot = stem.rfind('.');
  if (dot != std::string_view::npos) stem = stem.substr(0, dot);
  for (const std::string_view parameter : kParameters) {
    if (stem.size() > parameter.size() && stem.ends_with(parameter) &&
        stem[stem.size() - parameter.size() - 1] == '_') {
      return std::string(parameter);
    }
  }
  return "";
}

}  // namespace kerf
