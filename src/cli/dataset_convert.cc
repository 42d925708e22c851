// kerf dataset import and export: between GEAK's files and other tools'.
#include "base/ids.h"
#include "base/json_writer.h"
#include "cli/debug_input.h"
#include "cli/registry.h"
#include "cli/render/debug_summary.h"
#include "dataset/convert.h"

namespace kerf::cli {
namespace {

void Report(const dataset::Losses& lost, uint64_t cases, const std::vector<std::string>& files,
            const Args& args, Context& context) {
  if (args.Has("--json")) {
    std::string text;
    JsonWriter json(text);
    json.BeginObject().Key("ok").Bool(true).Key("cases").Int(static_cast<int64_t>(cases));
    json.Key("files").BeginArray();
    for (const std::string& file : files) json.String(file);
    json.EndArray().Key("lost").BeginObject();
    for (const auto& [what, count] : lost) json.Key(what).Int(static_cast<int64_t>(count));
    json.EndObject().EndObject();
    context.out.Data(text + "\n");
    return;
  }
  for (const std::string& file : files) context.out.Data(file + "\n");
  context.out.Note(std::to_string(cases) + " cases");
  if (lost.empty()) context.out.Note("nothing was lost");
  for (const auto& [what, count] : lost) {
    context.out.Note("lost: " + what + " (" + std::to_string(count) + " cases)");
  }
}

Result<int> RunImport(const Args& args, Context& context) {
  const std::string from = args.Get("--from");
  dataset::GeakTexts texts;
  if (from == "trace") {
    KERF_ASSIGN_OR_RETURN(texts, dataset::FromTrace(context.fs, args.Positional(0)));
  } else {
    KERF_ASSIGN_OR_RETURN(const dataset::MappedFile file,
                          dataset::MappedFile::Open(args.Positional(0)));
    KERF_ASSIGN_OR_RETURN(texts, from == "tritonbench" ? dataset::FromTritonBench(file)
                                                       : dataset::FromKernelBench(file));
  }
  const std::string root = args.Get("-o");
  std::vector<std::string> files = {root + "_0.jsonl"};
  KERF_RETURN_IF_ERROR(context.fs.CreateDirs(ParentPath(root)));
  KERF_RETURN_IF_ERROR(WriteFileAtomic(context.fs, files[0], texts.jsonl));
  if (!texts.mem.empty()) {
    files.push_back(root + "_mem_0.json");
    KERF_RETURN_IF_ERROR(WriteFileAtomic(context.fs, files[1], texts.mem));
  }
  Report(texts.lost, texts.cases, files, args, context);
  return kExitDone;
}

Result<int> RunExport(const Args& args, Context& context) {
  const std::string to = args.Get("--to");
  const std::string target = args.Get("-o");
  KERF_ASSIGN_OR_RETURN(
      const DebugInput input,
      ReadDebugInput(context.fs, args.Positional(0), args.Positional(1), to != "kernelbench"));
  NoteProblems(input.catalog.problems(), context.out);
  dataset::Exported exported;
  if (to == "trace") {
    const auto ids = MakeRandomIds();
    KERF_ASSIGN_OR_RETURN(exported, dataset::ToTrace(input.catalog, input.jsonl, input.mem_file(),
                                                     target, {context.fs, context.clock, *ids}));
  } else {
    exported = to == "tritonbench"
                   ? dataset::ToTritonBench(input.catalog, input.jsonl)
                   : dataset::ToKernelBench(input.catalog, input.jsonl, input.mem_file());
    KERF_RETURN_IF_ERROR(context.fs.CreateDirs(ParentPath(target)));
    KERF_RETURN_IF_ERROR(WriteFileAtomic(context.fs, target, exported.text));
  }
  Report(exported.lost, exported.cases, {target}, args, context);
  return kExitDone;
}

}  // namespace

Verb DatasetImportVerb() {
  return {
      .name = "dataset import",
      .summary = "Make GEAK's jsonl and mem files from another tool's",
      .details =
          "Writes ROOT_0.jsonl, and ROOT_mem_0.json when there are results. What GEAK's files\n"
          "cannot hold is listed.",
      .positionals = {{.name = "PATH", .help = "the other tool's file, or a trace's folder"}},
      .flags = {{.name = "--from",
                 .value_name = "KIND",
                 .help = "what PATH is",
                 .choices = {"tritonbench", "kernelbench", "trace"},
                 .required = true},
                {.name = "-o",
                 .value_name = "ROOT",
                 .help = "path of the files without _0.jsonl",
                 .required = true},
                JsonFlag()},
      .examples = {{"kerf dataset import logs --from trace -o runs/out", "a trace as a data set"}},
      .run = RunImport};
}

Verb DatasetExportVerb() {
  return {
      .name = "dataset export",
      .summary = "Make another tool's file from GEAK's jsonl and mem files",
      .details = "What the other tool's file cannot hold is listed.",
      .positionals = {{.name = "DATA.jsonl", .help = "the data set"},
                      {.name = "MEM.json",
                       .help = "its mem file; else ROOT_mem_N.json beside ROOT_N.jsonl",
                       .required = false}},
      .flags = {{.name = "--to",
                 .value_name = "KIND",
                 .help = "what to make",
                 .choices = {"tritonbench", "kernelbench", "trace"},
                 .required = true},
                {.name = "-o",
                 .value_name = "PATH",
                 .help = "a file, or a trace's folder",
                 .required = true},
                JsonFlag()},
      .examples = {{"kerf dataset export run_3.jsonl --to trace -o logs", "one operator per case"}},
      .run = RunExport};
}

}  // namespace kerf::cli
