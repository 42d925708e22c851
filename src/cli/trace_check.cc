#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/text_width.h"
#include "cli/trace_owner.h"
#include "trace/checker.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

Json AsJson(const trace::Finding& finding) {
  return {{"damage", finding.damage},
          {"what", finding.what},
          {"path", finding.path},
          {"detail", finding.detail}};
}

// Of notes a few of each kind: a stream that was killed leaves one for every step on its way.
constexpr int kMostNotes = 10;

void PrintFindings(Output& out, const std::vector<trace::Finding>& findings) {
  std::map<std::string, int> notes;
  for (const trace::Finding& finding : findings) {
    if (!finding.damage && ++notes[finding.what] > kMostNotes) continue;
    const std::string label = out.Styled(finding.damage ? "damage" : "note  ",
                                         finding.damage ? Style::kBad : Style::kDim);
    out.Data(
        fmt::format("{}  {}: {}\n", label, Printable(finding.path), Printable(finding.detail)));
  }
  for (const auto& [what, count] : notes) {
    if (count <= kMostNotes) continue;
    out.Data(fmt::format("{}  {} more notes of this kind: {} (--json has all)\n",
                         out.Styled("note  ", Style::kDim), count - kMostNotes, what));
  }
}

void PrintRepair(Output& out, const trace::RepairReport& repair) {
  out.Data(
      fmt::format("repaired: {} records recovered from files, {} finished, {} unfinished ones "
                  "dropped, {} places "
                  "of the journal\n",
                  repair.recovered, repair.committed, repair.abandoned, repair.journal_damage));
  for (const std::string& place : repair.set_aside) {
    out.Data(fmt::format("what was there of unfinished records is in {}\n", Printable(place)));
  }
  PrintFindings(out, repair.not_done);
}

Json RepairJson(const trace::RepairReport& repair) {
  Json not_done = Json::array();
  for (const trace::Finding& finding : repair.not_done) not_done.push_back(AsJson(finding));
  return {{"recovered", repair.recovered}, {"committed", repair.committed},
          {"abandoned", repair.abandoned}, {"journal_damage", repair.journal_damage},
          {"set_aside", repair.set_aside}, {"not_done", not_done}};
}

Result<int> RunTraceCheck(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const std::vector<trace::Run> runs,
                        trace::FindRuns(context.fs, args.Positional(0)));
  const bool json = args.Has("--json");
  const auto progress = [&](const std::string& line) { context.out.Progress(line); };
  const std::unique_ptr<IdSource> ids = MakeRandomIds();
  bool damaged = false;
  for (const trace::Run& run : runs) {
    Json document = {{"run", run.path}};
    if (args.Has("--repair")) {
      KERF_ASSIGN_OR_RETURN(
          const trace::RepairReport repair,
          trace::RepairRun(context.fs, context.clock, *ids, run, TraceOwner(context.clock)));
      document["repair"] = RepairJson(repair);
      if (!json) PrintRepair(context.out, repair);
    }
    KERF_ASSIGN_OR_RETURN(const trace::CheckReport report,
                          trace::CheckRun(context.fs, run, progress));
    damaged = damaged || report.damaged();
    if (json) {
      document["ok"] = !report.damaged();
      document["records"] = report.records;
      document["files"] = report.files;
      document["findings"] = Json::array();
      for (const trace::Finding& finding : report.findings) {
        document["findings"].push_back(AsJson(finding));
      }
      context.out.Data(DumpJson(document) + "\n");
      continue;
    }
    PrintFindings(context.out, report.findings);
    context.out.Data(fmt::format("{}: {} records, {} files: {}\n", Printable(run.path),
                                 report.records, report.files,
                                 report.damaged() ? context.out.Styled("damaged", Style::kBad)
                                                  : context.out.Styled("sound", Style::kGood)));
  }
  return damaged ? kExitCorrupt : kExitDone;
}

}  // namespace

Verb TraceCheckVerb() {
  return {
      .name = "trace check",
      .summary = "Compare every file of a trace with its journal; mend what can be mended",
      .details =
          "Tells of torn or damaged journal lines and of missing, altered or unknown files.\n"
          "--repair cuts off torn lines, finishes or drops what a crash left, and takes\n"
          "files the journal does not know in again. It never invents or removes content\n"
          "that was acknowledged. Exit 4 when something is damaged.",
      .positionals = {{.name = "DIR", .help = "a run, a folder of runs, or one operator's folder"}},
      .flags = {{.name = "--repair", .help = "mend what can be mended, then check"}, JsonFlag()},
      .examples = {{"kerf trace check logs", "is everything that was recorded still there?"},
                   {"kerf trace check logs --repair", "after a crash or a full disk"}},
      .run = RunTraceCheck};
}

}  // namespace kerf::cli
