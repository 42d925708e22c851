#include "cli/render/verdict_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/render/table.h"
#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

std::string TimeText(double ns) {
  if (ns <= 0) return "";
  if (ns < 1e4) return fmt::format("{:.2f} µs", ns / 1e3);
  if (ns < 1e6) return fmt::format("{:.1f} µs", ns / 1e3);
  return fmt::format("{:.3f} ms", ns / 1e6);
}

std::string CaseTable(const Verdict& verdict, const Output& out) {
  Table table({{"CASE"},
               {"CALLS", Align::kRight},
               {"OUTPUT"},
               {"TYPE"},
               {"WORST", Align::kRight},
               {"WRONG", Align::kRight},
               {"AT"}});
  for (const CaseReport& one : verdict.cases) {
    const std::string name =
        one.hidden ? "hidden"
                   : fmt::format("seed {}", one.seed) +
                         (one.variant > 0 ? fmt::format(" shape {}", one.variant) : "");
    for (const OutputReport& output : one.outputs) {
      table.AddRow(
          {{name},
           {std::to_string(one.calls)},
           {output.name},
           {output.spec},
           {fmt::format("{:.3g} of budget", output.max_in_budget),
            output.beyond > 0 ? Style::kBad : Style::kPlain},
           {std::to_string(output.beyond), output.beyond > 0 ? Style::kBad : Style::kPlain},
           {output.worst_index}});
    }
  }
  return table.Render(out);
}

std::string TimingText(const TimingReport& timing, const Output& out) {
  Table table({{"SIDE"},
               {"MEDIAN", Align::kRight},
               {"P10", Align::kRight},
               {"P90", Align::kRight},
               {"CALLS", Align::kRight},
               {"NOTE"}});
  for (const TimingSide& side : timing.sides) {
    table.AddRow({{side.name},
                  {TimeText(side.median_ns)},
                  {TimeText(side.p10_ns)},
                  {TimeText(side.p90_ns)},
                  {std::to_string(side.samples_ns.size())},
                  {Shortened(Printable(side.error), 100)}});
  }
  std::string text = table.Render(out);
  for (const SpeedupReport& one : timing.speedups) {
    text += fmt::format("{:.2f}x against {} (95 %: {:.2f} to {:.2f}): {}\n", one.speedup,
                        one.baseline, one.low, one.high, one.verdict);
  }
  if (timing.share_of_light > 0) {
    text +=
        fmt::format("{:.0f} % of the speed of light ({} for {:.0f} bytes); {} cache, {} audits\n",
                    timing.share_of_light * 100, TimeText(timing.floor_ns), timing.bytes,
                    timing.cache_mode, timing.audits);
  }
  return text;
}

}  // namespace

std::string VerdictText(const Verdict& verdict, const Output& out) {
  const Style style = verdict.passed() ? Style::kGood : Style::kBad;
  std::string text = out.Styled(VerdictStatusName(verdict.status), style);
  if (!verdict.reason.empty()) text += " (" + verdict.reason + ")";
  if (!verdict.passed()) text += ": " + Printable(verdict.summary);
  // Passed, and yet not all that was asked for.
  if (verdict.passed() && verdict.summary.starts_with("passed;"))
    text += Printable(verdict.summary.substr(std::string_view("passed").size()));
  text += "\n";
  if (!verdict.log.empty()) text += Printable(verdict.log, Newlines::kKeep);
  const bool judged = std::any_of(verdict.cases.begin(), verdict.cases.end(),
                                  [](const CaseReport& one) { return !one.outputs.empty(); });
  if (judged) text += CaseTable(verdict, out);
  if (verdict.timing.has_value()) text += TimingText(*verdict.timing, out);
  for (const std::string& note : verdict.task.notes) text += "task: " + Printable(note) + "\n";
  for (const AikgReport& one : verdict.aikg) {
    text +=
        fmt::format("AIKG ({}) would say: {} ({} elements beyond {}, {} allowed)\n", one.generation,
                    one.passed ? "passed" : "failed", one.err_count, one.limit, one.allowed);
  }
  if (!verdict.deterministic) text += "the same inputs gave different bits in different calls\n";
  return text;
}

}  // namespace kerf::cli
