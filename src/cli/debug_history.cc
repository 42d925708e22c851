// kerf debug history: a data set over its iterations.
#include "base/json_writer.h"
#include "cli/registry.h"
#include "cli/render/debug_summary.h"
#include "cli/render/table.h"
#include "dataset/history.h"

namespace kerf::cli {
namespace {

using dataset::CaseHistory;
using dataset::History;
using dataset::HistoryPoint;
using dataset::LastStatus;

// One letter for each iteration: c, e, p failed there; S success; ? unknown; - not in the file.
char LetterOf(const HistoryPoint& point) {
  if (!point.present) return '-';
  constexpr char kLetters[] = {'?', 'c', 'e', 'p', 'S'};
  return kLetters[static_cast<size_t>(point.last)];
}

void WriteFlag(JsonWriter& json, dataset::Flag flag) {
  if (flag == dataset::Flag::kUnknown) {
    json.Null();
  } else {
    json.Bool(flag == dataset::Flag::kTrue);
  }
}

void WriteCase(JsonWriter& json, const CaseHistory& one) {
  json.BeginObject().Key("name").String(one.name);
  json.Key("codes").Int(static_cast<int64_t>(one.codes)).Key("points").BeginArray();
  for (const HistoryPoint& point : one.points) {
    json.BeginObject().Key("iteration").Int(point.iteration).Key("present").Bool(point.present);
    for (int flag = 0; flag < 3; ++flag) {
      json.Key(dataset::kFlagNames[flag]);
      WriteFlag(json, point.flags[flag]);
    }
    json.Key("last").String(LastStatusName(point.last));
    json.Key("best").String(BestStatusName(point.best)).Key("measure");
    if (point.measure.has_value()) {
      json.Double(*point.measure);
    } else {
      json.Null();
    }
    json.Key("direction").String(DirectionName(point.direction));
    json.Key("candidates").Int(point.candidates).Key("new_codes").Int(point.fresh).EndObject();
  }
  json.EndArray().Key("events").BeginArray();
  for (const dataset::HistoryEvent& event : one.events) {
    json.BeginObject()
        .Key("iteration")
        .Int(event.iteration)
        .Key("what")
        .String(event.what)
        .EndObject();
  }
  json.EndArray().EndObject();
}

std::string HistoryJson(const History& history) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("ok").Bool(true).Key("iterations").BeginArray();
  for (const int64_t iteration : history.iterations) json.Int(iteration);
  json.EndArray().Key("cases").BeginArray();
  for (const CaseHistory& one : history.cases) WriteCase(json, one);
  json.EndArray().EndObject();
  return text + "\n";
}

std::string HistoryText(const History& history, const Output& out) {
  Table rounds({{"ITERATION", Align::kRight},
                {"CALL", Align::kRight},
                {"EXE", Align::kRight},
                {"PERF", Align::kRight},
                {"SUCCESS", Align::kRight},
                {""}});
  for (size_t i = 0; i < history.iterations.size(); ++i) {
    const std::vector<uint64_t>& counts = history.counts[i];
    const uint64_t success = counts[static_cast<size_t>(LastStatus::kSuccess)];
    constexpr size_t kBar = 40;
    const size_t bar = history.cases.empty() ? 0 : success * kBar / history.cases.size();
    rounds.AddRow({{std::to_string(history.iterations[i])},
                   {std::to_string(counts[1])},
                   {std::to_string(counts[2])},
                   {std::to_string(counts[3])},
                   {std::to_string(success), Style::kGood},
                   {std::string(bar, '#') + std::string(kBar - bar, '.')}});
  }
  Table cases({{"CASE"}, {"ROUNDS"}, {"CODES", Align::kRight}, {"EVENTS"}});
  for (const CaseHistory& one : history.cases) {
    std::string letters;
    for (const HistoryPoint& point : one.points) letters += LetterOf(point);
    std::string events;
    for (const dataset::HistoryEvent& event : one.events) {
      events += (events.empty() ? "" : "; ") + std::to_string(event.iteration) + ": " + event.what;
    }
    cases.AddRow({{one.name}, {letters}, {std::to_string(one.codes)}, {events, Style::kDim}});
  }
  return rounds.Render(out) + "\n" + cases.Render(out);
}

Result<int> RunDebugHistory(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const History history,
                        dataset::ReadHistory(context.fs, args.Positional(0)));
  NoteProblems(history.problems, context.out);
  if (args.Has("--plot")) {
    KERF_RETURN_IF_ERROR(
        WriteFileAtomic(context.fs, args.Get("--plot"), dataset::HistoryPlot(history)));
  }
  context.out.Data(args.Has("--json") ? HistoryJson(history) : HistoryText(history, context.out));
  return kExitDone;
}

}  // namespace

Verb DebugHistoryVerb() {
  return {
      .name = "debug history",
      .summary = "A data set over its iterations: flags, best numbers, new candidates",
      .details =
          "Reads ROOT_0.jsonl and ROOT_mem_0.json up to the last iteration there is. A letter for\n"
          "each round: c, e, p failed at call, exe, perf; S success; - not in the file. "
          "Candidates\n"
          "are counted once however often they are written.",
      .positionals = {{.name = "ROOT", .help = "path of the files without _N.jsonl"}},
      .flags = {{.name = "--plot", .value_name = "FILE.svg", .help = "also draw it"}, JsonFlag()},
      .examples = {{"kerf debug history runs/out", "runs/out_0.jsonl, runs/out_1.jsonl …"}},
      .run = RunDebugHistory};
}

}  // namespace kerf::cli
