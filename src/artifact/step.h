// One step of a task: what is handed in to be recorded, and what a reader finds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/action.h"

namespace kerf {

enum class RecordKind { kDesignerOrCoder, kVerifier, kConductor };

const char* RecordKindName(RecordKind kind);  // "designer_or_coder", "verifier", "conductor"
std::optional<RecordKind> ParseRecordKind(std::string_view text);

// What the caller wants recorded. Texts may hold any bytes.
struct StepInput {
  RecordKind kind = RecordKind::kDesignerOrCoder;
  ActionType action = ActionType::kDoDesigner;
  // designer, coder, conductor
  std::string res;
  std::string prompt;
  std::string reasoning;
  // verifier
  std::string verify_res;
  std::string verify_log;
  std::string profile;
  // A JSON object, or empty: the caller's own facts (duration_ms, model, tokens …).
  std::string meta;
};

struct StepFile {
  std::string name;  // relative to the operator's folder: "conductor/I0_S01_…_prompt.txt"
  uint64_t bytes = 0;
  std::string sha256;    // empty when no journal vouches for the file
  std::string encoding;  // likewise
};

enum class Verification { kNone, kPassed, kFailed, kUnknown };

const char* VerificationName(Verification verification);  // "", "passed", "failed", "unknown"
// "True", "passed", "ok" … → kPassed; "False", "failed" … → kFailed; anything else → kUnknown.
Verification ParseVerification(std::string_view verify_res);

struct RedactionNote {
  std::string what;
  int64_t count = 0;
};

// A step as read back.
struct Step {
  std::string task;
  int64_t step = 0;
  RecordKind kind = RecordKind::kDesignerOrCoder;
  // AIKG's name where it is known ("DO_CODER"), else the word in the file name ("kernel_gen").
  std::string action;
  std::string check;    // conductor only
  int64_t attempt = 1;  // conductor only: second and later records of one check
  std::string names;    // "doc", "value", "agent", "iteration"
  std::string time;     // empty when unknown
  Verification verification = Verification::kNone;
  std::vector<StepFile> files;
  std::vector<RedactionNote> redacted;
  std::string meta;  // JSON object, or empty
  std::string
      reply_frame;  // JSON object, or empty: what the result file does not say of the raw reply
  bool journaled = false;
  bool recovered = false;
};

// The parameter of a record's file name: "…_DO_CODER_result.txt" → "result". Empty when it has
// none.
std::string StepFileParameter(const StepFile& file);

}  // namespace kerf
