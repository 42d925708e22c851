#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "trace/reader.h"
#include "trace/step_facts.h"

namespace kerf::cli {
namespace {

// What a task came to, in one row.
struct TaskSummary {
  int64_t steps = 0;
  int64_t records = 0;
  std::string last_action;
  Verification verification = Verification::kNone;
  std::string last_time;
  double duration_ms = 0;
  int64_t tokens = 0;
};

TaskSummary Summarize(const trace::TaskSteps& task) {
  TaskSummary summary;
  for (const Step& step : task.steps) {
    ++summary.records;
    if (step.time > summary.last_time) summary.last_time = step.time;
    const trace::StepFacts facts = trace::ReadStepFacts(step);
    summary.duration_ms += facts.duration_ms.value_or(0);
    summary.tokens += facts.input_tokens.value_or(0) + facts.output_tokens.value_or(0);
    if (step.kind == RecordKind::kConductor) continue;
    summary.steps = std::max(summary.steps, step.step);
    summary.last_action = step.action;
    if (step.kind == RecordKind::kVerifier) summary.verification = step.verification;
  }
  return summary;
}

class Lister {
 public:
  Lister(const Args& args, Context& context, bool many_runs)
      : args_(args), context_(context), json_(args.Has("--json")), many_runs_(many_runs) {}

  Status ListRun(const trace::Run& run) {
    for (const auto& [path, reason] : run.skipped) {
      context_.out.Note("kerf: not listed: " + path + ": " + reason);
    }
    const trace::VerificationResults results =
        trace::ReadVerificationResults(context_.fs, run.path);
    for (const std::string& op : run.ops) {
      if (args_.Has("--op") && op != args_.Get("--op")) continue;
      KERF_ASSIGN_OR_RETURN(trace::OpTrace trace,
                            trace::ReadOp(context_.fs, run.path, op, results));
      NoteLostLines(trace.LostLines(), trace.dir, context_.out);
      for (const trace::TaskSteps& task : trace.tasks) {
        if (args_.Has("--task") && task.task != args_.Get("--task")) continue;
        ++tasks_;
        args_.Has("--steps") ? ListSteps(run, task) : ListTask(run, task);
      }
    }
    return {};
  }

  Result<int> Finish() {
    if (!json_ && tasks_ > 0) {
      context_.out.Data((args_.Has("--steps") ? step_table_ : task_table_).Render(context_.out));
    }
    if (tasks_ == 0) return NotFound("no task matches; 'kerf trace ls DIR' shows what there is");
    return kExitDone;
  }

 private:
  static std::vector<Table::Column> Columns(bool many_runs, std::vector<Table::Column> rest) {
    if (many_runs) rest.insert(rest.begin(), {"RUN"});
    return rest;
  }

  void ListTask(const trace::Run& run, const trace::TaskSteps& task) {
    const TaskSummary summary = Summarize(task);
    if (json_) {
      const nlohmann::ordered_json row = {{"run", run.path},
                                          {"op_name", task.op},
                                          {"task_id", task.task},
                                          {"steps", summary.steps},
                                          {"records", summary.records},
                                          {"last_action", summary.last_action},
                                          {"verdict", VerificationName(summary.verification)},
                                          {"last_time", summary.last_time},
                                          {"duration_ms", summary.duration_ms},
                                          {"tokens", summary.tokens}};
      context_.out.Data(DumpJson(row) + "\n");
      return;
    }
    std::vector<Table::Cell> row = {{task.op},
                                    {task.task},
                                    {std::to_string(summary.steps)},
                                    {summary.last_action},
                                    VerdictCell(summary.verification),
                                    {ShortTime(summary.last_time)},
                                    {FormatDuration(summary.duration_ms)},
                                    {summary.tokens > 0 ? std::to_string(summary.tokens) : ""}};
    if (many_runs_) row.insert(row.begin(), {run.path});
    task_table_.AddRow(std::move(row));
  }

  void ListSteps(const trace::Run& run, const trace::TaskSteps& task) {
    for (const Step& step : task.steps) {
      if (json_) {
        context_.out.Data(StepJson(run.path, task.op, step) + "\n");
        continue;
      }
      const trace::StepFacts facts = trace::ReadStepFacts(step);
      std::vector<Table::Cell> row = {
          {task.op},
          {task.task},
          {std::to_string(step.step)},
          {step.kind == RecordKind::kConductor ? "  " + step.check : step.action},
          VerdictCell(step.verification),
          {ShortTime(step.time)},
          {FormatDuration(facts.duration_ms.value_or(0))},
          {step.journaled ? (step.recovered ? "recovered" : "") : "no journal"}};
      if (many_runs_) row.insert(row.begin(), {run.path});
      step_table_.AddRow(std::move(row));
    }
  }

  const Args& args_;
  Context& context_;
  const bool json_;
  const bool many_runs_;
  int64_t tasks_ = 0;
  Table task_table_{Columns(many_runs_, {{"OP"},
                                         {"TASK"},
                                         {"STEPS", Align::kRight},
                                         {"LAST ACTION"},
                                         {"VERDICT"},
                                         {"LAST TIME (UTC)"},
                                         {"DURATION", Align::kRight},
                                         {"TOKENS", Align::kRight}})};
  Table step_table_{Columns(many_runs_, {{"OP"},
                                         {"TASK"},
                                         {"STEP", Align::kRight},
                                         {"ACTION"},
                                         {"VERDICT"},
                                         {"TIME (UTC)"},
                                         {"DURATION", Align::kRight},
                                         {"NOTE"}})};
};

Result<int> RunTraceLs(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const std::vector<trace::Run> runs,
                        trace::FindRuns(context.fs, args.Positional(0)));
  Lister lister(args, context, runs.size() > 1);
  for (const trace::Run& run : runs) KERF_RETURN_IF_ERROR(lister.ListRun(run));
  return lister.Finish();
}

}  // namespace

Verb TraceLsVerb() {
  return {
      .name = "trace ls",
      .summary = "List runs, tasks and steps of a log directory",
      .details =
          "Reads what kerf or any generation of AIKG wrote, with or without a journal.\n"
          "With --json one object per line.",
      .positionals = {{.name = "DIR", .help = "a run, a folder of runs, or one operator's folder"}},
      .flags = {{.name = "--steps", .help = "one row per record instead of one per task"},
                {.name = "--op", .value_name = "NAME", .help = "only this operator"},
                {.name = "--task", .value_name = "ID", .help = "only this task"},
                JsonFlag()},
      .examples = {{"kerf trace ls logs", "every task with its last action and verdict"},
                   {"kerf trace ls logs --op swish --steps", "every step of one operator"}},
      .run = RunTraceLs};
}

}  // namespace kerf::cli
