#include "cli/bench/bench_tasks.h"

#include "artifact/graph_family.h"
#include "loop/task/graph_maker.h"
#include "loop/task/task_shrink.h"
#include "synth/synthesizer.h"

namespace kerf::cli {
namespace {

constexpr char kVerdictFile[] = "verdict.json";

Result<task::TaskFile> FileOf(const TaskSpec& spec) {
  return task::MakeTaskFile(spec.op_name + "_" + spec.framework + ".py", spec.task_desc,
                            task::ParseFramework(spec.framework));
}

std::optional<BenchRefusal> RefusalOf(const task::TaskGraphs& graphs, const TaskSpec& spec,
                                      bool dynamic) {
  if (graphs.refusal.has_value()) {
    const GraphRefusal& refusal = *graphs.refusal;
    return BenchRefusal{refusal.what, refusal.line, refusal.text, refusal.detail};
  }
  if (dynamic || graphs.variants.size() != 1) {
    return BenchRefusal{"shapes that vary", 0, "",
                        "kerf's synthesizer writes kernels for fixed shapes"};
  }
  synth::SynthOptions options;
  options.impl = ImplName(spec.impl);
  const auto made = synth::Synthesize(graphs.variants.front(), options);
  if (!made.ok()) return std::nullopt;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  if (refusal == nullptr) return std::nullopt;
  return BenchRefusal{refusal->op, refusal->line, refusal->text, refusal->reason};
}

}  // namespace

BenchTasks::BenchTasks(BenchPlan& plan, std::vector<BenchEntry> entries, RunView& view,
                       Context& context)
    : plan_(plan), entries_(std::move(entries)), view_(view), context_(context) {}

Result<std::vector<BenchTask>> BenchTasks::Run(conduct::Judge& judge,
                                               const std::function<bool()>& interrupted) {
  interrupted_ = interrupted;
  conduct::Driver driver(
      [&](const std::string& agent) -> llm::Provider& { return plan_.shop.models->Of(agent); },
      judge, *this, {.prepare = !plan_.shop.models->only_synth()});
  driver.Run([&] { return OpenNext(); }, plan_.at_once, interrupted);
  KERF_RETURN_IF_ERROR(failed_);
  std::vector<BenchTask> rows;
  for (BenchEntry& entry : entries_) {
    if (entry.done) rows.push_back(std::move(entry.row));
  }
  return rows;
}

std::unique_ptr<conduct::Task> BenchTasks::OpenNext() {
  while (next_ < entries_.size() && failed_.ok() && !interrupted_()) {
    const size_t index = next_++;
    BenchEntry& entry = entries_[index];
    if (entry.done) continue;
    begin_[index] = context_.clock.MonotonicNanos();
    Result<std::unique_ptr<conduct::Task>> task = Open(entry);
    if (task.ok()) {
      opened_.push_back(index);
      return std::move(*task);
    }
    if (!interrupted_()) Fail(entry, task.error());
  }
  return nullptr;
}

Result<std::unique_ptr<conduct::Task>> BenchTasks::Open(BenchEntry& entry) {
  if (plan_.settings.max_bytes > 0) KERF_RETURN_IF_ERROR(Shrink(entry));
  return OpenTask(plan_.args, plan_.shop, entry.spec, context_);
}

Status BenchTasks::Shrink(BenchEntry& entry) {
  KERF_ASSIGN_OR_RETURN(const task::TaskFile file, FileOf(entry.spec));
  auto python = interpreters_.find(file.framework);
  if (python == interpreters_.end()) {
    KERF_ASSIGN_OR_RETURN(
        const task::Interpreter found,
        task::FindInterpreter(task::SearchHere(context_.fs, plan_.cache_dir), file.framework));
    python = interpreters_.emplace(file.framework, found).first;
  }
  task::ShrinkOptions options;
  options.max_bytes = plan_.settings.max_bytes;
  options.max_work = static_cast<double>(plan_.settings.max_work);
  options.run.mode = plan_.mode;
  KERF_ASSIGN_OR_RETURN(task::ShrunkTask shrunk, task::ShrinkTask(context_.fs, file, options,
                                                                  python->second, plan_.cache_dir));
  entry.spec.task_desc = std::move(shrunk.text);
  entry.row.sizes = std::move(shrunk.report);
  if (!entry.row.sizes->changed.empty() && !context_.out.Live()) {
    context_.out.Note(entry.row.name + "  made smaller");
  }
  return {};
}

void BenchTasks::Fail(BenchEntry& entry, const Error& error) {
  entry.row.outcome = BenchOutcome::kError;
  entry.row.status = ErrorCodeName(error.code);
  entry.row.summary = error.message;
  context_.out.Note(entry.row.name + "  " + error.message);
  Finish(entry);
}

void BenchTasks::TakeGraph(BenchEntry& entry, bool with_refusal) {
  // A row without a family is better than none: what fails here fails quietly.
  const Result<task::TaskFile> file = FileOf(entry.spec);
  if (!file.ok()) return;
  const auto python =
      task::FindInterpreter(task::SearchHere(context_.fs, plan_.cache_dir), file->framework);
  if (!python.ok()) return;
  task::GraphOptions options;
  options.run.mode = plan_.mode;
  const auto graphs = task::MakeGraphs(context_.fs, *file, options, *python, plan_.cache_dir);
  if (!graphs.ok()) return;
  if (!graphs->variants.empty()) {
    entry.row.family = GraphFamilyName(FamilyOf(graphs->variants.front()));
  }
  if (with_refusal) entry.row.refusal = RefusalOf(*graphs, entry.spec, file->dynamic);
}

void BenchTasks::TakeOutcome(BenchEntry& entry, const conduct::Task& state,
                             const conduct::TaskOutcome& outcome) {
  BenchTask& row = entry.row;
  row.steps = outcome.steps;
  const Attempt* last = state.conductor().reflection().last();
  TakeGraph(entry, /*with_refusal=*/last == nullptr && plan_.shop.models->only_synth());
  if (outcome.success) {
    row.outcome = BenchOutcome::kCorrect;
    row.status = "passed";
    row.verify_dir = outcome.best_dir;
    const std::string folder = JoinPath(plan_.shop.log_dir, outcome.best_dir);
    const Result<std::string> verdict = context_.fs.ReadFile(JoinPath(folder, kVerdictFile));
    const Status taken = verdict.ok() ? TakeVerdict(*verdict, row) : Status(verdict.error());
    if (!taken.ok()) row.summary = "no measurement: " + taken.error().message;
    if (outcome.best->speedup.has_value()) {
      plan_.shop.models->Remember(outcome.best->code, *outcome.best->speedup);
    }
    return;
  }
  if (last != nullptr) {
    const bool unfit = last->status == VerdictStatusName(VerdictStatus::kTaskUnfit) ||
                       last->status == VerdictStatusName(VerdictStatus::kUnsupported);
    row.outcome = unfit ? BenchOutcome::kUnfit : BenchOutcome::kWrong;
    row.status = last->status;
    row.reason = last->reason;
    row.summary = last->summary;
    return;
  }
  row.outcome = row.refusal.has_value() ? BenchOutcome::kRefused : BenchOutcome::kError;
  row.summary = outcome.because;
  row.status = "refused";
  if (row.refusal.has_value()) return;
  row.status = outcome.error.has_value() ? ErrorCodeName(outcome.error->code) : "no_kernel";
  if (outcome.error.has_value()) row.summary = outcome.error->message;
}

void BenchTasks::Finish(BenchEntry& entry) {
  const auto index = static_cast<size_t>(&entry - entries_.data());
  entry.row.seconds = static_cast<double>(context_.clock.MonotonicNanos() - begin_[index]) / 1e9;
  entry.done = true;
  const Status kept = plan_.store.Add(entry.row, plan_.settings);
  if (failed_.ok()) failed_ = kept;
}

void BenchTasks::Asked(size_t task, const conduct::Task& state, const std::string& agent) {
  view_.Asked(task, state, agent);
}

void BenchTasks::Answered(size_t task, const conduct::Task& state, const llm::Reply& reply) {
  view_.Answered(task, state, reply);
}

void BenchTasks::Judging(size_t task, const conduct::Task& state) { view_.Judging(task, state); }

void BenchTasks::Preparing(size_t task, const conduct::Task& state) {
  view_.Preparing(task, state);
}

void BenchTasks::Waiting(size_t task, const conduct::Task& state, const std::string& what) {
  view_.Waiting(task, state, what);
}

void BenchTasks::Judged(size_t task, const conduct::Task& state,
                        const conduct::Judgement& judgement) {
  view_.Judged(task, state, judgement);
}

void BenchTasks::Ended(size_t task, const conduct::Task& state,
                       const conduct::TaskOutcome& outcome) {
  view_.Ended(task, state, outcome);
  // What was stopped has no result; --resume goes on with it.
  if (interrupted_() && (!outcome.success || outcome.because == "interrupted")) return;
  BenchEntry& entry = entries_[opened_[task]];
  TakeOutcome(entry, state, outcome);
  Finish(entry);
}

}  // namespace kerf::cli
