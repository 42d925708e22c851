#include "trace/names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/file_system.h"
#include "base/utf8.h"

namespace kerf::trace {
namespace {

constexpr size_t kMaxFileName = 255;  // NAME_MAX of every common Linux file system
constexpr size_t kMaxPath = 4095;     // PATH_MAX without the final NUL

// The longest things that may follow "I{task}_S{step}_{op}": a step of nine digits and the longest
// action, attempt and parameter of any spelling.
constexpr std::string_view kLongestStep = "123456789";
constexpr std::string_view kLongestTail = "_conductor_decision_999_reasoning.txt";

struct Parameter {
  std::string_view word;
  std::string_view extension;
};

constexpr std::array<Parameter, 8> kParameters = {{{"error_log", ".txt"},
                                                   {"verify_res", ".txt"},
                                                   {"result", ".txt"},
                                                   {"prompt", ".txt"},
                                                   {"reasoning", ".txt"},
                                                   {"profile", ".json"},
                                                   {"reply", ".txt"},
                                                   {"parsed", ".txt"}}};

Status CheckOne(const char* what, const std::string& name) {
  const std::string subject = std::string(what) + " '" + name + "'";
  if (name.empty()) return InvalidInput(std::string(what) + " is empty");
  if (name == "." || name == "..") {
    return InvalidInput(subject + " would leave the log directory; choose an ordinary name");
  }
  for (const char c : name) {
    if (c == '/') {
      return InvalidInput(subject +
                          " contains '/', which would leave its folder; use '_' or '-' instead");
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return InvalidInput(std::string(what) +
                          " contains a NUL or another control character; remove it");
    }
  }
  if (DetectEncoding(name) != TextEncoding::kUtf8) {
    return InvalidInput(std::string(what) + " is not valid UTF-8");
  }
  for (size_t i = 0; i < name.size();) {
    const Utf8Char c = DecodeUtf8(std::string_view(name).substr(i));
    i += c.length;
    const bool control = c.value >= 0x80 && c.value < 0xA0;
    const bool separator = c.value == 0x2028 || c.value == 0x2029;
    const bool direction =
        (c.value >= 0x202A && c.value <= 0x202E) || (c.value >= 0x2066 && c.value <= 0x2069);
    if (control || separator || direction) {
      return InvalidInput(std::string(what) +
                          " contains a control character that a terminal would act on; remove it");
    }
  }
  return {};
}

std::string StepDigits(int64_t step) {
  std::string digits = std::to_string(step);
  return digits.size() < 2 ? "0" + digits : digits;
}

// Splits "I{task}_S{digits}" or "Iteration{task}_Step{digits}".
struct Head {
  std::string task;
  int64_t step = 0;
  bool iteration = false;
};

std::optional<Head> ParseHeadAs(std::string_view head, std::string_view before,
                                std::string_view between) {
  if (!head.starts_with(before)) return std::nullopt;
  const size_t at = head.rfind(between);
  if (at == std::string_view::npos || at <= before.size()) return std::nullopt;
  const std::string_view digits = head.substr(at + between.size());
  if (digits.size() < 2 || digits.size() > 9 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  Head parsed;
  std::from_chars(digits.data(), digits.data() + digits.size(), parsed.step);
  parsed.task = head.substr(before.size(), at - before.size());
  return parsed;
}

std::optional<Head> ParseHead(std::string_view head) {
  std::optional<Head> parsed = ParseHeadAs(head, "Iteration", "_Step");
  if (parsed.has_value()) {
    parsed->iteration = true;
    return parsed;
  }
  return ParseHeadAs(head, "I", "_S");
}

// Finds the split "head _op_ word" whose head is a valid one. The last such split wins: a task id
// may itself contain
// "_S01_relu_", what follows the real operator may not.
std::optional<Head> SplitHead(std::string_view stem, std::string_view op, std::string_view& word) {
  const std::string middle = "_" + std::string(op) + "_";
  for (size_t at = stem.rfind(middle); at != std::string_view::npos && at > 0;
       at = stem.rfind(middle, at - 1)) {
    std::optional<Head> head = ParseHead(stem.substr(0, at));
    if (head.has_value()) {
      word = stem.substr(at + middle.size());
      return head;
    }
  }
  return std::nullopt;
}

// "CheckCoder_2" → "CheckCoder", 2.
void TakeAttempt(std::string_view& word, int64_t& attempt) {
  const size_t at = word.rfind('_');
  if (at == std::string_view::npos || at == 0) return;
  const std::string_view digits = word.substr(at + 1);
  if (digits.empty() || digits.size() > 9 || digits[0] == '0' ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return;
  }
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (number < 2) return;
  attempt = number;
  word = word.substr(0, at);
}

bool IsAgentSpelling(std::string_view word) {
  return word == "designer" || word == "coder" || word == "verifier";
}

void ClassifyMain(ParsedName& parsed, bool iteration) {
  parsed.action = ParseAction(parsed.word);
  if (parsed.action.has_value()) {
    parsed.names = parsed.word == ActionName(*parsed.action) ? Names::kDoc : Names::kValue;
  } else {
    parsed.names = iteration ? Names::kIteration : Names::kAgent;
  }
  const bool verifier = parsed.word == "verifier" || parsed.action == ActionType::kVerify;
  parsed.kind = verifier ? RecordKind::kVerifier : RecordKind::kDesignerOrCoder;
  if (parsed.word == "verifier") parsed.action = ActionType::kVerify;
}

void ClassifyConductor(ParsedName& parsed, bool iteration) {
  parsed.kind = RecordKind::kConductor;
  std::string_view word = parsed.word;
  parsed.names =
      iteration ? Names::kIteration : (word.ends_with("_decision") ? Names::kAgent : Names::kDoc);
  if (word == "designer_decision") word = "CheckDesigner";
  if (word == "coder_decision") word = "CheckCoder";
  for (const char* analysis :
       {"decision_decision", "conductor_decision", "kernel_conductor_decision", "decision"}) {
    if (word == analysis) word = "AnalyzeError";
  }
  parsed.check = word;
}

}  // namespace

const char* NamesWord(Names names) {
  switch (names) {
    case Names::kDoc:
      return "doc";
    case Names::kValue:
      return "value";
    case Names::kAgent:
      return "agent";
    case Names::kIteration:
      return "iteration";
  }
  return "";
}

std::optional<Names> ParseNames(std::string_view word) {
  for (const Names names : {Names::kDoc, Names::kValue, Names::kAgent, Names::kIteration}) {
    if (word == NamesWord(names)) return names;
  }
  return std::nullopt;
}

Status CheckNames(const std::string& log_dir, const std::string& op, const std::string& task) {
  KERF_RETURN_IF_ERROR(CheckOne("op_name", op));
  KERF_RETURN_IF_ERROR(CheckOne("task_id", task));
  if (op[0] == '.') {
    return InvalidInput("op_name '" + op +
                        "' begins with a dot, which is reserved for kerf's own "
                        "folders; choose another name");
  }
  for (const char* reserved :
       {kJournalName, "verification_results.jsonl", "failed_calls.jsonl", "passed_cases"}) {
    if (op == reserved) {
      return InvalidInput("op_name '" + op +
                          "' is the name of a part of the log directory; choose "
                          "another name");
    }
  }
  const size_t longest = std::string_view("Iteration_Step_").size() + task.size() +
                         kLongestStep.size() + op.size() + kLongestTail.size();
  if (longest > kMaxFileName) {
    return InvalidInput("op_name and task_id have " + std::to_string(op.size() + task.size()) +
                        " bytes together; file names would exceed 255 bytes, shorten them by " +
                        std::to_string(longest - kMaxFileName));
  }
  const size_t path =
      log_dir.size() + 1 + op.size() + 1 + std::string_view(kConductorFolder).size() + 1 + longest;
  if (path > kMaxPath) {
    return InvalidInput("paths below " + log_dir +
                        " would exceed 4095 bytes; use a shorter log "
                        "directory");
  }
  return {};
}

std::string ActionWord(Names names, RecordKind kind, ActionType action) {
  const bool spelled_by_agent = names == Names::kAgent || names == Names::kIteration;
  if (kind == RecordKind::kConductor) {
    const char* check = ConductorCheck(action);
    KERF_CHECK(check != nullptr, "EXIT has no conductor record");
    if (!spelled_by_agent) return check;
    if (IsDesigner(action)) return "designer_decision";
    if (IsCoder(action)) return "coder_decision";
    return names == Names::kAgent ? "decision_decision" : "conductor_decision";
  }
  if (spelled_by_agent) {
    if (IsDesigner(action)) return "designer";
    return IsCoder(action) ? "coder" : "verifier";
  }
  return names == Names::kDoc ? ActionName(action) : ActionValue(action);
}

std::string FilePrefix(Names names, std::string_view op, std::string_view task, int64_t step,
                       std::string_view action_word) {
  std::string prefix = names == Names::kIteration ? "Iteration" : "I";
  prefix += task;
  prefix += names == Names::kIteration ? "_Step" : "_S";
  prefix += StepDigits(step);
  prefix += '_';
  prefix += op;
  prefix += '_';
  prefix += action_word;
  prefix += '_';
  return prefix;
}

std::string VerifyFolder(Names names, std::string_view task, int64_t step) {
  const bool iteration = names == Names::kIteration;
  return (iteration ? "Iteration" : "I") + std::string(task) + (iteration ? "_Step" : "_S") +
         StepDigits(step) + "_verify";
}

std::optional<ParsedName> ParseFileName(std::string_view op, std::string_view folder,
                                        std::string_view name) {
  // A name that JSON cannot hold could not be written to the journal and found again.
  if (DetectEncoding(name) != TextEncoding::kUtf8) return std::nullopt;
  for (const Parameter& parameter : kParameters) {
    std::string_view stem = name;
    if (!stem.ends_with(parameter.extension)) continue;
    stem.remove_suffix(parameter.extension.size());
    if (!stem.ends_with(parameter.word)) continue;
    stem.remove_suffix(parameter.word.size());
    if (!stem.ends_with('_')) continue;
    stem.remove_suffix(1);

    std::string_view word;
    std::optional<Head> head = SplitHead(stem, op, word);
    if (!head.has_value() || word.empty()) return std::nullopt;
    ParsedName parsed;
    parsed.task = std::move(head->task);
    parsed.step = head->step;
    parsed.parameter = parameter.word;
    if (folder == kConductorFolder) {
      TakeAttempt(word, parsed.attempt);
      parsed.word = word;
      ClassifyConductor(parsed, head->iteration);
    } else {
      parsed.word = word;
      ClassifyMain(parsed, head->iteration);
      if (head->iteration && !IsAgentSpelling(word)) parsed.names = Names::kIteration;
    }
    return parsed;
  }
  return std::nullopt;
}

std::optional<ParsedVerifyFolder> ParseVerifyFolder(std::string_view name) {
  constexpr std::string_view kSuffix = "_verify";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  std::optional<Head> head = ParseHead(name);
  if (!head.has_value()) return std::nullopt;
  return ParsedVerifyFolder{std::move(head->task), head->step};
}

}  // namespace kerf::trace
