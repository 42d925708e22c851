// kerf debug classify: splits a jsonl file by what each case's last round came to.
#include <map>

#include "base/json_writer.h"
#include "cli/debug_input.h"
#include "cli/export_output.h"
#include "cli/registry.h"
#include "cli/render/debug_summary.h"
#include "cli/render/table.h"
#include "dataset/classify.h"

namespace kerf::cli {
namespace {

using dataset::LastStatus;

struct Class {
  LastStatus last;
  std::string path;
  uint64_t cases = 0;
  std::unique_ptr<ExportOutput> output;
};

Result<std::vector<Class>> OpenClasses(const std::string& jsonl_path, const std::string& folder,
                                       Context& context) {
  std::vector<Class> classes;
  for (const LastStatus last :
       {LastStatus::kCall, LastStatus::kExe, LastStatus::kPerf, LastStatus::kSuccess}) {
    Class one{last, JoinPath(folder, dataset::ClassFileName(jsonl_path, last)), 0, nullptr};
    KERF_ASSIGN_OR_RETURN(one.output, MakeFileExport(context.fs, one.path));
    classes.push_back(std::move(one));
  }
  return classes;
}

void Report(const std::vector<Class>& classes, uint64_t unknown, const Args& args,
            Context& context) {
  if (args.Has("--json")) {
    std::string text;
    JsonWriter json(text);
    json.BeginObject().Key("ok").Bool(true).Key("classes").BeginArray();
    for (const Class& one : classes) {
      json.BeginObject().Key("last").String(LastStatusName(one.last));
      json.Key("cases")
          .Int(static_cast<int64_t>(one.cases))
          .Key("file")
          .String(one.path)
          .EndObject();
    }
    json.EndArray().Key("unknown").Int(static_cast<int64_t>(unknown)).EndObject();
    context.out.Data(text + "\n");
    return;
  }
  Table table({{"CLASS"}, {"CASES", Align::kRight}, {"FILE"}});
  for (const Class& one : classes) {
    table.AddRow({{dataset::ClassSuffix(one.last) + 1}, {std::to_string(one.cases)}, {one.path}});
  }
  if (unknown > 0) table.AddRow({{"unknown"}, {std::to_string(unknown)}, {"(none)"}});
  context.out.Data(table.Render(context.out));
}

Result<int> RunDebugClassify(const Args& args, Context& context) {
  const std::string jsonl_path = args.Positional(0);
  KERF_ASSIGN_OR_RETURN(const DebugInput input,
                        ReadDebugInput(context.fs, jsonl_path, args.Positional(1), false));
  NoteProblems(input.catalog.problems(), context.out);
  const std::string folder = args.Has("-o") ? args.Get("-o") : ParentPath(jsonl_path);
  KERF_RETURN_IF_ERROR(context.fs.CreateDirs(folder));
  KERF_ASSIGN_OR_RETURN(std::vector<Class> classes, OpenClasses(jsonl_path, folder, context));
  uint64_t unknown = 0;
  for (const dataset::CaseEntry& entry : input.catalog.cases()) {
    if (dataset::ClassSuffix(entry.last) == nullptr) {
      ++unknown;
      continue;
    }
    for (Class& one : classes) {
      if (one.last != entry.last) continue;
      ++one.cases;
      if (!entry.has_jsonl()) continue;  // counted; there is no line to copy
      KERF_RETURN_IF_ERROR(
          one.output->Write(dataset::ClassLine(entry, input.jsonl, args.Has("--full"))));
    }
  }
  for (Class& one : classes) KERF_RETURN_IF_ERROR(one.output->Commit());
  Report(classes, unknown, args, context);
  return kExitDone;
}

}  // namespace

Verb DebugClassifyVerb() {
  return {
      .name = "debug classify",
      .summary = "Split a data set by what the last round of each case came to",
      .details =
          "Writes STEM_compilation_failure.jsonl, STEM_execution_failure.jsonl,\n"
          "STEM_performance_failure.jsonl and STEM_success.jsonl: the class is the first false\n"
          "flag of pass_call, pass_exe, pass_perf. Each line holds label, filename and test_code.",
      .positionals = {{.name = "DATA.jsonl", .help = "the data set"},
                      {.name = "MEM.json",
                       .help = "its mem file; else ROOT_mem_N.json beside ROOT_N.jsonl",
                       .required = false}},
      .flags = {{.name = "-o", .value_name = "DIR", .help = "where the files go; else beside DATA"},
                {.name = "--full", .help = "keep whole records"},
                JsonFlag()},
      .examples = {{"kerf debug classify run_3.jsonl", "four files beside run_3.jsonl"}},
      .run = RunDebugClassify};
}

}  // namespace kerf::cli
