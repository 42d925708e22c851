// kerf run: from task files to verified kernels.
#include <chrono>
#include <stop_token>
#include <thread>

#include "base/cache_dir.h"
#include "cli/interrupt.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/run_text.h"
#include "cli/run_request.h"
#include "cli/run_setup.h"
#include "cli/run_view.h"
#include "loop/conduct/driver.h"
#include "loop/conduct/failed_calls.h"
#include "loop/conduct/reference_writer.h"
#include "loop/conduct/task_record.h"
#include "sandbox/stop_scope.h"
#include "trace/reader.h"

namespace kerf::cli {
namespace {

// The newest run below the configured folder that holds the task.
Result<std::string> NewestRun(FileSystem& fs, const Config& config, const TaskSpec& spec) {
  const Result<std::vector<DirEntry>> entries = fs.List(config.log_dir);
  std::string newest;
  int64_t newest_time = 0;
  for (const DirEntry& entry : entries.ok() ? *entries : std::vector<DirEntry>()) {
    const std::string run = JoinPath(config.log_dir, entry.name);
    const auto info = fs.Stat(JoinPath(JoinPath(run, spec.op_name), trace::kJournalName));
    if (!info.ok() || !info->has_value() || (*info)->mtime_ns <= newest_time) continue;
    newest = run;
    newest_time = (*info)->mtime_ns;
  }
  if (newest.empty()) {
    return NotFound("no run of " + spec.op_name + " in " + config.log_dir +
                    " to resume; name it with --log-dir");
  }
  return newest;
}

Result<std::string> LogDir(const Args& args, const Config& config, const TaskSpec& spec,
                           FileSystem& fs) {
  const std::string given = ExpandHome(args.Get("--log-dir"));
  if (!given.empty()) return given;
  if (args.Has("--resume")) return NewestRun(fs, config, spec);
  return FreshLogDir(config, "Task");
}

// Ctrl-C while this thread itself waits, for a model or in the sandbox.
class EarlyStop {
 public:
  EarlyStop(const InterruptWatch& watch, Models& models)
      : scope_(stop_.get_token()), thread_([&, this](const std::stop_token& done) {
          while (!done.stop_requested()) {
            if (watch.interrupted()) {
              stop_.request_stop();
              models.Stop();
              return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
          }
        }) {}

 private:
  std::stop_source stop_;
  sandbox::StopScope scope_;
  std::jthread thread_;  // last: it uses the others
};

// The task file for a sentence; when the run is resumed, the one that was written then.
Result<std::string> WriteSentence(const Args& args, Workshop& shop, const TaskSpec& spec,
                                  Context& context) {
  const auto before = conduct::LoadTaskRecord(context.fs, shop.log_dir, spec.op_name, spec.task_id);
  if (before.ok() && args.Has("--resume")) return before->options.spec.task_desc;
  if (before.ok()) {
    return InvalidInput(shop.log_dir + " already holds " + spec.op_name + "/" + spec.task_id +
                        "; --resume continues it, another --log-dir or --task-id begins anew");
  }
  conduct::ReferenceWriterOptions options;
  options.log_dir = shop.log_dir;
  KERF_ASSIGN_OR_RETURN(options.cache_dir, OpenCacheDir());
  options.model = shop.models->NameOf("task_writer");
  options.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  options.resume = args.Has("--resume");
  context.out.Note("writing a task file for: " + spec.task_desc);
  return conduct::WriteReference(
      spec, options, {context.fs, context.clock, *shop.ids, *shop.prompts, shop.redactor},
      shop.models->Of("task_writer"), MakeReferenceCheck(context.fs, spec, options));
}

// A task that did not come to its loop.
RunResult NotBegun(const TaskSpec& spec, const Error& error, bool interrupted) {
  RunResult result{spec, {}};
  result.outcome.because = interrupted ? "interrupted" : error.message;
  if (!interrupted) result.outcome.error = error;
  return result;
}

// Sentences become task files first. What cannot be written is taken out and told of in `failed`.
Status WriteSentences(const Args& args, Workshop& shop, const InterruptWatch& watch,
                      std::vector<TaskSpec>& specs, std::vector<RunResult>& failed,
                      Context& context) {
  std::vector<TaskSpec> usable;
  const EarlyStop stop(watch, *shop.models);
  for (TaskSpec& spec : specs) {
    if (!IsSentence(spec)) {
      usable.push_back(std::move(spec));
      continue;
    }
    if (shop.models->only_synth()) {
      return InvalidInput("'" + spec.task_desc +
                          "' is no task file; a model can write one from a sentence: --model "
                          "openai:MODEL (docs/models.md)");
    }
    Result<std::string> text = WriteSentence(args, shop, spec, context);
    if (!text.ok()) {
      failed.push_back(NotBegun(spec, text.error(), watch.interrupted()));
      continue;
    }
    shop.sentences[spec.op_name + "/" + spec.task_id] = spec.task_desc;
    spec.task_desc = *std::move(text);
    usable.push_back(std::move(spec));
  }
  specs = std::move(usable);
  return {};
}

// One that cannot be opened (its records are damaged) does not keep the others from going on.
Result<std::vector<std::unique_ptr<conduct::Task>>> OpenTasks(const Args& args, Workshop& shop,
                                                              const std::vector<TaskSpec>& specs,
                                                              std::vector<RunResult>& failed,
                                                              Context& context) {
  std::vector<std::unique_ptr<conduct::Task>> tasks;
  for (const TaskSpec& spec : specs) {
    auto task = OpenTask(args, shop, spec, context);
    if (task.ok()) {
      tasks.push_back(*std::move(task));
      continue;
    }
    if (specs.size() == 1) return task.error();
    context.out.Note(spec.op_name + "/" + spec.task_id + ": " + task.error().message);
    failed.push_back(NotBegun(spec, task.error(), false));
  }
  if (tasks.empty() && !specs.empty()) return *failed.back().outcome.error;
  return tasks;
}

std::vector<conduct::TaskOutcome> RunLoop(Workshop& shop, conduct::Judge& judge,
                                          const InterruptWatch& watch, Context& context,
                                          std::vector<std::unique_ptr<conduct::Task>>& tasks) {
  RunView view(context.out, context.clock, shop.models->ledger(), tasks.size());
  bool stopping = false;
  conduct::Driver driver(
      [&](const std::string& agent) -> llm::Provider& { return shop.models->Of(agent); }, judge,
      view, {.prepare = !shop.models->only_synth()});
  std::vector<conduct::TaskOutcome> outcomes = driver.Run(tasks, [&] {
    if (watch.interrupted() && !stopping) {
      stopping = true;
      view.Say("stopping; what was done is kept and --resume goes on (again: at once)");
      shop.models->Stop();
      judge.Stop();
    }
    return stopping;
  });
  context.out.Progress("");
  return outcomes;
}

Result<int> RunRun(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(Config config, RunConfig(args, context.fs));
  KERF_ASSIGN_OR_RETURN(RunTasks wanted, RunSpecs(args, config, context.fs));
  for (const std::string& why : wanted.skipped) context.out.Note("skipped: " + why);
  for (const std::string& path : wanted.ignored) {
    context.out.Note("no task (it has no class Model): " + path);
  }
  std::vector<TaskSpec>& specs = wanted.specs;
  KERF_RETURN_IF_ERROR(CheckOutput(args, specs.size(), context.fs));
  if (args.Has("--fork") && specs.size() > 1) return InvalidInput("--fork takes one task");
  if (args.Has("--fork") && args.Has("--resume")) {
    return InvalidInput("--fork begins a new run, --resume continues one: choose");
  }
  KERF_ASSIGN_OR_RETURN(std::string log_dir, LogDir(args, config, specs.front(), context.fs));
  if (args.Has("--resume")) {
    KERF_RETURN_IF_ERROR(TakeRecorded(args, log_dir, context.fs, config, specs));
  }
  if (args.Has("--fork")) {
    KERF_RETURN_IF_ERROR(TakeForked(args, context.fs, config, specs.front()));
  }
  KERF_ASSIGN_OR_RETURN(Workshop shop,
                        SetUpRun(args, specs, std::move(config), std::move(log_dir), context));
  if (args.Has("--resume")) AddRecordedUse(shop, specs, context);
  const InterruptWatch watch;
  std::vector<RunResult> results;
  KERF_RETURN_IF_ERROR(WriteSentences(args, shop, watch, specs, results, context));
  KERF_ASSIGN_OR_RETURN(auto tasks, OpenTasks(args, shop, specs, results, context));
  if (!tasks.empty()) {
    KERF_ASSIGN_OR_RETURN(const auto judge, MakeJudge(args, shop.config, specs, context));
    context.out.Note("kerf run: " + shop.log_dir + ", model " + shop.models->NameOf(""));
    const auto outcomes = RunLoop(shop, *judge, watch, context, tasks);
    for (size_t i = 0; i < tasks.size(); ++i) {
      results.push_back({tasks[i]->spec(), outcomes[i]});
      const auto& best = outcomes[i].best;
      if (best.has_value() && best->speedup.has_value()) {
        shop.models->Remember(best->code, *best->speedup);
      }
    }
  }
  KERF_RETURN_IF_ERROR(KeepOutput(args, context.fs, results));
  RunReport report{shop.log_dir, std::move(results), shop.models->ledger().Total(),
                   shop.models->ledger().ToJson(), watch.interrupted()};
  report.skipped = std::move(wanted.skipped);
  report.ignored = std::move(wanted.ignored);
  const auto failed_calls = conduct::ReadFailedCalls(context.fs, shop.log_dir);
  report.failed_calls = failed_calls.ok() && !failed_calls->empty();
  context.out.Data(args.Has("--json") ? RunJson(report) : RunText(report, context.out));
  return RunExitCode(report);
}

}  // namespace

Verb RunVerb() {
  return {
      .name = "run",
      .summary = "Make a verified kernel from a task file",
      .details =
          "A Designer plans, a Coder writes, a Verifier judges, a Conductor decides what comes\n"
          "next; every step is recorded. What is not given is taken from the configuration, the\n"
          "task file and this machine. Exit code 1: not every task has a kernel that passed; 3:\n"
          "an endpoint or this machine failed.",
      .positionals = {{"TASK", "a task file, a folder of them, or a sentence in quotes", true,
                       true}},
      .flags = {{.name = "--model",
                 .value_name = "SPEC",
                 .help = "synth, or openai, anthropic, recorded, scripted, import with :NAME"},
                {.name = "--impl",
                 .value_name = "I",
                 .help = "else cpp, or cuda_c on a GPU",
                 .choices = {"cpp", "cuda_c", "hip", "triton", "torch_ext", "swft"}},
                {.name = "--backend",
                 .value_name = "B",
                 .help = "else what this machine has",
                 .choices = {"cpu", "cuda", "ascend"}},
                {.name = "--arch", .value_name = "A", .help = "x86_64, h200, ascend910b4 …"},
                {.name = "--framework",
                 .value_name = "F",
                 .help = "else from its imports",
                 .choices = {"torch", "numpy", "mindspore"}},
                {.name = "--op-name",
                 .value_name = "NAME",
                 .help = "the kernel's name; else the file's"},
                {.name = "--task-id",
                 .value_name = "ID",
                 .help = "tells tasks of one name apart; else 0"},
                {.name = "--task-type",
                 .value_name = "T",
                 .help = "profile goes on for a faster one",
                 .choices = {"precision_only", "profile"}},
                {.name = "--first",
                 .value_name = "WHO",
                 .help = "writes the first candidate; else synth, with profile and an endpoint",
                 .choices = {"synth", "model"}},
                {.name = "--limit-steps",
                 .value_name = "N",
                 .help = "actions at most, verifications included; else 10",
                 .number = true},
                {.name = "--max-tokens-total",
                 .value_name = "N",
                 .help = "stop before the call that would use more",
                 .number = true},
                {.name = "--max-cost",
                 .value_name = "USD",
                 .help = "stop before the call that would cost more"},
                {.name = "--config", .value_name = "FILE", .help = "YAML; see kerf config show"},
                {.name = "--prompts",
                 .value_name = "DIR",
                 .help = "prompts that replace kerf's own"},
                {.name = "--log-dir",
                 .value_name = "DIR",
                 .help = "the run's own folder; else a new one below log_dir"},
                {.name = "--resume", .help = "go on after the last recorded step"},
                {.name = "--fork",
                 .value_name = "RUN:TASK:STEP",
                 .help = "a new run that begins with another one's first steps"},
                {.name = "--coder-only", .help = "no designs, checks or analyses"},
                {.name = "--start",
                 .value_name = "ACTION",
                 .help = "begin elsewhere: DO_CODER, VERIFY …"},
                {.name = "--design", .value_name = "FILE", .help = "a design (AUL) to begin with"},
                {.name = "--code", .value_name = "FILE", .help = "a kernel to begin with"},
                {.name = "--output", .value_name = "FILE", .help = "write the best kernel there"},
                {.name = "--jobs",
                 .value_name = "N",
                 .help = "candidates judged at once",
                 .number = true},
                {.name = "--loose", .help = "recorded replies by order, not by request"},
                {.name = "--sandbox",
                 .value_name = "MODE",
                 .help = "walls around candidates",
                 .default_value = "best",
                 .choices = {"required", "best", "off"}},
                JsonFlag()},
      .examples = {{"kerf run examples/tasks/softmax_torch.py", "kerf's own synthesizer"},
                   {"kerf run tasks/ --model openai:gpt-5", "all of a folder"},
                   {"kerf run task.py --resume", "after a crash or Ctrl-C"}},
      .run = RunRun};
}

}  // namespace kerf::cli
