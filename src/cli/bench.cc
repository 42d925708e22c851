// kerf bench: many tasks, one table.
#include <algorithm>
#include <fstream>

#include "base/cache_dir.h"
#include "base/hash.h"
#include "cli/bench/bench_tasks.h"
#include "cli/build_info.h"
#include "cli/interrupt.h"
#include "cli/registry.h"
#include "cli/render/bench_text.h"
#include "cli/run_request.h"
#include "device/probe.h"

namespace kerf::cli {
namespace {

// A design, the code, a verdict.
constexpr int64_t kSynthSteps = 3;
// With a model most tasks wait for it most of the time.
constexpr size_t kWithModel = 8;

Result<BenchEntry> ReadEntry(const Args& args, const Config& config, const RunMachine& machine,
                             const BenchFile& file, FileSystem& fs) {
  BenchEntry entry;
  entry.row.name = file.name;
  entry.row.path = file.path;
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(file.path));
  entry.row.file_sha256 = Sha256Hex(text);
  entry.row.op_name = task::OpName(file.path);
  Result<TaskSpec> spec = RunSpec(args, config, machine, file.path, fs);
  if (!spec.ok()) {
    // One file that is no task does not stop the others.
    entry.row.status = ErrorCodeName(spec.error().code);
    entry.row.summary = spec.error().message;
    entry.done = true;
    return entry;
  }
  entry.spec = std::move(*spec);
  entry.row.framework = entry.spec.framework;
  return entry;
}

Result<std::vector<BenchEntry>> ReadEntries(const Args& args, const Config& config,
                                            FileSystem& fs) {
  KERF_ASSIGN_OR_RETURN(const std::vector<BenchFile> files, FindBenchFiles(fs, args.Positionals()));
  KERF_ASSIGN_OR_RETURN(const RunMachine machine, FindRunMachine(args.Get("--backend")));
  std::vector<BenchEntry> entries;
  std::vector<TaskSpec> specs;
  for (const BenchFile& file : files) {
    KERF_ASSIGN_OR_RETURN(BenchEntry entry, ReadEntry(args, config, machine, file, fs));
    specs.push_back(entry.spec);
    entries.push_back(std::move(entry));
  }
  MakeDistinct(specs);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].spec.task_id = specs[i].task_id;
    entries[i].row.task_id = specs[i].task_id;
  }
  return entries;
}

Result<std::string> LogDir(const Args& args, const Config& config, FileSystem& fs) {
  const std::string given = ExpandHome(args.Get("--log-dir"));
  if (!given.empty()) return given;
  if (args.Has("--resume")) return NewestBench(fs, config.log_dir);
  return FreshLogDir(config, "Bench");
}

// The rows of tasks that ended in an earlier process. Where kerf could not find out, it tries
// again.
Status TakeEnded(const BenchStore& store, const BenchSettings& settings,
                 std::vector<BenchEntry>& entries) {
  KERF_ASSIGN_OR_RETURN(const auto ended, store.Read(settings));
  for (BenchEntry& entry : entries) {
    const auto found = ended.find(BenchStore::Key(entry.row.file_sha256, entry.row.path));
    if (entry.done || found == ended.end()) continue;
    if (found->second.outcome == BenchOutcome::kError) continue;
    entry.row = found->second;
    entry.done = true;
  }
  return {};
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "cpu";
}

std::string MachineText(const std::string& backend) {
  std::string text = CpuName() + ", " + std::to_string(device::UsableProcessors()) + " processors";
  if (const auto kind = device::ParseBackend(backend); kind.has_value() && backend != "cpu") {
    const auto found = device::Probe(*kind, device::ProbeOptions());
    if (found.ok() && !found->devices.empty()) text += ", " + found->devices.front().name;
  }
  return text;
}

Result<Config> BenchConfig(const Args& args, FileSystem& fs) {
  KERF_ASSIGN_OR_RETURN(Config config, RunConfig(args, fs));
  config.task_type = "profile";
  // What is measured is the model.
  if (config.first.empty()) config.first = "model";
  return config;
}

Status Keep(const Args& args, const BenchReport& report, Context& context) {
  const std::string path = args.Get("--report");
  if (path.empty()) return {};
  KERF_RETURN_IF_ERROR(WriteFileAtomic(context.fs, path, BenchHtml(report)));
  context.out.Note("report: " + path);
  return {};
}

Result<std::vector<BenchTask>> RunAll(BenchPlan& plan, std::vector<BenchEntry> entries,
                                      conduct::JudgePool& judge, Context& context) {
  RunView view(context.out, context.clock, plan.shop.models->ledger(), entries.size());
  const InterruptWatch watch;
  bool stopping = false;
  BenchTasks tasks(plan, std::move(entries), view, context);
  return tasks.Run(judge, [&] {
    if (watch.interrupted() && !stopping) {
      stopping = true;
      view.Say("stopping; --resume goes on (again: at once)");
      plan.shop.models->Stop();
      judge.Stop();
    }
    return stopping;
  });
}

std::vector<TaskSpec> SpecsOf(const std::vector<BenchEntry>& entries) {
  std::vector<TaskSpec> specs;
  for (const BenchEntry& entry : entries) {
    if (!entry.spec.task_desc.empty()) specs.push_back(entry.spec);
  }
  return specs;
}

Result<int> RunBench(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Config config, BenchConfig(args, context.fs));
  KERF_ASSIGN_OR_RETURN(std::vector<BenchEntry> entries, ReadEntries(args, config, context.fs));
  const std::vector<TaskSpec> specs = SpecsOf(entries);
  if (specs.empty()) return InvalidInput("none is a task: " + entries.front().row.summary);
  KERF_ASSIGN_OR_RETURN(const std::string log_dir, LogDir(args, config, context.fs));
  BenchStore store(context.fs, log_dir);
  if (store.Exists() && !args.Has("--resume")) {
    return InvalidInput(log_dir + " already holds a bench; --resume continues it");
  }
  KERF_ASSIGN_OR_RETURN(Workshop shop, SetUpRun(args, specs, config, log_dir, context));
  KERF_ASSIGN_OR_RETURN(const auto judge, MakeJudge(args, config, specs, context));
  const TaskSpec& first = specs.front();
  BenchPlan plan{args, shop, store};
  const bool own_limit = args.Has("--limit-steps") || !shop.models->only_synth();
  if (own_limit && shop.models->only_synth() && config.limit_steps < kSynthSteps) {
    return InvalidInput("--limit-steps " + std::to_string(config.limit_steps) +
                        " leaves no room for a kernel: a plan, a kernel and its verdict are " +
                        std::to_string(kSynthSteps) + " steps");
  }
  plan.settings = {ImplName(first.impl),
                   first.backend,
                   first.arch,
                   shop.models->NameOf(""),
                   own_limit ? config.limit_steps : kSynthSteps,
                   args.GetNumber("--max-bytes").value_or(0),
                   args.GetNumber("--max-work").value_or(0)};
  for (BenchEntry& entry : entries) entry.spec.limit_steps = plan.settings.limit_steps;
  KERF_RETURN_IF_ERROR(TakeEnded(store, plan.settings, entries));
  KERF_ASSIGN_OR_RETURN(plan.cache_dir, OpenCacheDir());
  plan.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  const auto jobs = static_cast<size_t>(JudgeJobs(config, specs));
  plan.at_once = shop.models->only_synth() ? jobs : std::max(jobs, kWithModel);
  context.out.Note("kerf bench: " + log_dir);

  const size_t count = entries.size();
  BenchReport report;
  KERF_ASSIGN_OR_RETURN(report.tasks, RunAll(plan, std::move(entries), *judge, context));
  context.out.Progress("");
  report.kerf = VersionLine();
  report.date = FormatUtc(context.clock.WallNanos());
  report.machine = MachineText(first.backend);
  report.log_dir = log_dir;
  report.settings = plan.settings;
  report.threads = JudgeThreads(config, specs);
  report.jobs = static_cast<int64_t>(jobs);
  report.not_run = static_cast<int64_t>(count - report.tasks.size());
  KERF_RETURN_IF_ERROR(Keep(args, report, context));
  context.out.Data(args.Has("--json") ? BenchJson(report) : BenchText(report, context.out));
  return BenchExitCode(report);
}

}  // namespace

Verb BenchVerb() {
  return {
      .name = "bench",
      .summary = "Run many tasks and compare: correct, how fast, why not",
      .details =
          "Each task is run as `kerf run --task-type profile` does it; one after another, so that\n"
          "what is measured has the machine for itself. KernelBench's folders and AIKG's task\n"
          "files are taken as they are. Every task leaves a trace and a line in\n"
          "LOG_DIR/bench.jsonl, from which --resume goes on. docs/formats/bench.md has the JSON.\n"
          "Exit code 0: all are correct, 1: not all.",
      .positionals = {{"PATH", "task files, or folders of them", true, true}},
      .flags = {{.name = "--impl",
                 .value_name = "I",
                 .help = "else cpp, or cuda_c on a GPU",
                 .choices = {"cpp", "cuda_c", "hip", "triton", "torch_ext", "swft"}},
                {.name = "--backend",
                 .value_name = "B",
                 .help = "else what this machine has",
                 .choices = {"cpu", "cuda", "ascend"}},
                {.name = "--model",
                 .value_name = "SPEC",
                 .help = "synth, or openai, anthropic, recorded, scripted, import with :NAME"},
                {.name = "--limit-steps",
                 .value_name = "N",
                 .help = "steps of a task; else 3 with synth: one plan, more search for a faster",
                 .number = true},
                {.name = "--max-bytes",
                 .value_name = "N",
                 .help = "make tasks with larger tensors smaller through their own sizes",
                 .number = true},
                {.name = "--max-work",
                 .value_name = "N",
                 .help = "with --max-bytes: also those whose products have more operations",
                 .number = true},
                {.name = "--jobs",
                 .value_name = "N",
                 .help = "tasks at once; else 1 on the CPU",
                 .number = true},
                {.name = "--report", .value_name = "FILE", .help = "also write an HTML page"},
                {.name = "--log-dir",
                 .value_name = "DIR",
                 .help = "the bench's own folder; else a new one below log_dir"},
                {.name = "--resume", .help = "go on after the tasks that have ended"},
                {.name = "--config", .value_name = "FILE", .help = "YAML; see kerf config show"},
                {.name = "--sandbox",
                 .value_name = "MODE",
                 .help = "walls around candidates",
                 .default_value = "best",
                 .choices = {"required", "best", "off"}},
                JsonFlag()},
      .examples = {{"kerf bench examples/tasks --report bench.html", "the examples, as a page"},
                   {"kerf bench KernelBench/level1 --max-bytes 67108864", "on a small machine"},
                   {"kerf bench tasks --resume", "after Ctrl-C"}},
      .run = RunBench};
}

}  // namespace kerf::cli
