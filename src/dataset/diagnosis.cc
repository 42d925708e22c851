// All rules' words are searched in one pass over the text (the automaton of Aho and Corasick): a
// data set has thousands of error texts. Of the words found the one whose rule stands first in the
// order of ranks wins, and of those the one that stands first in the text.
#include "dataset/diagnosis.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kerf::dataset {
namespace {

struct Rule {
  int rank;  // smaller tells more
  DiagnosisKind kind;
  const char* words;
};

constexpr Rule kRules[] = {
    {1, DiagnosisKind::kTimeout, "Time out"},
    {1, DiagnosisKind::kTimeout, "TimeoutExpired"},
    {1, DiagnosisKind::kTimeout, "TimeoutError"},
    {1, DiagnosisKind::kTimeout, "timed out"},
    {1, DiagnosisKind::kOutOfMemory, "out of memory"},
    {1, DiagnosisKind::kOutOfMemory, "OutOfMemory"},
    {1, DiagnosisKind::kOutOfMemory, "cudaErrorMemoryAllocation"},
    {1, DiagnosisKind::kOutOfMemory, "std::bad_alloc"},
    {1, DiagnosisKind::kOutOfMemory, "MemoryError"},
    {2, DiagnosisKind::kSymbolError, "AttributeError: module '"},
    {2, DiagnosisKind::kSymbolError, "cannot import name"},
    {2, DiagnosisKind::kSymbolError, "ModuleNotFoundError"},
    {2, DiagnosisKind::kSymbolError, "No module named"},
    {2, DiagnosisKind::kSymbolError, "ImportError"},
    {2, DiagnosisKind::kSymbolError, "NameError: name '"},
    {2, DiagnosisKind::kSymbolError, "incompatible function arguments"},
    {2, DiagnosisKind::kSymbolError, "does not define module export function"},
    {2, DiagnosisKind::kSymbolError, "undefined symbol"},
    {3, DiagnosisKind::kCompileError, ": error:"},
    {3, DiagnosisKind::kCompileError, "fatal error:"},
    {3, DiagnosisKind::kCompileError, "undefined reference to"},
    {3, DiagnosisKind::kCompileError, "CompilationError"},
    {3, DiagnosisKind::kCompileError, "Error building extension"},
    {3, DiagnosisKind::kCompileError, "ninja: build stopped"},
    {3, DiagnosisKind::kCompileError, "SyntaxError"},
    {3, DiagnosisKind::kCompileError, "IndentationError"},
    {4, DiagnosisKind::kLaunchFailure, "invalid configuration argument"},
    {4, DiagnosisKind::kLaunchFailure, "invalid device function"},
    {4, DiagnosisKind::kLaunchFailure, "launch failure"},
    {4, DiagnosisKind::kLaunchFailure, "LaunchFailure"},
    {4, DiagnosisKind::kLaunchFailure, "illegal memory access"},
    {4, DiagnosisKind::kLaunchFailure, "IllegalAddress"},
    {4, DiagnosisKind::kLaunchFailure, "misaligned address"},
    {4, DiagnosisKind::kLaunchFailure, "device-side assert"},
    {4, DiagnosisKind::kLaunchFailure, "no kernel image is available"},
    {4, DiagnosisKind::kLaunchFailure, "too many resources requested"},
    {4, DiagnosisKind::kLaunchFailure, "OutOfResources"},
    {4, DiagnosisKind::kLaunchFailure, "Memory access fault by GPU"},
    {4, DiagnosisKind::kLaunchFailure, "HIP error"},
    {4, DiagnosisKind::kLaunchFailure, "CUDA error"},
    {5, DiagnosisKind::kNoOutput, "Generated output is None"},
    {5, DiagnosisKind::kNoOutput, "Reference output is None"},
    {5, DiagnosisKind::kNoOutput, "Code is empty"},
    {5, DiagnosisKind::kWrongResult, "does not match reference"},
    {5, DiagnosisKind::kWrongResult, "Tensor-likes are not"},
    {5, DiagnosisKind::kWrongResult, "Mismatched elements"},
    {5, DiagnosisKind::kWrongResult, "should be of the same type"},
    {5, DiagnosisKind::kWrongResult, "not close"},
    {5, DiagnosisKind::kWrongResult, "AssertionError"},
    {6, DiagnosisKind::kRuntimeError, "Segmentation fault"},
    {6, DiagnosisKind::kRuntimeError, "core dumped"},
    {6, DiagnosisKind::kRuntimeError, "terminate called"},
    {6, DiagnosisKind::kRuntimeError, "RuntimeError"},
    {6, DiagnosisKind::kRuntimeError, "TypeError"},
    {6, DiagnosisKind::kRuntimeError, "ValueError"},
    {6, DiagnosisKind::kRuntimeError, "IndexError"},
    {6, DiagnosisKind::kRuntimeError, "KeyError"},
    {6, DiagnosisKind::kRuntimeError, "AttributeError"},
    {6, DiagnosisKind::kRuntimeError, "ZeroDivisionError"},
    {6, DiagnosisKind::kRuntimeError, "NotImplementedError"},
    {7, DiagnosisKind::kRuntimeError, "Could not execute module"},
    {7, DiagnosisKind::kRuntimeError, "failed to test the code due to"},
    {7, DiagnosisKind::kRuntimeError, "Error: "},
    {7, DiagnosisKind::kRuntimeError, "Exception"},
};
constexpr int kUnknownRank = 8;

struct Match {
  const Rule* rule = nullptr;
  size_t end = 0;  // behind the words
};

class Automaton {
 public:
  Automaton() {
    for (const Rule& rule : kRules) Insert(rule);
    Link();
  }

  [[nodiscard]] Match Best(std::string_view text) const {
    Match best;
    uint16_t state = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      state = next_[state * classes_ + class_of_[static_cast<unsigned char>(text[i])]];
      const Rule* rule = found_[state];
      if (rule != nullptr && (best.rule == nullptr || rule->rank < best.rule->rank)) {
        best = {rule, i + 1};
        if (rule->rank == 1) break;
      }
    }
    return best;
  }

 private:
  void Insert(const Rule& rule) {
    size_t state = 0;
    for (const char* c = rule.words; *c != '\0'; ++c) {
      uint8_t& of = class_of_[static_cast<unsigned char>(*c)];
      if (of == 0) of = static_cast<uint8_t>(classes_used_++);
      uint16_t& next = next_[state * classes_ + of];
      if (next == 0) {
        next = static_cast<uint16_t>(found_.size());
        found_.push_back(nullptr);
        next_.resize(found_.size() * classes_);
      }
      // `next` may have moved with the table.
      state = next_[state * classes_ + of];
    }
    found_[state] = &rule;
  }

  void Link() {
    std::vector<uint16_t> queue;
    std::vector<uint16_t> fallback(found_.size());
    for (size_t c = 0; c < classes_; ++c) {
      if (next_[c] != 0) queue.push_back(next_[c]);
    }
    for (size_t at = 0; at < queue.size(); ++at) {
      const size_t state = queue[at];
      const size_t back = fallback[state];
      if (found_[back] != nullptr &&
          (found_[state] == nullptr || found_[back]->rank < found_[state]->rank)) {
        found_[state] = found_[back];
      }
      for (size_t c = 0; c < classes_; ++c) {
        uint16_t& next = next_[state * classes_ + c];
        if (next == 0) {
          next = next_[back * classes_ + c];
        } else {
          fallback[next] = next_[back * classes_ + c];
          queue.push_back(next);
        }
      }
    }
  }

  static constexpr size_t classes_ = 80;  // more than there are different characters in the rules
  std::array<uint8_t, 256> class_of_{};
  size_t classes_used_ = 1;
  std::vector<uint16_t> next_ = std::vector<uint16_t>(classes_);
  std::vector<const Rule*> found_ = {nullptr};
};

const Automaton& Rules() {
  static const Automaton automaton;
  return automaton;
}

int RankOf(const Diagnosis& diagnosis) {
  if (diagnosis.kind == DiagnosisKind::kNone) return kUnknownRank + 1;
  for (const Rule& rule : kRules) {
    if (diagnosis.rule == rule.words) return rule.rank;
  }
  return kUnknownRank;
}

// The line around `at`, without white space at its ends.
std::string LineAt(std::string_view text, size_t at) {
  constexpr size_t kMost = 300;
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::string_view line = text.substr(begin, std::min(text.find('\n', at), text.size()) - begin);
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  if (line.size() <= kMost) return std::string(line);
  size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0U) == 0x80U) --cut;
  return std::string(line.substr(0, cut)) + "…";
}

}  // namespace

const char* DiagnosisName(DiagnosisKind kind) {
  switch (kind) {
    case DiagnosisKind::kNone:
      return "none";
    case DiagnosisKind::kCompileError:
      return "compile_error";
    case DiagnosisKind::kSymbolError:
      return "symbol_error";
    case DiagnosisKind::kLaunchFailure:
      return "launch_failure";
    case DiagnosisKind::kRuntimeError:
      return "runtime_error";
    case DiagnosisKind::kWrongResult:
      return "wrong_result";
    case DiagnosisKind::kNoOutput:
      return "no_output";
    case DiagnosisKind::kTimeout:
      return "timeout";
    case DiagnosisKind::kOutOfMemory:
      return "out_of_memory";
    case DiagnosisKind::kNotMeasured:
      return "not_measured";
    case DiagnosisKind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Diagnosis DiagnoseText(std::string_view text, const char* source) {
  // Logs reach megabytes; what happened stands at the front, and how it ended at the back.
  constexpr size_t kFront = size_t{256} << 10;
  const Match match = Rules().Best(text.substr(0, kFront));
  if (match.rule == nullptr) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return {DiagnosisKind::kUnknown, LineAt(text, first), source, "", ""};
  }
  return {match.rule->kind, LineAt(text, match.end - 1), source, match.rule->words, ""};
}

const Diagnosis& MoreTelling(const Diagnosis& a, const Diagnosis& b) {
  return RankOf(b) < RankOf(a) ? b : a;
}

}  // namespace kerf::dataset
