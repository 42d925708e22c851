// kerf debug extract: one folder for each failed case of a data set.
#include <algorithm>

#include "cli/debug_input.h"
#include "cli/registry.h"
#include "cli/render/debug_summary.h"
#include "cli/render/text_width.h"
#include "dataset/extract.h"
#include "device/probe.h"

namespace kerf::cli {
namespace {

Result<dataset::Selection> ParseSelection(const Args& args) {
  dataset::Selection selection;
  selection.all = args.Has("--all");
  selection.best_ever = args.Has("--best-ever");
  selection.cases = args.All("--case");
  const std::string only = args.Get("--only");
  if (only == "call") selection.only = dataset::LastStatus::kCall;
  if (only == "exe") selection.only = dataset::LastStatus::kExe;
  if (only == "perf") selection.only = dataset::LastStatus::kPerf;
  const int ways = (selection.all ? 1 : 0) + (selection.best_ever ? 1 : 0) + (only.empty() ? 0 : 1);
  if (ways > 1) return InvalidInput("--all, --only and --best-ever exclude each other");
  return selection;
}

Result<std::string> ParseExtension(const Args& args) {
  std::string extension = args.Get("--ext");
  if (extension.empty()) return extension;
  if (!extension.starts_with('.')) extension.insert(0, ".");
  const bool plain = extension.size() <= 32 &&
                     extension.find_first_not_of(
                         ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+") ==
                         std::string::npos;
  if (!plain) return InvalidInput("--ext takes letters, digits, dots, '_', '-' and '+'");
  return extension;
}

Result<dataset::ExtractOptions> ParseOptions(const Args& args) {
  dataset::ExtractOptions options;
  options.output = args.Get("-o");
  KERF_ASSIGN_OR_RETURN(options.files.extension, ParseExtension(args));
  options.files.symbols = MakeSymbolCheck();
  options.page = !args.Has("--no-html");
  options.page_limit = static_cast<uint64_t>(args.GetNumber("--html-limit").value_or(32)) << 20;
  options.sync = args.Has("--sync");
  const int64_t processors = device::UsableProcessors();
  options.threads = static_cast<int>(std::min<int64_t>(
      args.GetNumber("--threads").value_or(std::min<int64_t>(processors, 8)), 256));
  return options;
}

std::string WrittenLine(const dataset::ExtractReport& report, const std::string& output) {
  std::string line = "wrote " + std::to_string(report.fresh) + " folders";
  if (report.updated > 0) line += ", updated " + std::to_string(report.updated);
  if (report.unchanged > 0) line += ", " + std::to_string(report.unchanged) + " unchanged";
  line += " in " + output;
  if (report.odd > 0) line += "; " + std::to_string(report.odd) + " have notes in case.json";
  return line;
}

Result<int> RunDebugExtract(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const dataset::Selection selection, ParseSelection(args));
  KERF_ASSIGN_OR_RETURN(const dataset::ExtractOptions options, ParseOptions(args));
  context.out.Progress("reading " + args.Positional(0));
  KERF_ASSIGN_OR_RETURN(const DebugInput input,
                        ReadDebugInput(context.fs, args.Positional(0), args.Positional(1),
                                       selection.all || !selection.cases.empty()));
  const std::vector<std::string> folders = dataset::AssignFolders(input.catalog.cases());
  KERF_ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                        dataset::Select(input.catalog.cases(), folders, selection));
  context.out.Progress("");
  for (const std::string& line : SchemaLines(input.catalog.schema())) context.out.Note(line);
  NoteProblems(input.catalog.problems(), context.out);
  const std::string mem_path = input.mem.has_value() ? input.mem->path() : "";
  DebugSummary summary{input.jsonl.path(), mem_path, input.catalog, selected, folders, nullptr};
  dataset::ExtractReport report;
  if (!args.Has("--summary-only")) {
    const dataset::CaseSources sources{input.jsonl, input.mem_file(), input.catalog.schema().jsonl};
    context.out.Progress("writing " + std::to_string(selected.size()) + " folders");
    KERF_ASSIGN_OR_RETURN(report,
                          dataset::Extract(input.catalog, sources, selected, folders, options));
    context.out.Progress("");
    summary.written = &report;
  }
  context.out.Data(args.Has("--json") ? DebugSummaryJson(summary)
                                      : DebugSummaryText(summary, context.out));
  if (summary.written == nullptr) return kExitDone;
  for (const std::string& sentence : report.notes) context.out.Note("kerf: " + Printable(sentence));
  for (const std::string& sentence : report.refused) {
    context.out.Note("kerf: refused: " + Printable(sentence));
  }
  context.out.Note(WrittenLine(report, options.output));
  return report.refused.empty() ? kExitDone : kExitNegative;
}

}  // namespace

Verb DebugExtractVerb() {
  return {
      .name = "debug extract",
      .summary = "One folder for each failed case of a data set, with everything in it",
      .details =
          "Reads a jsonl file and its mem file as GEAK's agents write them. A case failed when\n"
          "pass_call, pass_exe or pass_perf is false. Folders hold the texts, the candidates,\n"
          "errors, diffs, case.json and reproduce.sh. Exit 1 when a case could not be written.",
      .positionals = {{.name = "DATA.jsonl", .help = "the data set; - is standard input"},
                      {.name = "MEM.json",
                       .help = "its mem file; else ROOT_mem_N.json beside ROOT_N.jsonl",
                       .required = false}},
      .flags = {{.name = "-o",
                 .value_name = "DIR",
                 .help = "where the folders go",
                 .default_value = "debug_workspace"},
                {.name = "--all", .help = "all cases, failed or not"},
                {.name = "--only",
                 .value_name = "STAGE",
                 .help = "cases whose last round failed there",
                 .choices = {"call", "exe", "perf"}},
                {.name = "--best-ever", .help = "cases that no round solved"},
                {.name = "--case",
                 .value_name = "NAME",
                 .help = "this case, whatever its flags",
                 .repeated = true},
                {.name = "--summary-only", .help = "the table alone; nothing is written"},
                {.name = "--ext",
                 .value_name = "EXT",
                 .help = "extension of code files; else by their language"},
                {.name = "--no-html", .help = "leave out index.html"},
                {.name = "--html-limit",
                 .value_name = "MB",
                 .help = "texts inside index.html",
                 .default_value = "32",
                 .number = true},
                {.name = "--threads",
                 .value_name = "N",
                 .help = "that write; the number of processors, up to 8, when not given",
                 .number = true},
                {.name = "--sync", .help = "wait until the disk has each folder"},
                JsonFlag()},
      .examples = {{"kerf debug extract run_3.jsonl", "the failed cases, in debug_workspace/"},
                   {"kerf debug extract run_3.jsonl --best-ever --summary-only",
                    "what no round solved"}},
      .run = RunDebugExtract};
}

}  // namespace kerf::cli
