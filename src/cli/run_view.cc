#include "cli/run_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/render/step_text.h"

namespace kerf::cli {
namespace {

// More would push what was printed before off a usual terminal.
constexpr size_t kMostTasksShown = 12;

std::string Thousands(int64_t tokens) {
  if (tokens < 10'000) return std::to_string(tokens);
  return fmt::format("{}k", tokens / 1000);
}

}  // namespace

RunView::RunView(Output& out, Clock& clock, const llm::Ledger& ledger, size_t tasks)
    : out_(out), clock_(clock), ledger_(ledger), rows_(tasks), begin_(clock.MonotonicNanos()) {}

void RunView::Update(size_t task, const conduct::Task& state, const std::string& doing) {
  Row& row = rows_[task];
  if (row.name.empty()) row.since = clock_.MonotonicNanos();
  row.name = state.name();
  row.doing = doing;
  row.step = state.conductor().steps();
  row.limit = state.spec().limit_steps;
  row.running = true;
  if (const Attempt* best = state.conductor().reflection().best(); best != nullptr) {
    row.best = best->speedup.value_or(0);
  }
  if (out_.Live()) return Draw();
  out_.Note(Line(row));
}

void RunView::Asked(size_t task, const conduct::Task& state, const std::string& agent) {
  Update(task, state, agent);
}

void RunView::Answered(size_t task, const conduct::Task& /*state*/, const llm::Reply& reply) {
  rows_[task].tokens += reply.usage.input_total + reply.usage.output_total;
}

void RunView::Judging(size_t task, const conduct::Task& state) { Update(task, state, "verifying"); }

void RunView::Preparing(size_t task, const conduct::Task& state) {
  Update(task, state, "running the reference");
}

void RunView::Waiting(size_t task, const conduct::Task& state, const std::string& what) {
  Update(task, state, what);
}

void RunView::Judged(size_t /*task*/, const conduct::Task& state,
                     const conduct::Judgement& judgement) {
  const Verdict& verdict = judgement.verdict;
  std::string text = VerdictStatusName(verdict.status);
  if (!verdict.reason.empty()) text += " (" + verdict.reason + ")";
  if (verdict.timing.has_value() && !verdict.timing->speedups.empty()) {
    text += fmt::format(", {:.2f}x", verdict.timing->speedups.front().speedup);
  }
  out_.Note(fmt::format("{}  step {}  {}: {}", state.name(), state.conductor().steps(), text,
                        verdict.summary));
}

void RunView::Ended(size_t task, const conduct::Task& state, const conduct::TaskOutcome& outcome) {
  Row& row = rows_[task];
  row.running = false;
  row.ended = true;
  std::string text = outcome.success ? "passed" : "no kernel";
  if (outcome.best.has_value() && outcome.best->speedup.has_value()) {
    text += fmt::format(", {:.2f}x", *outcome.best->speedup);
  }
  out_.Note(fmt::format("{}  ended after {} steps: {} ({})", state.name(), outcome.steps, text,
                        outcome.because));
  if (out_.Live()) Draw();
}

void RunView::Idle() {
  if (out_.Live()) Draw();
}

void RunView::Say(const std::string& what) {
  said_ = what;
  out_.Note(what);
}

std::string RunView::Line(const Row& row) const {
  std::string line = fmt::format("{}  step {}/{}  {}", row.name, row.step, row.limit, row.doing);
  if (out_.Live()) {
    const double ms = static_cast<double>(clock_.MonotonicNanos() - row.since) / 1e6;
    line += "  " + FormatDuration(ms);
  }
  if (row.tokens > 0) line += fmt::format("  {} tokens", Thousands(row.tokens));
  if (row.best > 0) line += fmt::format("  best {:.2f}x", row.best);
  return line;
}

void RunView::Draw() {
  std::string lines;
  size_t shown = 0;
  size_t running = 0;
  for (const Row& row : rows_) {
    if (!row.running) continue;
    ++running;
    if (shown == kMostTasksShown) continue;
    ++shown;
    lines += Line(row) + "\n";
  }
  const auto ended =
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.ended; });
  if (rows_.size() > 1) {
    const llm::Account total = ledger_.Total();
    lines +=
        fmt::format("{} of {} ended, {} running  {}", ended, rows_.size(), running,
                    FormatDuration(static_cast<double>(clock_.MonotonicNanos() - begin_) / 1e6));
    if (total.tokens() > 0) lines += fmt::format("  {} tokens", Thousands(total.tokens()));
    if (total.cost > 0) lines += fmt::format("  ${:.3f}", static_cast<double>(total.cost) / 1e9);
    lines += "\n";
  }
  if (!lines.empty()) lines.pop_back();
  out_.Progress(running == 0 ? "" : lines);
}

}  // namespace kerf::cli
