#include "cli/render/debug_summary.h"

#include <algorithm>
#include <map>

#include "base/json_writer.h"
#include "cli/render/table.h"
#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

using dataset::CaseEntry;
using dataset::LastStatus;

constexpr size_t kShownProblems = 10;

struct Counts {
  std::map<std::string, uint64_t> last;
  std::map<std::string, uint64_t> best;
};

Counts Count(const std::vector<CaseEntry>& cases) {
  Counts counts;
  for (const CaseEntry& entry : cases) {
    ++counts.last[LastStatusName(entry.last)];
    ++counts.best[BestStatusName(entry.best)];
  }
  return counts;
}

std::string CountText(const std::map<std::string, uint64_t>& counts,
                      std::initializer_list<const char*> order) {
  std::string text;
  for (const char* name : order) {
    const auto found = counts.find(name);
    if (found == counts.end()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(found->second) + " " + name;
  }
  return text;
}

Table::Cell LastCell(LastStatus last) {
  const Style style = last == LastStatus::kSuccess
                          ? Style::kGood
                          : (last == LastStatus::kUnknown ? Style::kWarn : Style::kBad);
  return {LastStatusName(last), style};
}

void WriteWritten(JsonWriter& json, const dataset::ExtractReport& report) {
  json.Key("written").BeginObject();
  json.Key("new").Int(static_cast<int64_t>(report.fresh));
  json.Key("updated").Int(static_cast<int64_t>(report.updated));
  json.Key("unchanged").Int(static_cast<int64_t>(report.unchanged));
  json.Key("files").Int(static_cast<int64_t>(report.files));
  json.Key("bytes").Int(static_cast<int64_t>(report.bytes));
  json.Key("odd").Int(static_cast<int64_t>(report.odd));
  json.Key("refused").BeginArray();
  for (const std::string& sentence : report.refused) json.String(sentence);
  json.EndArray().Key("notes").BeginArray();
  for (const std::string& sentence : report.notes) json.String(sentence);
  json.EndArray().EndObject();
}

void WriteCase(JsonWriter& json, const CaseEntry& entry, const std::string& folder) {
  json.BeginObject().Key("name").String(entry.name).Key("folder").String(folder);
  json.Key("last").String(LastStatusName(entry.last));
  json.Key("best").String(BestStatusName(entry.best));
  json.Key("flags").BeginObject();
  for (int flag = 0; flag < 3; ++flag) {
    json.Key(dataset::kFlagNames[flag]);
    if (entry.flags[flag] == dataset::Flag::kUnknown) {
      json.Null();
    } else {
      json.Bool(entry.flags[flag] == dataset::Flag::kTrue);
    }
  }
  json.EndObject().Key("diagnosis").String(DiagnosisName(entry.diagnosis.kind));
  json.Key("line").String(entry.diagnosis.line).Key("candidates").Int(entry.candidates);
  json.Key("in_jsonl").Bool(entry.has_jsonl()).Key("in_mem").Bool(entry.has_mem()).EndObject();
}

void WriteSchema(JsonWriter& json, const dataset::SchemaReport& schema) {
  json.Key("schema").BeginObject().Key("jsonl").BeginObject();
  json.Key("variant").String(schema.jsonl.variant).Key("reason").String(schema.jsonl.reason);
  json.EndObject().Key("mem").BeginArray();
  for (const auto& [variant, found] : schema.mem) {
    json.BeginObject().Key("variant").String(variant).Key("reason").String(found.second);
    json.Key("records").Int(static_cast<int64_t>(found.first)).EndObject();
  }
  json.EndArray().EndObject();
}

void WriteProblems(JsonWriter& json, const dataset::Problems& problems) {
  json.Key("problems").BeginObject().Key("count").Int(static_cast<int64_t>(problems.count()));
  json.Key("first").BeginArray();
  for (const dataset::Problem& problem : problems.kept()) json.String(ProblemText(problem));
  json.EndArray().EndObject();
}

}  // namespace

std::vector<std::string> SchemaLines(const dataset::SchemaReport& schema) {
  std::vector<std::string> lines;
  if (!schema.jsonl.variant.empty()) {
    lines.push_back("jsonl: " + schema.jsonl.variant + " (" + schema.jsonl.reason + ")");
  }
  for (const auto& [variant, found] : schema.mem) {
    lines.push_back("mem: schema " + variant + " in " + std::to_string(found.first) +
                    (found.first == 1 ? " record (" : " records (") + found.second + ")");
  }
  return lines;
}

void NoteProblems(const dataset::Problems& problems, Output& out) {
  const size_t shown = std::min(kShownProblems, problems.kept().size());
  for (size_t i = 0; i < shown; ++i) {
    out.Note("kerf: " + Printable(ProblemText(problems.kept()[i])));
  }
  if (problems.count() > shown) {
    out.Note("kerf: and " + std::to_string(problems.count() - shown) +
             " more such warnings; --json lists them");
  }
}

std::string DebugSummaryText(const DebugSummary& summary, const Output& out) {
  const std::vector<CaseEntry>& cases = summary.catalog.cases();
  Table table({{"CASE"}, {"LAST"}, {"BEST"}, {"DIAGNOSIS"}, {"FIRST TELLING LINE"}});
  for (const size_t i : summary.selected) {
    const CaseEntry& entry = cases[i];
    table.AddRow({{entry.name},
                  LastCell(entry.last),
                  {BestStatusName(entry.best)},
                  {DiagnosisName(entry.diagnosis.kind)},
                  {entry.diagnosis.line, Style::kDim}});
  }
  std::string text = summary.selected.empty() ? "" : table.Render(out) + "\n";
  const Counts counts = Count(cases);
  text += std::to_string(summary.selected.size()) + " of " + std::to_string(cases.size()) +
          " cases\nlast round: " +
          CountText(counts.last, {"call", "exe", "perf", "success", "unknown"}) +
          "\nbest ever:  " + CountText(counts.best, {"measured", "exe", "call", "nothing"}) + "\n";
  return text;
}

std::string DebugSummaryJson(const DebugSummary& summary) {
  const std::vector<CaseEntry>& cases = summary.catalog.cases();
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("ok").Bool(true).Key("jsonl").String(summary.jsonl_path);
  json.Key("mem");
  if (summary.mem_path.empty()) {
    json.Null();
  } else {
    json.String(summary.mem_path);
  }
  WriteSchema(json, summary.catalog.schema());
  json.Key("cases_in_all").Int(static_cast<int64_t>(cases.size()));
  const Counts counts = Count(cases);
  json.Key("last").BeginObject();
  for (const auto& [name, count] : counts.last) json.Key(name).Int(static_cast<int64_t>(count));
  json.EndObject().Key("best").BeginObject();
  for (const auto& [name, count] : counts.best) json.Key(name).Int(static_cast<int64_t>(count));
  json.EndObject().Key("cases").BeginArray();
  for (const size_t i : summary.selected) WriteCase(json, cases[i], summary.folders[i]);
  json.EndArray();
  if (summary.written != nullptr) WriteWritten(json, *summary.written);
  WriteProblems(json, summary.catalog.problems());
  json.EndObject();
  return text + "\n";
}

}  // namespace kerf::cli
