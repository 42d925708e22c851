#include "sim/machine/launch.h"

#include <kerf_log/writer.h>

#include "sim/machine/sim_core.h"

namespace kerf::sim {
namespace {

constexpr size_t kMostFindings = 200;

}  // namespace

Launch::Launch(const LaunchConfig& config, GlobalMemory& global, kerf_pto::Core** current)
    : config_(config), global_(global), current_(current) {}

Launch::~Launch() = default;

void Launch::AddCore(CoreSpec spec) {
  cores_.push_back(std::make_unique<SimCore>(*this, std::move(spec)));
}

// The same thing at the same line of whichever core is told once, with how often it happened.
void Launch::Report(const SimCore& core, FindingKind kind, bool fatal, const std::string& text) {
  const std::string file = core.site_.file;
  for (Finding& known : findings_) {
    if (known.kind != kind || known.line != core.site_.line || known.fatal != fatal ||
        known.file != file || known.instruction != OpName(core.op_)) {
      continue;
    }
    ++known.count;
    return;
  }
  if (findings_.size() >= kMostFindings) return;
  findings_.push_back({kind, fatal, OpName(core.op_), text, file, core.site_.line, core.Name(), 1});
}

// Runs the core if it can go on. Whether something happened.
bool Launch::Step(SimCore& core) {
  if (core.fiber_.done() || core.stopped_) return false;
  if (core.ready_ != nullptr && !core.ready_()) return false;
  const bool waited = core.ready_ != nullptr;
  const uint64_t before = core.executed_;
  if (active_ != &core) {
    if (active_ != nullptr && active_->spec_.leave) active_->spec_.leave();
    active_ = &core;
    if (core.spec_.enter) core.spec_.enter();
  }
  *current_ = &core;
  core.fiber_.Resume();
  return waited || core.executed_ != before || core.fiber_.done() || core.stopped_;
}

void Launch::ReportDeadlock() {
  for (const auto& core : cores_) {
    if (core->fiber_.done() || core->stopped_) continue;
    std::string text = core->Name() + " waits for ever for " + core->waits_for_;
    for (const auto& other : cores_) {
      if (other == core || other->spec_.block != core->spec_.block) continue;
      text += "; " + other->Name();
      if (other->fiber_.done())
        text += " has ended";
      else if (other->stopped_)
        text += " was stopped by an error";
      else
        text += " waits at " + other->Place() + " for " + other->waits_for_;
    }
    Report(*core, FindingKind::kDeadlock, true, text);
  }
}

LaunchResult Launch::Run() {
  for (;;) {
    bool moved = false;
    bool open = false;
    for (const auto& core : cores_) {
      moved = Step(*core) || moved;
      open = open || !(core->fiber_.done() || core->stopped_);
    }
    if (!open) break;
    // Cores that poll memory did nothing but look: when nobody else moved either, nobody ever will.
    if (!moved) {
      ReportDeadlock();
      break;
    }
  }
  LaunchResult result;
  for (const auto& core : cores_) {
    result.instructions += core->executed_;
    result.finished += core->fiber_.done() ? 1 : 0;
    if (core->recorder_ != nullptr) core->recorder_->Flush();
  }
  result.cores = cores_.size();
  result.findings = std::move(findings_);
  result.printed = std::move(printed_);
  return result;
}

std::string Launch::LastPlace() const {
  return active_ == nullptr ? "" : active_->Name() + " after " + active_->Place();
}

}  // namespace kerf::sim
