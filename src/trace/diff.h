// What differs between two steps, or between two tasks.
//
//   KERF_ASSIGN_OR_RETURN(DiffSide a, LoadDiffSide(fs, *ResolveAddress(fs, "logs/relu:0:2")));
//   …
//   KERF_ASSIGN_OR_RETURN(TraceDiff diff, DiffSides(fs, a, b, {}));
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/step.h"
#include "base/file_system.h"
#include "base/result.h"
#include "trace/reader.h"

namespace kerf::trace {

enum class DiffPart { kPrompt, kResult, kReasoning, kVerdict, kLog, kNumbers };

const char* DiffPartName(DiffPart part);  // "prompt", "result" …
std::optional<DiffPart> ParseDiffPart(std::string_view name);
std::set<DiffPart> AllDiffParts();

// The records of one step (the step's own and the conductor's) or of a whole task.
struct DiffSide {
  std::string op;
  std::string op_dir;
  std::string task;
  int64_t step = -1;  // -1: the whole task
  std::vector<Step> records;
};
Result<DiffSide> LoadDiffSide(FileSystem& fs, const Address& address);

// One text of two records. The texts themselves are kept only when two steps are compared.
struct TextPartDiff {
  DiffPart part = DiffPart::kPrompt;
  size_t removed = 0;
  size_t added = 0;
  std::string a;
  std::string b;
};

// A value of meta or profile that is not the same on both sides; nullopt where a side does not have
// it.
struct ValueDiff {
  std::string path;
  std::optional<std::string> a;
  std::optional<std::string> b;
  std::optional<double> delta;    // b − a, when both are numbers
  std::optional<double> percent;  // of a, unless a is 0
};

// Two aligned records, by their index in the sides. Only what differs is listed.
struct RecordPair {
  size_t a = 0;
  size_t b = 0;
  bool action_differs = false;
  bool verdict_differs = false;
  std::vector<TextPartDiff> texts;
  std::vector<ValueDiff> values;

  // In a text or the verdict: durations and costs are never twice the same and do not make a run
  // take another course.
  [[nodiscard]] bool Diverges() const {
    return action_differs || verdict_differs || !texts.empty();
  }
  [[nodiscard]] bool Differs() const { return Diverges() || !values.empty(); }
};

// A line of the alignment: a pair, or a record that one side alone has.
struct AlignedRecord {
  std::optional<size_t> only_a;
  std::optional<size_t> only_b;
  std::optional<RecordPair> pair;
};

struct TraceDiff {
  bool of_steps = false;
  std::vector<std::string> warnings;  // why the two may not be comparable
  std::vector<AlignedRecord> records;
  // Index into records of the first one that is on one side only or Diverges().
  std::optional<size_t> first_divergence;

  [[nodiscard]] bool Identical() const;
};

// Both sides must be steps, or both tasks. Texts are read two records at a time.
Result<TraceDiff> DiffSides(FileSystem& fs, const DiffSide& a, const DiffSide& b,
                            const std::set<DiffPart>& parts);

}  // namespace kerf::trace
