#include "loop/optimize/optimizer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kerf::optimize {
namespace {

constexpr std::chrono::milliseconds kTick{200};
// Who asks whether a case can be judged: not one of the lines.
constexpr size_t kPreparing = size_t{1} << 40;

}  // namespace

Optimizer::Optimizer(DataSet& data, RunFiles& files, const LinePorts& ports,
                     conduct::Dispatcher& dispatcher, Watcher& watcher)
    : data_(data),
      files_(files),
      ports_(ports),
      dispatcher_(dispatcher),
      watcher_(watcher),
      lines_each_(static_cast<size_t>(ports.rules.descendants)) {}

Status Optimizer::Open(const PlaybackOf& playback_of) {
  cases_.clear();
  for (const Case& one : data_.cases) {
    Running running{CaseState(ports_.rules), {}, {}};
    for (size_t i = 0; i < lines_each_; ++i) {
      Result<conduct::Playback> playback = playback_of(one.folder, std::to_string(i));
      if (!playback.ok() && playback.error().code != ErrorCode::kNotFound) return playback.error();
      running.lines.push_back(
          std::make_unique<Line>(one, static_cast<int64_t>(i), ports_,
                                 playback.ok() ? *std::move(playback) : conduct::Playback()));
    }
    cases_.push_back(std::move(running));
  }
  return {};
}

Status Optimizer::BeginCase(size_t index) {
  const Case& one = data_.cases[index];
  cases_[index].trials.clear();
  const bool ask = live_ && !prepared_;
  if (!one.not_here.empty()) {
    if (ask) watcher_.Prepared(one);
    return {};
  }
  if (!ask) return BeginLines(index);
  dispatcher_.Prepare(kPreparing + index, one.spec);
  ++under_way_;
  return {};
}

void Optimizer::TakePrepared(size_t index, const Status& status) {
  Case& one = data_.cases[index];
  if (!status.ok()) one.not_here = status.error().message;
  watcher_.Prepared(one);
}

Status Optimizer::BeginLines(size_t index) {
  for (size_t k = 0; k < lines_each_; ++k) {
    Line& line = *cases_[index].lines[k];
    if (!line.ended().empty()) continue;
    line.Begin(iteration_, cases_[index].state, live_);
    KERF_RETURN_IF_ERROR(Advance(index * lines_each_ + k));
  }
  return {};
}

Status Optimizer::Advance(size_t who) {
  Line& line = LineOf(who);
  KERF_ASSIGN_OR_RETURN(Line::Work work, line.Next());
  switch (work.kind) {
    case Line::Work::Kind::kAsk:
      ++under_way_;
      watcher_.Asked(line, work.request.agent);
      dispatcher_.Ask(who, std::move(work.request));
      return {};
    case Line::Work::Kind::kVerify:
      ++under_way_;
      watcher_.Judging(line);
      dispatcher_.Verify(who, work.spec, std::move(work.candidate));
      return {};
    case Line::Work::Kind::kDone:
      break;
  }
  if (line.error().has_value() && !error_.has_value()) error_ = line.error();
  if (std::optional<Trial> trial = line.TakeTrial()) {
    cases_[who / lines_each_].trials.push_back(*std::move(trial));
  }
  return {};
}

Status Optimizer::Take(conduct::Dispatcher::Answer answer, bool stopped) {
  --under_way_;
  if (const auto* status = std::get_if<Status>(&answer.what)) {
    const size_t index = answer.who - kPreparing;
    if (stopped) return {};
    TakePrepared(index, *status);
    return data_.cases[index].not_here.empty() ? BeginLines(index) : Status();
  }
  Line& line = LineOf(answer.who);
  if (auto* reply = std::get_if<Result<llm::Reply>>(&answer.what)) {
    if (reply->ok()) watcher_.Answered(line, **reply);
    KERF_RETURN_IF_ERROR(line.TakeReply(std::move(*reply)));
  } else {
    auto& judgement = std::get<Result<conduct::Judgement>>(answer.what);
    const bool judged = judgement.ok();
    KERF_RETURN_IF_ERROR(line.TakeJudgement(std::move(judgement)));
    if (judged) watcher_.Judged(line);
  }
  // What has arrived is recorded; no more is begun.
  if (stopped) line.Stop();
  return Advance(answer.who);
}

Result<bool> Optimizer::RunIteration(int64_t iteration, bool live,
                                     const std::function<bool()>& interrupted) {
  iteration_ = iteration;
  live_ = live;
  Status failed;  // what cannot be recorded ends the run, once all that is under way has come back
  for (size_t i = 0; i < cases_.size() && failed.ok(); ++i) failed = BeginCase(i);
  bool stopped = false;
  while (under_way_ > 0) {
    std::optional<conduct::Dispatcher::Answer> answer = dispatcher_.Wait(kTick);
    stopped = interrupted() || stopped;
    if (!answer.has_value()) {
      watcher_.Idle();
      continue;
    }
    if (const auto* what = std::get_if<std::string>(&answer->what)) {
      watcher_.Waiting(LineOf(answer->who), *what);
      continue;
    }
    if (!failed.ok()) {
      --under_way_;
      continue;
    }
    failed = Take(*std::move(answer), stopped);
  }
  KERF_RETURN_IF_ERROR(failed);
  prepared_ = prepared_ || (live && !stopped);
  if (stopped) error_.reset();  // what was under way says that it was stopped
  return !stopped && !error_.has_value();
}

bool Optimizer::AnyLineLeft() const {
  for (size_t i = 0; i < cases_.size(); ++i) {
    if (!data_.cases[i].not_here.empty()) continue;
    for (const auto& line : cases_[i].lines) {
      if (line->ended().empty()) return true;
    }
  }
  return false;
}

std::vector<CaseView> Optimizer::Views() const {
  std::vector<CaseView> views;
  for (size_t i = 0; i < cases_.size(); ++i) {
    // Only when it is true of all lines.
    std::string note;
    for (const auto& line : cases_[i].lines) note = line->ended();
    for (const auto& line : cases_[i].lines) {
      if (line->ended().empty()) note.clear();
    }
    views.push_back({data_.cases[i], cases_[i].state, std::move(note)});
  }
  return views;
}

IterationReport Optimizer::ReportIteration(int64_t iteration, bool complete) const {
  IterationReport report{iteration, complete, static_cast<int64_t>(cases_.size())};
  for (const Running& one : cases_) {
    bool called = false;
    bool executed = false;
    bool measured = false;
    for (const Trial* trial : one.state.LastRound()) {
      called = called || trial->pass_call;
      executed = executed || trial->pass_exe;
      measured = measured || trial->speedup.has_value();
    }
    report.called += called ? 1 : 0;
    report.executed += executed ? 1 : 0;
    report.measured += measured ? 1 : 0;
    report.solved += one.state.ancestors().empty() ? 0 : 1;
  }
  return report;
}

CaseReport Optimizer::ReportCase(size_t index) const {
  const Case& data = data_.cases[index];
  const CaseState& state = cases_[index].state;
  CaseReport report;
  report.name = data.name;
  report.folder = data.folder;
  report.impl = ImplName(data.spec.impl);
  report.solved = !state.ancestors().empty();
  report.attempts = static_cast<int64_t>(state.trials().size());
  if (const Trial* best = BestOf(state); best != nullptr) {
    report.code = best->code;
    report.speedup = best->speedup;
  }
  if (!state.trials().empty()) {
    report.status = state.trials().back().status;
    report.summary = state.trials().back().summary;
  }
  report.because = data.not_here.empty() ? "" : "not judged: " + data.not_here;
  for (const auto& line : cases_[index].lines) {
    if (report.because.empty()) report.because = line->ended();
  }
  return report;
}

Result<OptimizeReport> Optimizer::Run(int64_t iterations, const PlaybackOf& playback_of,
                                      const std::function<bool()>& interrupted) {
  KERF_RETURN_IF_ERROR(Open(playback_of));
  OptimizeReport report;
  report.last_iteration = files_.last_complete();
  report.complete = true;
  for (int64_t i = 0; i < iterations && report.complete; ++i) {
    const bool live = i > files_.last_complete();
    // The first pair is written in any case: it says why nothing was done.
    if (live && i > 0 && !AnyLineLeft()) {
      report.because = "nothing is left to try";
      break;
    }
    KERF_ASSIGN_OR_RETURN(const bool complete, RunIteration(i, live, interrupted));
    bool any = complete;
    for (Running& one : cases_) {
      any = any || !one.trials.empty();
      one.state.EndIteration(std::move(one.trials));
    }
    if (!live) continue;
    report.complete = complete;
    // Without anything new the pair before says it all.
    if (!any) continue;
    KERF_RETURN_IF_ERROR(files_.Write(i, MakePair(Views()), complete));
    report.last_iteration = i;
    report.iterations.push_back(ReportIteration(i, complete));
    watcher_.Ended(report.iterations.back());
  }
  if (error_.has_value()) report.because = error_->message;
  if (!report.complete && report.because.empty()) report.because = "interrupted";
  report.error = error_;
  for (size_t i = 0; i < cases_.size(); ++i) report.cases.push_back(ReportCase(i));
  return report;
}

}  // namespace kerf::optimize
