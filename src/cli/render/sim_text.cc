#include "cli/render/sim_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/render/table.h"

namespace kerf::cli {
namespace {

using sim::StallReason;

// 1234567 → "1,234,567".
std::string Grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string SharePercent(double share) { return fmt::format("{:.0f}%", share * 100); }

std::string Count(size_t count, const char* what) {
  return fmt::format("{} {}{}", Grouped(count), what, count == 1 ? "" : "s");
}

// "TLOAD MTE2 /a/b/c.cpp:3" → "TLOAD MTE2 c.cpp:3": whole paths make no table; JSON has them.
std::string WithoutFolder(const std::string& text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string::npos) return text;
  const size_t blank = text.rfind(' ', slash);
  return (blank == std::string::npos ? "" : text.substr(0, blank + 1)) + text.substr(slash + 1);
}

// Cores of one kind together: an average says how busy a pipe is, whoever it belongs to.
struct PipeSum {
  sim::PipeUse use;
  size_t cores = 0;
};

std::map<std::pair<std::string, sim::Pipe>, PipeSum> PipesOf(const sim::SimReport& report) {
  std::map<std::pair<std::string, sim::Pipe>, PipeSum> pipes;
  for (const sim::CoreReport& core : report.cores) {
    const bool cube = core.name.find("cubecore") != std::string::npos;
    for (const sim::PipeReport& pipe : core.pipes) {
      PipeSum& sum = pipes[{cube ? "cube" : "vector", pipe.pipe}];
      sum.use.busy += pipe.use.busy;
      for (size_t i = 0; i < sim::kStallReasons; ++i) sum.use.stalled[i] += pipe.use.stalled[i];
      ++sum.cores;
    }
  }
  return pipes;
}

std::string Bar(double share) {
  constexpr size_t kWidth = 20;
  const auto full = std::min(kWidth, static_cast<size_t>(std::lround(share * kWidth)));
  return std::string(full, '#') + std::string(kWidth - full, '.');
}

// The two largest, from one percent.
std::string Reasons(const PipeSum& sum, double total) {
  std::vector<std::pair<uint64_t, StallReason>> reasons;
  for (size_t i = 1; i < sim::kStallReasons; ++i)
    reasons.emplace_back(sum.use.stalled[i], static_cast<StallReason>(i));
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < 2; ++i) {
    const double share = static_cast<double>(reasons[i].first) / total;
    if (share < 0.01) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", StallReasonName(reasons[i].second),
                        SharePercent(share));
  }
  return text;
}

std::string PipesText(const sim::SimReport& report, const Output& out) {
  Table table({{"PIPE"}, {"BUSY"}, {"", Align::kRight}, {"STANDS STILL"}});
  for (const auto& [key, sum] : PipesOf(report)) {
    const double total = static_cast<double>(report.cycles) * static_cast<double>(sum.cores);
    const double share = total > 0 ? static_cast<double>(sum.use.busy) / total : 0;
    table.AddRow({{key.first + " " + sim::PipeName(key.second)},
                  {Bar(share)},
                  {SharePercent(share)},
                  {total > 0 ? Reasons(sum, total) : ""}});
  }
  return table.Render(out);
}

std::string StallsText(const sim::SimReport& report, const Output& out) {
  if (report.stalls.empty()) return "No pipe had to wait.\n";
  Table table({{"CYCLES", Align::kRight},
               {"TIMES", Align::kRight},
               {"PIPE"},
               {"REASON"},
               {"AT"},
               {"WAITS FOR"}});
  for (const sim::StallReport& stall : report.stalls) {
    table.AddRow(
        {{Grouped(stall.cycles)},
         {Grouped(stall.count)},
         {sim::PipeName(stall.pipe)},
         {StallReasonName(stall.reason)},
         {stall.instruction + (stall.place.empty() ? "" : " " + WithoutFolder(stall.place))},
         {WithoutFolder(stall.waits_for)}});
  }
  return out.Styled("Worst stalls", Style::kBold) + "\n" + table.Render(out);
}

std::string HazardsText(const sim::SimReport& report, const Output& out) {
  if (report.hazards.empty()) return out.Styled("No hazards.", Style::kGood) + "\n";
  const size_t errors = report.ErrorCount();
  const size_t warnings = report.hazards.size() - errors;
  std::string text =
      out.Styled(Count(errors, "hazard") + (warnings == 0 ? "" : ", " + Count(warnings, "warning")),
                 Style::kBold) +
      "\n";
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < std::min(kMost, report.hazards.size()); ++i) {
    const sim::HazardReport& hazard = report.hazards[i];
    text += "  " +
            out.Styled(HazardKindName(hazard.kind), hazard.warning ? Style::kWarn : Style::kBad) +
            "  " + hazard.what;
    text += hazard.count > 1 ? fmt::format(" ({} times)\n", Grouped(hazard.count)) : "\n";
    for (const std::string& place : hazard.places) text += "      " + place + "\n";
  }
  if (report.hazards.size() > kMost)
    text += fmt::format("  … and {} more\n", report.hazards.size() - kMost);
  return text;
}

// The core that comes nearest to its peak.
std::string SharesText(const sim::SimReport& report) {
  double cube = -1;
  double memory = -1;
  for (const sim::CoreReport& core : report.cores) {
    cube = std::max(cube, core.peak_share);
    memory = std::max(memory, core.memory_share);
  }
  std::string text;
  if (cube >= 0) text += "cube " + SharePercent(cube) + " of peak";
  if (memory >= 0)
    text += std::string(text.empty() ? "" : ", ") + "memory " + SharePercent(memory) +
            " of a core's rate";
  if (!text.empty()) text = "Best core: " + text + ".\n";
  if (report.default_share >= 0.005)
    text += fmt::format("{} of the busy cycles come from default costs.\n",
                        SharePercent(report.default_share));
  return text;
}

}  // namespace

std::string SimText(const sim::SimReport& report, const Output& out) {
  std::string text =
      fmt::format("{}: {} cycles ({:.2f} us at {:.0f} MHz), {} on {}\n", report.chip,
                  Grouped(report.cycles), report.Microseconds(), report.clock_mhz,
                  Count(report.instructions, "instruction"), Count(report.cores.size(), "core"));
  if (report.hangs)
    text +=
        out.Styled("The run hangs: cycles are those until nothing went on.", Style::kBad) + "\n";
  if (!report.complete)
    text +=
        out.Styled("The kernel's process was stopped: its log is not whole.", Style::kWarn) + "\n";
  if (report.dropped != 0)
    text +=
        out.Styled(Count(report.dropped, "instruction") + " beyond the limit were not recorded.",
                   Style::kWarn) +
        "\n";
  text += "\n" + PipesText(report, out) + "\n" + StallsText(report, out) + "\n" +
          HazardsText(report, out) + SharesText(report);
  if (!report.directory.empty()) text += "MindStudio Insight input: " + report.directory + "\n";
  if (!report.perfetto.empty()) text += "Perfetto: " + report.perfetto + "\n";
  return text;
}

}  // namespace kerf::cli
