// kerf timeline check, summary, convert, diff: simulator directories, real or kerf's own.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "cli/render/text_width.h"
#include "replay/timeline/ca_dump_reader.h"
#include "replay/timeline/simulator_dir.h"
#include "replay/timeline/timeline_convert.h"
#include "replay/timeline/timeline_summary.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

// A simulator directory, or a folder of the cycle simulator's raw logs.
Result<Timeline> ReadTimeline(const Args& args, const std::string& path, Context& context) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> trace,
                        context.fs.Stat(JoinPath(path, "trace.json")));
  if (trace) {
    std::vector<timeline::Finding> findings;
    KERF_ASSIGN_OR_RETURN(const timeline::SimulatorDir dir,
                          timeline::ReadSimulatorDir(context.fs, path, findings));
    return timeline::TimelineOf(dir.trace);
  }
  const int64_t megahertz = args.GetNumber("--mhz").value_or(1850);
  if (megahertz < 1) return InvalidInput("--mhz takes 1 or more");
  timeline::CaLosses losses;
  auto dumps = timeline::ReadCaDumps(context.fs, path, static_cast<double>(megahertz), losses);
  if (!dumps.ok() && dumps.error().code == ErrorCode::kNotFound) {
    return NotFound(path +
                    ": neither a simulator directory (no trace.json) nor raw logs (no "
                    "core*.instr_popped_log.dump)");
  }
  if (!dumps.ok()) return dumps;
  std::string note = fmt::format("{}: raw logs at {} MHz", path, megahertz);
  if (losses.lines > 0) note += fmt::format("; {} lines are of another shape", losses.lines);
  if (losses.unjoined > 0)
    note += fmt::format("; {} issued instructions have no end and are left out", losses.unjoined);
  context.out.Note(note);
  return dumps;
}

Result<int> RunTimelineCheck(const Args& args, Context& context) {
  std::vector<timeline::Finding> findings;
  KERF_ASSIGN_OR_RETURN(const timeline::SimulatorDir dir,
                        timeline::ReadSimulatorDir(context.fs, args.Positional(0), findings));
  timeline::CheckSimulatorDir(dir, findings);
  const bool damaged = std::any_of(findings.begin(), findings.end(),
                                   [](const timeline::Finding& one) { return one.damage; });
  if (args.Has("--json")) {
    Json json = {{"ok", !damaged},
                 {"cores", dir.cores.size()},
                 {"events", dir.trace.events.size()},
                 {"findings", Json::array()}};
    for (const timeline::Finding& one : findings)
      json["findings"].push_back(
          {{"damage", one.damage}, {"where", one.where}, {"what", one.what}});
    context.out.Data(DumpJson(json) + "\n");
    return damaged ? kExitCorrupt : kExitDone;
  }
  for (const timeline::Finding& one : findings) {
    context.out.Data(context.out.Styled(one.damage ? "damage" : "note  ",
                                        one.damage ? Style::kBad : Style::kDim) +
                     "  " + Printable(one.where.empty() ? one.what : one.where + ": " + one.what) +
                     "\n");
  }
  context.out.Data(fmt::format("{}: {} cores, {} events: {}\n", Printable(dir.path),
                               dir.cores.size(), dir.trace.events.size(),
                               damaged ? context.out.Styled("damaged", Style::kBad)
                                       : context.out.Styled("sound", Style::kGood)));
  return damaged ? kExitCorrupt : kExitDone;
}

size_t TopOf(const Args& args) { return static_cast<size_t>(args.GetNumber("--top").value_or(10)); }

std::string Us(double value) { return fmt::format("{:.3f}", value); }

std::string Percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "";
}

Json SpotsJson(const std::vector<timeline::HotSpot>& spots) {
  Json list = Json::array();
  for (const timeline::HotSpot& spot : spots)
    list.push_back({{"what", spot.what}, {"count", spot.count}, {"total_us", spot.total_us}});
  return list;
}

void PrintSpots(const char* title, const std::vector<timeline::HotSpot>& spots, Output& out) {
  if (spots.empty()) return;
  Table table({{title}, {"COUNT", Align::kRight}, {"TOTAL us", Align::kRight}});
  for (const timeline::HotSpot& spot : spots)
    table.AddRow({{spot.what}, {std::to_string(spot.count)}, {Us(spot.total_us)}});
  out.Data("\n" + table.Render(out));
}

Result<int> RunSummary(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Timeline line, ReadTimeline(args, args.Positional(0), context));
  const timeline::TimelineSummary summary = timeline::Summarize(line, TopOf(args));
  if (args.Has("--json")) {
    Json json = {
        {"span_us", summary.span_us}, {"slices", summary.slices}, {"pipes", Json::array()}};
    for (const timeline::PipeUse& use : summary.pipes) {
      json["pipes"].push_back({{"core", use.core},
                               {"pipe", use.pipe},
                               {"slices", use.slices},
                               {"busy_us", use.busy_us},
                               {"wait_us", use.wait_us}});
    }
    json["instructions"] = SpotsJson(summary.instructions);
    json["lines"] = SpotsJson(summary.lines);
    context.out.Data(DumpJson(json) + "\n");
    return kExitDone;
  }
  Table table({{"CORE"},
               {"PIPE"},
               {"SLICES", Align::kRight},
               {"BUSY us", Align::kRight},
               {"OF RUN", Align::kRight},
               {"WAITS us", Align::kRight}});
  for (const timeline::PipeUse& use : summary.pipes) {
    table.AddRow({{use.core},
                  {use.pipe},
                  {std::to_string(use.slices)},
                  {Us(use.busy_us)},
                  {Percent(use.busy_us, summary.span_us)},
                  {Us(use.wait_us)}});
  }
  context.out.Data(table.Render(context.out));
  PrintSpots("INSTRUCTION", summary.instructions, context.out);
  PrintSpots("LINE", summary.lines, context.out);
  context.out.Note(fmt::format("{} slices in {} us{}", summary.slices, Us(summary.span_us),
                               summary.lines.empty() ? "; no source lines (build with -g)" : ""));
  return kExitDone;
}

Result<int> RunConvert(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Timeline line, ReadTimeline(args, args.Positional(0), context));
  const std::string text =
      args.Get("--to") == "csv" ? timeline::ToCsv(line) : timeline::ToPerfetto(line);
  const std::string output = args.Get("--output");
  if (output.empty() || output == "-") {
    context.out.Data(text);
    return kExitDone;
  }
  KERF_RETURN_IF_ERROR(WriteFileAtomic(context.fs, output, text));
  context.out.Note(output + (args.Get("--to") == "csv" ? "" : ": open it with ui.perfetto.dev"));
  return kExitDone;
}

Json RowsJson(const std::vector<timeline::DiffRow>& rows) {
  Json list = Json::array();
  for (const timeline::DiffRow& row : rows) {
    list.push_back({{"what", row.what},
                    {"before_us", row.before_us},
                    {"after_us", row.after_us},
                    {"before_count", row.before_count},
                    {"after_count", row.after_count}});
  }
  return list;
}

void PrintRows(const char* title, const std::vector<timeline::DiffRow>& rows, Output& out) {
  Table table({{title},
               {"BEFORE us", Align::kRight},
               {"AFTER us", Align::kRight},
               {"CHANGE us", Align::kRight},
               {"COUNT", Align::kRight}});
  for (const timeline::DiffRow& row : rows) {
    const double change = row.after_us - row.before_us;
    table.AddRow({{row.what},
                  {Us(row.before_us)},
                  {Us(row.after_us)},
                  {fmt::format("{:+.3f}", change), change > 0   ? Style::kBad
                                                   : change < 0 ? Style::kGood
                                                                : Style::kPlain},
                  {row.before_count == row.after_count
                       ? std::to_string(row.after_count)
                       : fmt::format("{} -> {}", row.before_count, row.after_count)}});
  }
  out.Data(table.Render(out));
}

Result<int> RunDiff(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Timeline before, ReadTimeline(args, args.Positional(0), context));
  KERF_ASSIGN_OR_RETURN(const Timeline after, ReadTimeline(args, args.Positional(1), context));
  const timeline::TimelineDiff diff = timeline::Compare(before, after, TopOf(args));
  if (args.Has("--json")) {
    context.out.Data(DumpJson({{"before_us", diff.before_us},
                               {"after_us", diff.after_us},
                               {"pipes", RowsJson(diff.pipes)},
                               {"instructions", RowsJson(diff.instructions)}}) +
                     "\n");
    return kExitDone;
  }
  PrintRows("PIPE", diff.pipes, context.out);
  if (!diff.instructions.empty()) context.out.Data("\n");
  if (!diff.instructions.empty()) PrintRows("INSTRUCTION", diff.instructions, context.out);
  context.out.Note(fmt::format("{} us before, {} us after", Us(diff.before_us), Us(diff.after_us)));
  return kExitDone;
}

const Positional kTimelineDir = {.name = "DIR",
                                 .help = "a simulator folder, or a folder of raw logs"};
const Flag kMhz = {.name = "--mhz",
                   .value_name = "N",
                   .help = "clock of raw logs",
                   .default_value = "1850",
                   .number = true};
const Flag kTop = {.name = "--top",
                   .value_name = "N",
                   .help = "how many instructions and lines",
                   .default_value = "10",
                   .number = true};

}  // namespace

Verb TimelineCheckVerb() {
  return {
      .name = "timeline check",
      .summary = "Would MindStudio Insight open this simulator directory, and do its parts agree?",
      .details =
          "Walks visualize_data.bin, reads the traces and tables, and compares them. Exit 4 when\n"
          "something is damaged.",
      .positionals = {{.name = "DIR", .help = "the simulator folder of an OPPROF directory"}},
      .flags = {JsonFlag()},
      .examples = {{"kerf timeline check insight_export/OPPROF_1/simulator", "after an export"}},
      .run = RunTimelineCheck};
}

Verb TimelineSummaryVerb() {
  return {
      .name = "timeline summary",
      .summary = "How busy each pipe was, and which instructions and lines took the time",
      .details =
          "Overlapping slices of a pipe count once; waits for other pipes are not busy time. Raw\n"
          "logs of the cycle simulator are read too.",
      .positionals = {kTimelineDir},
      .flags = {kTop, kMhz, JsonFlag()},
      .examples = {{"kerf timeline summary simulator", "where does the time go?"}},
      .run = RunSummary};
}

Verb TimelineConvertVerb() {
  return {.name = "timeline convert",
          .summary = "Write a timeline for Perfetto or as CSV",
          .details =
              "Perfetto draws overlapping slices of one lane wrongly; they are spread over rows.",
          .positionals = {kTimelineDir},
          .flags = {{.name = "--to",
                     .value_name = "F",
                     .help = "the form",
                     .default_value = "perfetto",
                     .choices = {"perfetto", "csv"}},
                    {.name = "--output",
                     .value_name = "FILE",
                     .help = "where to; default standard output"},
                    kMhz},
          .examples = {{"kerf timeline convert simulator --output run.perfetto.json",
                        "for ui.perfetto.dev"}},
          .run = RunConvert};
}

Verb TimelineDiffVerb() {
  return {
      .name = "timeline diff",
      .summary = "Compare two timelines pipe by pipe and instruction by instruction",
      .details = "",
      .positionals = {{.name = "BEFORE", .help = "a simulator folder"},
                      {.name = "AFTER", .help = "another one"}},
      .flags = {kTop, kMhz, JsonFlag()},
      .examples = {{"kerf timeline diff old/simulator new/simulator", "what did the change do?"}},
      .run = RunDiff};
}

}  // namespace kerf::cli
