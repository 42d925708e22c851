#include <filesystem>
#include <optional>

#include "base/file_system.h"
#include "cli/build_info.h"
#include "cli/export_output.h"
#include "cli/interrupt.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/text_width.h"
#include "trace/export.h"
#include "trace/export_atif.h"
#include "trace/export_chrome.h"
#include "trace/export_otlp.h"

namespace kerf::cli {
namespace {

using trace::ExportTask;

struct Job {
  std::string format;
  std::string target;  // "-", a file or a folder
  bool content = false;
  int64_t unreadable = 0;
  // With a file as target: a file that is not whole must not stay behind.
  std::optional<InterruptWatch> watch;

  [[nodiscard]] bool stopped() const { return watch.has_value() && watch->interrupted(); }
};

std::unique_ptr<trace::TaskExporter> MakeExporter(FileSystem& fs, Job& job, ExportOutput& output) {
  trace::ExportSettings settings;
  settings.content = job.content;
  settings.version = GetBuildInfo().version;
  settings.unreadable = &job.unreadable;
  settings.sink = [&job, &output](std::string_view bytes) -> Status {
    if (job.stopped()) return Unavailable("stopped");
    return output.Write(bytes);
  };
  if (job.format == "otlp") return trace::MakeOtlpExporter(fs, std::move(settings));
  if (job.format == "atif") return trace::MakeAtifExporter(fs, std::move(settings));
  return trace::MakeChromeExporter(fs, std::move(settings));
}

// One file for each task.
Result<trace::ExportCount> ExportToFolder(FileSystem& fs, const trace::ExportChoice& choice,
                                          Job& job) {
  const std::string folder = ExpandHome(job.target);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(folder));
  TaskFileNames names;
  return trace::ForEachTask(fs, choice, [&](const ExportTask& task) -> Status {
    const std::string path = JoinPath(folder, names.Next(task.run, task.op, task.task));
    KERF_ASSIGN_OR_RETURN(const std::unique_ptr<ExportOutput> output, MakeFileExport(fs, path));
    const std::unique_ptr<trace::TaskExporter> exporter = MakeExporter(fs, job, *output);
    KERF_RETURN_IF_ERROR(exporter->Add(task));
    KERF_RETURN_IF_ERROR(exporter->Finish());
    return output->Commit();
  });
}

Result<trace::ExportCount> ExportToOne(Context& context, const trace::ExportChoice& choice,
                                       Job& job) {
  std::unique_ptr<ExportOutput> output = MakeStdoutExport(context.out);
  if (job.target != "-") {
    KERF_ASSIGN_OR_RETURN(output, MakeFileExport(context.fs, job.target));
  }
  const std::unique_ptr<trace::TaskExporter> exporter = MakeExporter(context.fs, job, *output);
  const bool one_document =
      job.format == "atif" && job.target != "-" && !job.target.ends_with(".jsonl");
  int64_t tasks = 0;
  KERF_ASSIGN_OR_RETURN(
      const trace::ExportCount count,
      trace::ForEachTask(context.fs, choice, [&](const ExportTask& task) -> Status {
        if (++tasks > 1 && one_document) {
          return InvalidInput(
              "there are several tasks, and an ATIF document holds one: choose one "
              "with --task, or give a folder (-o " +
              job.target + "/) or a file that ends with .jsonl");
        }
        return exporter->Add(task);
      }));
  KERF_RETURN_IF_ERROR(exporter->Finish());
  KERF_RETURN_IF_ERROR(output->Commit());
  return count;
}

// An export into an operator's folder could replace the journal it is made from.
Status RefuseTraceFolders(const trace::ExportChoice& choice, const std::string& folder) {
  std::error_code error;
  const std::string target = std::filesystem::weakly_canonical(folder, error).string() + "/";
  for (const trace::Run& run : choice.runs) {
    for (const std::string& op : run.ops) {
      const std::string op_dir = JoinPath(run.path, op);
      const std::string real = std::filesystem::canonical(op_dir, error).string();
      if (!error && target.starts_with(real + "/")) {
        return InvalidInput("-o leads into " + op_dir +
                            ", which is exported; give a place elsewhere");
      }
    }
  }
  return {};
}

std::string WhatIsLacking(const trace::ExportCount& count, int64_t unreadable) {
  std::string text;
  const auto add = [&](int64_t number, const char* what) {
    if (number > 0) text += (text.empty() ? "" : ", ") + std::to_string(number) + what;
  };
  add(count.damaged_lines, " damaged or missing journal lines");
  add(count.unjournaled, " records' times and numbers, which no journal line tells");
  add(unreadable, " unreadable texts");
  return text;
}

Result<int> RunTraceExport(const Args& args, Context& context) {
  Job job{args.Get("--format"), args.Get("-o"), args.Has("--content"), 0, std::nullopt};
  KERF_ASSIGN_OR_RETURN(
      const trace::ExportChoice choice,
      trace::ChooseExport(context.fs, args.Positional(0), args.Get("--op"), args.Get("--task")));
  const bool to_folder =
      job.format == "atif" && job.target != "-" && IsFolderPath(context.fs, job.target);
  if (job.target != "-") {
    const std::string path = ExpandHome(job.target);
    KERF_RETURN_IF_ERROR(RefuseTraceFolders(choice, to_folder ? path : ParentPath(path)));
    job.watch.emplace();
  }
  const Result<trace::ExportCount> exported =
      to_folder ? ExportToFolder(context.fs, choice, job) : ExportToOne(context, choice, job);
  if (!exported.ok() && job.stopped()) {
    context.out.Note("kerf: stopped; " + (to_folder ? "what was finished is in " + job.target
                                                    : "nothing was written to " + job.target));
    return kExitInterrupted;
  }
  if (!exported.ok()) return exported.error();
  const trace::ExportCount& count = *exported;
  if (job.target != "-") {
    context.out.Note("kerf: exported to " + job.target + ": tasks " + std::to_string(count.tasks) +
                     ", records " + std::to_string(count.records));
  }
  for (const auto& [path, reason] : count.skipped) {
    context.out.Note("kerf: not exported: " + Printable(path) + ": " + reason);
  }
  const std::string lacking = WhatIsLacking(count, job.unreadable);
  if (!lacking.empty()) {
    context.out.Note("kerf: the export lacks " + lacking + "; 'kerf trace check' tells which");
  }
  return lacking.empty() && count.skipped.empty() ? kExitDone : kExitCorrupt;
}

}  // namespace

Verb TraceExportVerb() {
  return {
      .name = "trace export",
      .summary = "Write a trace in a format other tools read",
      .details =
          "otlp: OpenTelemetry GenAI spans as OTLP JSON Lines, one trace for each task.\n"
          "atif: Harbor's trajectory, ATIF v1.7, one document for each task.\n"
          "chrome: a timeline for Perfetto or chrome://tracing.\n"
          "Times and numbers only, unless --content is given; a trajectory always has its\n"
          "texts. docs/formats/export.md says what becomes what, and what is lost. Exit 4 when\n"
          "damage kept something out of the export.",
      .positionals = {{.name = "DIR",
                       .help = "a run, a folder of runs, an operator's folder, or PATH:TASK"}},
      .flags = {{.name = "--format",
                 .value_name = "FORMAT",
                 .help = "what to write",
                 .choices = {"otlp", "atif", "chrome"},
                 .required = true},
                {.name = "--op", .value_name = "NAME", .help = "this operator only"},
                {.name = "--task", .value_name = "ID", .help = "this task only"},
                {.name = "-o",
                 .value_name = "FILE",
                 .help = "where to; a folder for several trajectories",
                 .default_value = "-"},
                {.name = "--content",
                 .help = "prompts, replies, reasoning and logs too (otlp, chrome)"}},
      .examples = {{"kerf trace export logs --format otlp -o run.jsonl",
                    "for an OpenTelemetry collector"},
                   {"kerf trace export logs --format atif -o trajectories/",
                    "one trajectory for each task"},
                   {"kerf trace export logs/relu:0 --format chrome -o relu.json",
                    "then open relu.json in Perfetto"}},
      .run = RunTraceExport};
}

}  // namespace kerf::cli
