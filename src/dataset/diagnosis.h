// Why a case failed, from the texts its run left behind.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kerf::dataset {

enum class DiagnosisKind {
  kNone,  // it did not fail
  kCompileError,
  kSymbolError,
  kLaunchFailure,
  kRuntimeError,
  kWrongResult,
  kNoOutput,
  kTimeout,
  kOutOfMemory,
  kNotMeasured,
  kUnknown,
};

const char* DiagnosisName(DiagnosisKind kind);  // "compile_error", …

struct Diagnosis {
  DiagnosisKind kind = DiagnosisKind::kNone;
  std::string line;    // the first telling line, cut at 300 bytes
  std::string source;  // "call_err_msg", "exe_err_msg", "err_msg", "names", "flags"
  std::string rule;    // the words that decided
  std::string
      symbols;  // names that do not meet, several lines; empty when they do or nobody looked
};

// The diagnosis an error text gives: kUnknown with its first line when no rule matches.
Diagnosis DiagnoseText(std::string_view text, const char* source);

// Of two diagnoses the more telling one; the first when they tell the same.
const Diagnosis& MoreTelling(const Diagnosis& a, const Diagnosis& b);

// Looks for names that a test calls and code does not bind. The texts are decoded. The answer is a
// first line and perhaps more; nullopt when everything is there or cannot be told.
using SymbolCheck =
    std::function<std::optional<std::string>(std::string_view code, std::string_view test)>;

}  // namespace kerf::dataset
