// File names of a trace: the four spellings, the rules names must obey, and reading a name back.
// docs/formats/trace.md section 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "artifact/step.h"
#include "base/result.h"

namespace kerf::trace {

enum class Names { kDoc, kValue, kAgent, kIteration };

const char* NamesWord(Names names);  // "doc", "value", "agent", "iteration"
std::optional<Names> ParseNames(std::string_view word);

inline constexpr char kJournalName[] = "journal.jsonl";
inline constexpr char kConductorFolder[] = "conductor";
inline constexpr char kRecorderFolder[] = "recorder";
inline constexpr char kPrivateFolder[] = ".kerf";

// Refuses names that could leave the log directory, cannot be represented, or would make file names
// too long. The message says which rule was broken.
Status CheckNames(const std::string& log_dir, const std::string& op, const std::string& task);

// The word for the action in a file name: DO_CODER, DoCoder, coder, CheckCoder, coder_decision …
std::string ActionWord(Names names, RecordKind kind, ActionType action);

// "I0_S03_relu_VERIFY_": what stands before the parameter.
std::string FilePrefix(Names names, std::string_view op, std::string_view task, int64_t step,
                       std::string_view action_word);

// "I0_S02_verify", the folder the verifier writes.
std::string VerifyFolder(Names names, std::string_view task, int64_t step);

// What a file name says. `folder` is "", "conductor" or "recorder".
struct ParsedName {
  std::string task;
  int64_t step = 0;
  RecordKind kind = RecordKind::kDesignerOrCoder;
  std::string word;                  // as in the name, without the attempt
  std::optional<ActionType> action;  // when the word determines it
  std::string check;  // conductor: CheckDesigner, CheckCoder, AnalyzeError, or the word itself
  int64_t attempt = 1;
  std::string
      parameter;  // result, prompt, reasoning, error_log, verify_res, profile, reply, parsed
  Names names = Names::kDoc;
};

// nullopt when the name is no record's. Step numbers of any length, task ids that contain "_S01_",
// and operators that contain underscores are understood, because the operator is known from the
// folder.
std::optional<ParsedName> ParseFileName(std::string_view op, std::string_view folder,
                                        std::string_view name);

// "I0_S02_verify" or "Iteration0_Step02_verify" → task and step.
struct ParsedVerifyFolder {
  std::string task;
  int64_t step = 0;
};
std::optional<ParsedVerifyFolder> ParseVerifyFolder(std::string_view name);

}  // namespace kerf::trace
