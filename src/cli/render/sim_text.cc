#include "cli/render/sim_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace kerf::cli {
namespace {

constexpr int kBar = 30;

std::string Bar(double share, const Output& out) {
  const int full = std::clamp(static_cast<int>(share * kBar + 0.5), 0, kBar);
  return out.Styled(std::string(static_cast<size_t>(full), '#'), Style::kGood) +
         std::string(static_cast<size_t>(kBar - full), '.');
}

double ShareOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Cores that did the same thing are shown once.
std::string CoresText(const sim::SimReport& report, const Output& out) {
  constexpr size_t kMost = 6;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, report.cores.size()); ++i) {
    const sim::CoreReport& core = report.cores[i];
    text +=
        fmt::format("{}: {} cycles, {} instructions", core.name, core.cycles, core.instructions);
    if (core.peak_share >= 0)
      text += fmt::format(", {:.1f} % of the cube's peak", core.peak_share * 100);
    if (core.memory_share >= 0)
      text += fmt::format(", {:.1f} % of its memory bandwidth", core.memory_share * 100);
    text += "\n";
    for (const sim::PipeReport& pipe : core.pipes) {
      const double share = ShareOf(pipe.use.busy, report.cycles);
      text += fmt::format("  {:<7} {} {:5.1f} %  {} instructions\n", sim::PipeName(pipe.pipe),
                          Bar(share, out), share * 100, pipe.use.instructions);
    }
  }
  if (report.cores.size() > kMost)
    text += fmt::format("… and {} more cores\n", report.cores.size() - kMost);
  return text;
}

std::string StallsText(const sim::SimReport& report) {
  if (report.stalls.empty()) return "";
  std::string text = "worst stalls:\n";
  for (const sim::StallReport& stall : report.stalls) {
    text += fmt::format("  {:>8} cycles  {} {} on {} at {}", stall.cycles, stall.instruction,
                        sim::StallReasonName(stall.reason), sim::PipeName(stall.pipe),
                        stall.place.empty() ? "?" : stall.place);
    if (!stall.waits_for.empty()) text += ", for " + stall.waits_for;
    if (stall.count > 1) text += fmt::format(" ({} times)", stall.count);
    text += "\n";
  }
  return text;
}

std::string HazardsText(const sim::SimReport& report, const Output& out) {
  if (report.hazards.empty()) return "no hazards\n";
  std::string text;
  for (const sim::HazardReport& hazard : report.hazards) {
    text += out.Styled(hazard.warning ? "warning" : "hazard",
                       hazard.warning ? Style::kWarn : Style::kBad) +
            " " + hazard.what + "\n";
    for (const std::string& place : hazard.places) text += "  " + place + "\n";
    if (hazard.count > 1) text += fmt::format("  {} times\n", hazard.count);
  }
  return text;
}

}  // namespace

std::string SimReportText(const sim::SimReport& report, const Output& out) {
  std::string text =
      fmt::format("{}: {} cycles, {:.2f} us", report.chip, report.cycles, report.Microseconds());
  if (report.default_share > 0)
    text += fmt::format(" ({:.0f} % of busy cycles by defaults)", report.default_share * 100);
  text += report.hangs ? "; " + out.Styled("it hangs", Style::kBad) + "\n" : "\n";
  if (!report.complete) text += "the log ends early: the kernel was stopped\n";
  if (report.dropped > 0)
    text += fmt::format("{} instructions were not recorded\n", report.dropped);
  text += CoresText(report, out) + StallsText(report) + HazardsText(report, out);
  if (!report.directory.empty()) text += "MindStudio Insight input: " + report.directory + "\n";
  if (!report.perfetto.empty()) text += "Perfetto: " + report.perfetto + "\n";
  return text;
}

}  // namespace kerf::cli
