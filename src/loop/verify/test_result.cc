#include "loop/verify/test_result.h"

#include <algorithm>
#include <cstring>

#include "base/json_reader.h"
#include "loop/verify/compare.h"
#include "loop/verify/output_report.h"
#include "loop/verify/reduction_length.h"

namespace kerf::verify {
namespace {

constexpr std::string_view kMagic = "kerftst1";
constexpr size_t kHead = 16;  // the word and the table's length
constexpr uint64_t kResultAlignment = 64;
constexpr size_t kMostDims = 64;
constexpr size_t kMostEntries = 10000;

void ReadShape(JsonReader& json, std::vector<int64_t>& shape) {
  for (json.BeginArray(); json.NextElement();) {
    int64_t size = -1;
    if (!json.ReadInt(size) || shape.size() == kMostDims) return;
    shape.push_back(size);
  }
}

Result<TestResult::Entry> ReadEntry(JsonReader& json) {
  TestResult::Entry entry;
  std::string key;
  std::string dtype;
  int64_t offset = 0;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "name") {
      json.ReadString(entry.name);
    } else if (key == "text") {
      json.ReadString(entry.text);
    } else if (key == "dtype") {
      json.ReadString(dtype);
    } else if (key == "shape") {
      ReadShape(json, entry.spec.shape);
    } else if (key == "offset") {
      json.ReadInt(offset);
    } else {
      json.Skip();
    }
  }
  if (!json.ok()) return Corrupt("a result's table: " + json.error());
  entry.tensor = !dtype.empty();
  if (!entry.tensor) return entry;
  const std::optional<DType> known = ParseDType(dtype);
  if (known.has_value()) entry.spec.dtype = *known;
  if (!known.has_value() || offset < 0 || !IsSound(entry.spec)) {
    return Corrupt("a result's table: " + entry.name + " is no tensor kerf knows");
  }
  entry.offset = static_cast<uint64_t>(offset);
  return entry;
}

// [["float32", [4, 5]], …]
void ReadLaunched(JsonReader& json, std::vector<TensorSpec>& specs) {
  for (json.BeginArray(); json.NextElement();) {
    std::string dtype;
    TensorSpec spec;
    bool first = true;
    for (json.BeginArray(); json.NextElement(); first = false) {
      if (first) {
        json.ReadString(dtype);
      } else {
        ReadShape(json, spec.shape);
      }
    }
    const std::optional<DType> known = ParseDType(dtype);
    if (!json.ok() || specs.size() == kMostEntries) return;
    if (!known.has_value()) continue;
    spec.dtype = *known;
    if (IsSound(spec)) specs.push_back(std::move(spec));
  }
}

Status ReadTable(std::string_view table, TestResult& result) {
  JsonReader json(table);
  std::string key;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "launched") {
      ReadLaunched(json, result.launched);
    } else if (key == "launches") {
      json.ReadInt(result.launches);
    } else if (key == "entries") {
      for (json.BeginArray(); json.NextElement();) {
        KERF_ASSIGN_OR_RETURN(TestResult::Entry entry, ReadEntry(json));
        if (result.entries.size() == kMostEntries) return Corrupt("a result with too many parts");
        result.entries.push_back(std::move(entry));
      }
    } else {
      json.Skip();
    }
  }
  return json.Finish() ? Status() : Corrupt("a result's table: " + json.error());
}

// Where the two lists part, in words.
std::string StructureText(const TestResult::Entry* wanted, const TestResult::Entry* got) {
  if (got == nullptr) return wanted->name + " is missing";
  if (wanted == nullptr || wanted->name != got->name) return got->name + " does not belong there";
  const auto what = [](const TestResult::Entry& entry) {
    return entry.tensor ? entry.spec.ToString() : entry.text;
  };
  return got->name + " is " + what(*got) + ", not " + what(*wanted);
}

Finding StructureFinding(const TestResult& gold, const TestResult& got) {
  for (size_t i = 0; i < std::max(gold.entries.size(), got.entries.size()); ++i) {
    const TestResult::Entry* wanted = i < gold.entries.size() ? &gold.entries[i] : nullptr;
    const TestResult::Entry* found = i < got.entries.size() ? &got.entries[i] : nullptr;
    const bool there = wanted != nullptr && found != nullptr && wanted->name == found->name;
    if (there && wanted->tensor && found->tensor) continue;  // dtype and shape are compared later
    if (there && wanted->tensor == found->tensor && wanted->text == found->text) continue;
    const std::string text = StructureText(wanted, found);
    if (!there) return {VerdictStatus::kWrongShape, "count", text};
    if (wanted->tensor != found->tensor) return {VerdictStatus::kWrongDType, "container", text};
    const bool size = wanted->text.find(" of ") != std::string::npos;
    return size ? Finding{VerdictStatus::kWrongShape, "count", text}
                : Finding{VerdictStatus::kWrongValue, "value", text};
  }
  return {};
}

}  // namespace

bool TestResult::empty() const {
  return entries.empty() || (entries.size() == 1 && entries[0].text.starts_with("NoneType"));
}

Result<TestResult> ParseTestResult(std::string bytes) {
  TestResult result;
  result.bytes = std::move(bytes);
  const std::string_view all = result.bytes;
  if (all.size() < kHead || !all.starts_with(kMagic)) return Corrupt("a result without its head");
  uint64_t length = 0;
  std::memcpy(&length, all.data() + kMagic.size(), sizeof length);
  if (length > all.size() - kHead) return Corrupt("a result whose table breaks off");
  KERF_RETURN_IF_ERROR(ReadTable(all.substr(kHead, length), result));
  const uint64_t first =
      (kHead + length + kResultAlignment - 1) / kResultAlignment * kResultAlignment;
  for (TestResult::Entry& entry : result.entries) {
    if (!entry.tensor) continue;
    const uint64_t size = entry.spec.bytes();
    const bool empty = size == 0;
    if (!empty && (entry.offset % kResultAlignment != 0 || first > all.size() ||
                   entry.offset > all.size() - first || size > all.size() - first - entry.offset)) {
      return Corrupt("a result whose " + entry.name + " lies outside of it");
    }
    entry.offset = empty ? 0 : entry.offset + first;
  }
  return result;
}

ResultComparison CompareResults(const TestResult& gold, const TestResult& got, int64_t seed,
                                int threads) {
  ResultComparison found;
  found.finding = StructureFinding(gold, got);
  if (found.finding.bad()) {
    found.identical = false;
    found.log = "seed " + std::to_string(seed) + ", " + found.finding.text + "\n";
    return found;
  }
  for (size_t i = 0; i < gold.entries.size(); ++i) {
    const TestResult::Entry& wanted = gold.entries[i];
    if (!wanted.tensor) continue;
    const TestResult::Entry& other = got.entries[i];
    Expected expected;
    expected.reference = {wanted.spec, gold.bytes.data() + wanted.offset};
    expected.reduction_length = EstimateReductionLength(gold.launched, wanted.spec);
    const Budget budget = Budget::Make(expected, threads);
    const Comparison comparison = Compare({other.spec, got.bytes.data() + other.offset}, expected,
                                          budget, /*poison=*/nullptr, threads);
    found.identical = found.identical && comparison.identical();
    found.outputs.push_back(ReportOf(comparison, budget, wanted.name, wanted.spec));
    const Finding finding = FindingOf(comparison, budget, wanted.name);
    if (!finding.bad()) continue;
    if (!found.finding.bad()) found.finding = finding;
    found.log += LogOf(comparison, wanted.name, wanted.spec, seed);
  }
  return found;
}

}  // namespace kerf::verify
