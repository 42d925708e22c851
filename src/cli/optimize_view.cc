#include "cli/optimize_view.h"

#include <fmt/core.h>

#include "cli/render/run_text.h"
#include "cli/render/step_text.h"

namespace kerf::cli {
namespace {

// More would push what was printed before off a usual terminal.
constexpr size_t kMostCasesShown = 8;

}  // namespace

OptimizeView::OptimizeView(Output& out, Clock& clock, const llm::Ledger& ledger)
    : out_(out), clock_(clock), ledger_(ledger), begin_(clock.MonotonicNanos()) {}

void OptimizeView::Doing(const optimize::Line& line, const std::string& what) {
  doing_[line.name()] = what;
  if (out_.Live()) return Draw();
  out_.Note(fmt::format("{}  iteration {}  {}", line.name(), line.trial().iteration, what));
}

void OptimizeView::Asked(const optimize::Line& line, const std::string& agent) {
  Doing(line, agent);
}

void OptimizeView::Answered(const optimize::Line& line, const llm::Reply& /*reply*/) {
  doing_.erase(line.name());
}

void OptimizeView::Judging(const optimize::Line& line) { Doing(line, "verifying"); }

void OptimizeView::Waiting(const optimize::Line& line, const std::string& what) {
  Doing(line, what);
}

void OptimizeView::Judged(const optimize::Line& line) {
  const optimize::Trial& trial = line.trial();
  doing_.erase(line.name());
  std::string text = trial.status + (trial.reason.empty() ? "" : " (" + trial.reason + ")");
  if (trial.speedup.has_value()) {
    text += fmt::format(", {:.2f}x", *trial.speedup);
  } else if (trial.correct) {
    text += ", not measured";
  }
  if (!trial.correct) text += ": " + trial.summary;
  out_.Note(fmt::format("{}  iteration {}  {}  {}", line.name(), trial.iteration,
                        optimize::ModeName(trial.mode), text));
}

void OptimizeView::Prepared(const optimize::Case& one) {
  if (!one.not_here.empty()) out_.Note(one.name + "  not judged: " + one.not_here);
}

void OptimizeView::Ended(const optimize::IterationReport& report) {
  doing_.clear();
  out_.Progress("");
  std::string text =
      fmt::format("iteration {}{}: {} cases, {} called, {} right, {} measured; {} solved so far",
                  report.iteration, report.complete ? "" : " (not complete)", report.cases,
                  report.called, report.executed, report.measured, report.solved);
  const std::string money = MoneyText(ledger_.Total());
  if (!money.empty()) text += "; " + money;
  out_.Note(text);
}

void OptimizeView::Idle() {
  if (out_.Live()) Draw();
}

void OptimizeView::Draw() {
  std::string lines;
  size_t shown = 0;
  for (const auto& [name, what] : doing_) {
    if (shown++ == kMostCasesShown) break;
    lines += name + "  " + what + "\n";
  }
  lines += fmt::format("{} under way  {}", doing_.size(),
                       FormatDuration(static_cast<double>(clock_.MonotonicNanos() - begin_) / 1e6));
  out_.Progress(lines);
}

}  // namespace kerf::cli
