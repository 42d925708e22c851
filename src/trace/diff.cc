#include "trace/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "trace/sequence_diff.h"
#include "trace/step_facts.h"
#include "trace/text_diff.h"

namespace kerf::trace {
namespace {

struct PartWords {
  DiffPart part;
  const char* name;
  const char*
      parameter;  // of the file; empty for the numbers, which come from meta and the profile
};

constexpr std::array<PartWords, 6> kParts = {{
    {DiffPart::kPrompt, "prompt", "prompt"},
    {DiffPart::kResult, "result", "result"},
    {DiffPart::kReasoning, "reasoning", "reasoning"},
    {DiffPart::kVerdict, "verdict", "verify_res"},
    {DiffPart::kLog, "log", "error_log"},
    {DiffPart::kNumbers, "numbers", ""},
}};

std::map<std::string, Fact> FactsByPath(const std::string& meta, const std::string& profile) {
  std::map<std::string, Fact> facts;
  for (Fact& fact : FlattenFacts(meta, "")) facts.insert_or_assign(fact.path, std::move(fact));
  for (Fact& fact : FlattenFacts(profile, "profile")) {
    facts.insert_or_assign(fact.path, std::move(fact));
  }
  return facts;
}

ValueDiff CompareFacts(const std::string& path, const Fact* a, const Fact* b) {
  ValueDiff diff;
  diff.path = path;
  if (a != nullptr) diff.a = a->text;
  if (b != nullptr) diff.b = b->text;
  if (a == nullptr || b == nullptr || !a->number.has_value() || !b->number.has_value()) {
    return diff;
  }
  const double delta = *b->number - *a->number;
  if (!std::isfinite(delta)) return diff;
  diff.delta = delta;
  const double percent = delta / std::fabs(*a->number) * 100;
  if (*a->number != 0 && std::isfinite(percent)) diff.percent = percent;
  return diff;
}

std::vector<ValueDiff> CompareAllFacts(const std::map<std::string, Fact>& a,
                                       const std::map<std::string, Fact>& b) {
  std::vector<ValueDiff> diffs;
  for (const auto& [path, fact] : a) {
    const auto other = b.find(path);
    if (other == b.end()) {
      diffs.push_back(CompareFacts(path, &fact, nullptr));
    } else if (fact.number.has_value() && other->second.number.has_value()
                   ? *fact.number != *other->second.number
                   : fact.text != other->second.text) {
      diffs.push_back(CompareFacts(path, &fact, &other->second));
    }
  }
  for (const auto& [path, fact] : b) {
    if (!a.contains(path)) diffs.push_back(CompareFacts(path, nullptr, &fact));
  }
  return diffs;
}

class Comparer {
 public:
  Comparer(FileSystem& fs, const DiffSide& a, const DiffSide& b, const std::set<DiffPart>& parts)
      : fs_(fs), a_(a), b_(b), parts_(parts) {}

  Result<TraceDiff> Run() {
    diff_.of_steps = a_.step >= 0;
    KERF_RETURN_IF_ERROR(Align());
    for (size_t i = 0; i < diff_.records.size() && !diff_.first_divergence.has_value(); ++i) {
      const AlignedRecord& record = diff_.records[i];
      if (!record.pair.has_value() || record.pair->Diverges()) diff_.first_divergence = i;
    }
    CheckComparable();
    return std::move(diff_);
  }

 private:
  Status Align() {
    std::map<std::string, uint32_t> numbers;
    const std::vector<uint32_t> keys_a = Keys(a_, numbers);
    const std::vector<uint32_t> keys_b = Keys(b_, numbers);
    size_t i = 0;
    size_t j = 0;
    for (const Change& change : DiffSequences(keys_a, keys_b)) {
      while (i < change.a_begin) KERF_RETURN_IF_ERROR(AddPair(i++, j++));
      for (; i < change.a_end; ++i) diff_.records.push_back({i, std::nullopt, std::nullopt});
      for (; j < change.b_end; ++j) diff_.records.push_back({std::nullopt, j, std::nullopt});
    }
    while (i < keys_a.size()) KERF_RETURN_IF_ERROR(AddPair(i++, j++));
    return {};
  }

  // Records with the same number may be aligned. Of two steps that a user names, the main records
  // are compared whatever they did.
  [[nodiscard]] std::vector<uint32_t> Keys(const DiffSide& side,
                                           std::map<std::string, uint32_t>& numbers) const {
    std::vector<uint32_t> keys;
    for (const Step& step : side.records) {
      const bool conductor = step.kind == RecordKind::kConductor;
      std::string key = RecordKindName(step.kind);
      key += conductor ? "/" + step.check : "/" + step.action;
      if (diff_.of_steps && !conductor) key = "the step itself";
      keys.push_back(numbers.emplace(key, static_cast<uint32_t>(numbers.size())).first->second);
    }
    return keys;
  }

  Status AddPair(size_t i, size_t j) {
    const Step& a = a_.records[i];
    const Step& b = b_.records[j];
    RecordPair pair;
    pair.a = i;
    pair.b = j;
    // Whoever asks for one text only does not want to hear that a repair is no first try.
    pair.action_differs = parts_ == AllDiffParts() && (a.kind != b.kind || a.action != b.action);
    pair.verdict_differs = Wants(DiffPart::kVerdict) && a.verification != b.verification;
    for (const PartWords& words : kParts) {
      if (!Wants(words.part) || *words.parameter == '\0') continue;
      // A plain pass or fail has been compared already; True and true are the same.
      const bool is_plain = words.part == DiffPart::kVerdict &&
                            (a.verification != Verification::kUnknown || pair.verdict_differs);
      if (!is_plain) KERF_RETURN_IF_ERROR(CompareText(words, a, b, pair));
    }
    if (parts_.contains(DiffPart::kNumbers)) KERF_RETURN_IF_ERROR(CompareNumbers(a, b, pair));
    diff_.records.push_back({std::nullopt, std::nullopt, std::move(pair)});
    return {};
  }

  // The log and what it was judged to be go together.
  [[nodiscard]] bool Wants(DiffPart part) const {
    return parts_.contains(part) || (part == DiffPart::kVerdict && parts_.contains(DiffPart::kLog));
  }

  // Both are read even where the journal has one hash for them: a file may have been altered since.
  Status CompareText(const PartWords& words, const Step& a, const Step& b, RecordPair& pair) {
    TextPartDiff text;
    text.part = words.part;
    KERF_ASSIGN_OR_RETURN(text.a, ReadStepText(fs_, a_.op_dir, a, words.parameter));
    KERF_ASSIGN_OR_RETURN(text.b, ReadStepText(fs_, b_.op_dir, b, words.parameter));
    if (text.a == text.b) return {};
    const TextDiff lines = DiffLines(text.a, text.b);
    text.removed = lines.removed();
    text.added = lines.added();
    if (!diff_.of_steps) {
      text.a = std::string();
      text.b = std::string();
    }
    pair.texts.push_back(std::move(text));
    return {};
  }

  Status CompareNumbers(const Step& a, const Step& b, RecordPair& pair) {
    KERF_ASSIGN_OR_RETURN(const std::string profile_a, ReadStepText(fs_, a_.op_dir, a, "profile"));
    KERF_ASSIGN_OR_RETURN(const std::string profile_b, ReadStepText(fs_, b_.op_dir, b, "profile"));
    pair.values = CompareAllFacts(FactsByPath(a.meta, profile_a), FactsByPath(b.meta, profile_b));
    return {};
  }

  // A difference in these explains all others.
  void CheckComparable() {
    if (a_.op != b_.op) Warn("operator", {a_.op}, {b_.op});
    const std::map<std::string, std::set<std::string>> values_a = SettingsOf(a_);
    const std::map<std::string, std::set<std::string>> values_b = SettingsOf(b_);
    for (const auto& [what, values] : values_a) {
      const auto other = values_b.find(what);
      if (other != values_b.end() && other->second != values) Warn(what, values, other->second);
    }
  }

  static std::map<std::string, std::set<std::string>> SettingsOf(const DiffSide& side) {
    static constexpr std::array<std::string_view, 7> kSettings = {
        "model", "device", "chip", "arch", "backend", "seed", "params.seed"};
    std::map<std::string, std::set<std::string>> settings;
    for (const Step& step : side.records) {
      for (const Fact& fact : FlattenFacts(step.meta, "")) {
        if (std::find(kSettings.begin(), kSettings.end(), fact.path) != kSettings.end()) {
          settings[fact.path].insert(fact.text);
        }
      }
    }
    return settings;
  }

  void Warn(const std::string& what, const std::set<std::string>& a,
            const std::set<std::string>& b) {
    const auto list = [](const std::set<std::string>& values) {
      std::string text;
      for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
      return text;
    };
    diff_.warnings.push_back("not comparable: " + what + " is " + list(a) + " in A, " + list(b) +
                             " in B");
  }

  FileSystem& fs_;
  const DiffSide& a_;
  const DiffSide& b_;
  const std::set<DiffPart>& parts_;
  TraceDiff diff_;
};

}  // namespace

const char* DiffPartName(DiffPart part) {
  for (const PartWords& words : kParts) {
    if (words.part == part) return words.name;
  }
  return "";
}

std::optional<DiffPart> ParseDiffPart(std::string_view name) {
  for (const PartWords& words : kParts) {
    if (name == words.name) return words.part;
  }
  return std::nullopt;
}

std::set<DiffPart> AllDiffParts() {
  std::set<DiffPart> parts;
  for (const PartWords& words : kParts) parts.insert(words.part);
  return parts;
}

bool TraceDiff::Identical() const {
  return std::all_of(records.begin(), records.end(), [](const AlignedRecord& record) {
    return record.pair.has_value() && !record.pair->Differs();
  });
}

Result<DiffSide> LoadDiffSide(FileSystem& fs, const Address& address) {
  KERF_ASSIGN_OR_RETURN(std::vector<TaskSteps> tasks,
                        ReadTasks(fs, address.run_path, address.op, address.task));
  DiffSide side{address.op, JoinPath(address.run_path, address.op), address.task, address.step, {}};
  std::vector<Step>& steps = tasks.at(0).steps;
  const int64_t last = steps.empty() ? 0 : steps.back().step;
  for (Step& step : steps) {
    if (address.step < 0 || step.step == address.step) side.records.push_back(std::move(step));
  }
  if (address.step >= 0 && side.records.empty()) {
    return NotFound("no step " + std::to_string(address.step) + " in task " + address.task +
                    " of " + side.op_dir + "; the last one is " + std::to_string(last));
  }
  return side;
}

Result<TraceDiff> DiffSides(FileSystem& fs, const DiffSide& a, const DiffSide& b,
                            const std::set<DiffPart>& parts) {
  if ((a.step < 0) != (b.step < 0)) {
    return InvalidInput(
        "one is a step and the other a whole task; give two steps (PATH:TASK:STEP) or two tasks "
        "(PATH:TASK)");
  }
  return Comparer(fs, a, b, parts).Run();
}

}  // namespace kerf::trace
