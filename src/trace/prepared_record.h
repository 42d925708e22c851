// A record before it has a step number: texts checked, cleaned of secrets, formatted and hashed.
// This is the part of recording that costs processor time and touches no disk, so that it can run
// beside the writing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "artifact/step.h"
#include "base/result.h"
#include "trace/names.h"
#include "trace/redactor.h"
#include "trace/text_input.h"

namespace kerf::trace {

// The journal keeps a copy of results up to this size, so that listings need not open files.
inline constexpr size_t kShortResult = 64;

struct PreparedFile {
  const char* folder = "";     // "" or "conductor"
  const char* parameter = "";  // "result"
  const char* extension = ".txt";
  Text content;
  std::string sha256;
  std::string encoding;
};

struct PreparedRecord {
  RecordKind kind = RecordKind::kDesignerOrCoder;
  ActionType action = ActionType::kDoDesigner;
  std::vector<PreparedFile> files;
  std::string verify_res;  // when short
  std::string reply_frame;
  std::string meta;
  std::vector<RedactionNote> redacted;
  // Holds the texts that are not the record's own.
  std::shared_ptr<const void> keeps;
};

// Hashing takes as long as everything else together; these are PrepareRecord() in two parts. Files
// that have their hash are passed over; many at once take less time than one by one.
Result<PreparedRecord> PrepareTexts(TextInput input, Names names, const Redactor& redactor);
void HashFiles(const std::vector<PreparedFile*>& files);

Result<PreparedRecord> PrepareRecord(TextInput input, Names names, const Redactor& redactor);

}  // namespace kerf::trace
