// The page of `kerf bench --report`. Charts are on a logarithmic scale around 1×: twice as fast and
// half as fast are equally far from it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/render/bench_text.h"

namespace kerf::cli {
namespace {

constexpr char kStyle[] = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1c2330; background: #fff }
h1 { font-size: 1.5rem; margin-bottom: 0 } h2 { font-size: 1.15rem; margin-top: 2rem }
p.facts { color: #5a6475; margin-top: .2rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #e3e7ee; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr.total td { font-weight: 600; border-top: 2px solid #9aa5b8 }
code { font-size: .85rem }
.correct { color: #14703c } .wrong { color: #b3261e; font-weight: 600 } .refused, .unfit, .error { color: #8a5a00 }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; padding: 0; list-style: none }
.tiles li { border: 1px solid #e3e7ee; border-radius: .5rem; padding: .5rem .9rem }
.tiles b { display: block; font-size: 1.35rem }
svg text { font: 12px system-ui, sans-serif; fill: #1c2330 } svg .axis { stroke: #d5dbe5 } svg .one { stroke: #5a6475 }
.eager { fill: #2f6fdb } .compiled { fill: #e0912f }
)";

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // Control characters are not allowed in a page.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string Times(double value) { return fmt::format("{:.2f}×", value); }
std::string Times(std::optional<double> value) { return value.has_value() ? Times(*value) : ""; }
std::string Percent(double share) { return share > 0 ? fmt::format("{:.0f} %", share * 100) : ""; }
std::string Mean(const BenchRatios& ratios, double value) {
  return ratios.measured > 0 ? Times(value) : "";
}
std::string Faster(const BenchRatios& ratios) {
  return ratios.measured > 0 ? fmt::format("{}/{}", ratios.faster, ratios.measured) : "";
}

std::string Cell(const std::string& text) { return "<td>" + text + "</td>"; }
std::string Number(const std::string& text) { return "<td class=\"n\">" + text + "</td>"; }

std::string Head(const std::vector<std::pair<const char*, bool>>& columns) {
  std::string html = "<table>\n<tr>";
  for (const auto& [name, number] : columns) {
    html += std::string(number ? "<th class=\"n\">" : "<th>") + name + "</th>";
  }
  return html + "</tr>\n";
}

// Every different version among the tasks: "torch 2.13.0, numpy 2.1".
std::string Versions(const BenchReport& report) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& text) {
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  };
  for (const BenchTask& task : report.tasks) {
    if (!task.framework_version.empty()) add(task.framework + " " + task.framework_version);
    if (!task.python.empty()) add("Python " + task.python);
    if (!task.compiler.empty()) add(task.compiler);
  }
  std::string text;
  for (const std::string& one : found) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string Facts(const BenchReport& report) {
  const BenchSettings& settings = report.settings;
  std::string text =
      fmt::format("{} · {} · {} {}, {} threads · {} · {} · model {}, at most {} steps",
                  Escaped(report.date), Escaped(report.machine), Escaped(settings.backend),
                  Escaped(settings.arch), report.threads, Escaped(report.kerf),
                  Escaped(Versions(report)), Escaped(settings.model), settings.limit_steps);
  if (settings.max_bytes > 0) {
    text += fmt::format(" · tasks of more than {} bytes made smaller", settings.max_bytes);
  }
  return "<p class=\"facts\">" + text + "</p>\n";
}

std::string Tiles(const BenchReport& report) {
  const BenchGroup total = Total(report);
  std::string html = "<ul class=\"tiles\">\n";
  const auto tile = [&](const std::string& value, const std::string& name) {
    if (!value.empty()) html += "<li><b>" + value + "</b>" + name + "</li>\n";
  };
  tile(fmt::format("{} / {}", total.Count(BenchOutcome::kCorrect), total.tasks), "correct");
  for (const auto outcome :
       {BenchOutcome::kWrong, BenchOutcome::kRefused, BenchOutcome::kUnfit, BenchOutcome::kError}) {
    tile(std::to_string(total.Count(outcome)), BenchOutcomeName(outcome));
  }
  if (report.not_run > 0) tile(std::to_string(report.not_run), "not run");
  tile(Mean(total.eager, total.eager.geomean), "geomean against eager");
  tile(Mean(total.eager, total.eager.median), "median against eager");
  tile(Faster(total.eager), "faster than eager");
  tile(Mean(total.compiled, total.compiled.geomean), "geomean against torch.compile");
  tile(Faster(total.compiled), "faster than torch.compile");
  tile(Percent(total.light.median), "of the speed of light, median");
  return html + "</ul>\n";
}

// A logarithmic axis from 1/limit to limit, in pixels.
struct Axis {
  static constexpr double kLeft = 110;
  static constexpr double kWidth = 720;
  double limit = 2;

  [[nodiscard]] double X(double ratio) const {
    const double at = std::clamp(std::log(ratio) / std::log(limit), -1.0, 1.0);
    return kLeft + kWidth * (at + 1) / 2;
  }
};

Axis AxisFor(const BenchReport& report) {
  Axis axis;
  for (const BenchTask& task : report.tasks) {
    for (const char* baseline : {kEager, kCompiled}) {
      const double ratio = task.Speedup(baseline).value_or(1);
      while (axis.limit < 64 && std::max(ratio, 1 / ratio) > axis.limit) axis.limit *= 2;
    }
  }
  return axis;
}

std::string Grid(const Axis& axis, double height) {
  std::string svg;
  for (double ratio = 1 / axis.limit; ratio <= axis.limit * 1.01; ratio *= 2) {
    svg += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"18\" y2=\"{:.0f}\"/>"
        "<text x=\"{:.1f}\" y=\"12\" text-anchor=\"middle\">{}×</text>\n",
        ratio == 1 ? "one" : "axis", axis.X(ratio), axis.X(ratio), height, axis.X(ratio),
        ratio < 1 ? fmt::format("1/{:.0f}", 1 / ratio) : fmt::format("{:.0f}", ratio));
  }
  return svg;
}

std::string Bar(const Axis& axis, const BenchRatios& ratios, double y, const char* style) {
  if (ratios.measured == 0) return "";
  const double from = std::min(axis.X(1), axis.X(ratios.geomean));
  const double to = std::max(axis.X(1), axis.X(ratios.geomean));
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"9\"/>"
      "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
      style, from, y, std::max(1.0, to - from), Axis::kLeft + Axis::kWidth + 12, y + 9,
      Times(ratios.geomean));
}

std::string Dots(const Axis& axis, const BenchReport& report, const std::string& family, double y) {
  std::string svg;
  for (const BenchTask& task : report.tasks) {
    if ((task.family.empty() ? "unknown" : task.family) != family) continue;
    const auto dot = [&](const char* baseline, const char* style, double dy) {
      const auto speedup = task.Speedup(baseline);
      if (!speedup.has_value()) return;
      svg += fmt::format(
          "<circle class=\"{}\" fill-opacity=\"0.6\" cx=\"{:.1f}\" cy=\"{:.0f}\" "
          "r=\"4\"><title>{}: "
          "{} against {}</title></circle>\n",
          style, axis.X(*speedup), y + dy, Escaped(task.name), Times(*speedup), baseline);
    };
    dot(kEager, "eager", 8);
    dot(kCompiled, "compiled", 18);
  }
  return svg;
}

// One row for each family: bars of geomeans, or a dot for each task.
std::string Chart(const BenchReport& report, bool dots) {
  const Axis axis = AxisFor(report);
  std::string rows;
  double y = 24;
  for (const BenchGroup& group : ByFamily(report)) {
    if (group.eager.measured + group.compiled.measured == 0) continue;
    rows += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n",
                        Axis::kLeft - 10, y + 14, Escaped(group.name));
    if (dots) {
      rows += Dots(axis, report, group.name, y);
    } else {
      rows += Bar(axis, group.eager, y, "eager") + Bar(axis, group.compiled, y + 11, "compiled");
    }
    y += 32;
  }
  if (rows.empty()) return "<p>Nothing was measured.</p>\n";
  return fmt::format("<svg viewBox=\"0 0 900 {:.0f}\" role=\"img\" width=\"100%\">\n", y + 4) +
         Grid(axis, y) + rows + "</svg>\n";
}

std::string Charts(const BenchReport& report) {
  return "<h2>Speedup by family, geomean</h2>\n<p><span class=\"eager\">"
         "<svg width=\"10\" height=\"10\"><rect width=\"10\" height=\"10\"/></svg></span> against "
         "eager, <span class=\"compiled\"><svg width=\"10\" height=\"10\"><rect width=\"10\" "
         "height=\"10\"/></svg></span> against torch.compile; a logarithmic scale.</p>\n" +
         Chart(report, false) + "<h2>Speedup of every task</h2>\n" + Chart(report, true);
}

std::string Families(const BenchReport& report) {
  std::string html = "<h2>Families</h2>\n" + Head({{"family", false},
                                                   {"tasks", true},
                                                   {"correct", true},
                                                   {"wrong", true},
                                                   {"refused", true},
                                                   {"eager geomean", true},
                                                   {"median", true},
                                                   {"faster", true},
                                                   {"compile geomean", true},
                                                   {"median", true},
                                                   {"faster", true},
                                                   {"speed of light", true}});
  std::vector<BenchGroup> groups = ByFamily(report);
  groups.push_back(Total(report));
  for (const BenchGroup& group : groups) {
    html += group.name == "all" ? "<tr class=\"total\">" : "<tr>";
    html += Cell(Escaped(group.name)) + Number(std::to_string(group.tasks));
    for (const auto outcome :
         {BenchOutcome::kCorrect, BenchOutcome::kWrong, BenchOutcome::kRefused}) {
      html += Number(std::to_string(group.Count(outcome)));
    }
    for (const BenchRatios* ratios : {&group.eager, &group.compiled}) {
      html += Number(Mean(*ratios, ratios->geomean)) + Number(Mean(*ratios, ratios->median)) +
              Number(Faster(*ratios));
    }
    html += Number(Percent(group.light.median)) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string Tasks(const BenchReport& report) {
  std::string html = "<h2>Tasks</h2>\n" + Head({{"task", false},
                                                {"family", false},
                                                {"result", false},
                                                {"eager", true},
                                                {"95 %", true},
                                                {"compile", true},
                                                {"speed of light", true},
                                                {"time", true},
                                                {"why, and which sizes changed", false}});
  for (const BenchTask* task : WrongFirst(report)) {
    const char* outcome = BenchOutcomeName(task->outcome);
    const bool correct = task->outcome == BenchOutcome::kCorrect;
    std::string interval;
    for (const SpeedupReport& one : task->speedups) {
      if (correct && one.baseline == kEager)
        interval = fmt::format("{:.2f}–{:.2f}", one.low, one.high);
    }
    std::string why = Escaped(WhyText(*task));
    if (task->sizes.has_value() && !task->sizes->changed.empty()) {
      why += (why.empty() ? "" : "<br>") + Escaped(SizesText(*task->sizes));
    }
    html += "<tr>" + Cell("<code>" + Escaped(task->name) + "</code>") +
            Cell(Escaped(task->family)) +
            fmt::format("<td class=\"{}\">{}</td>", outcome, outcome) +
            Number(Times(task->Speedup(kEager))) + Number(interval) +
            Number(Times(task->Speedup(kCompiled))) +
            Number(correct ? Percent(task->share_of_light) : "") +
            Number(correct && task->candidate_ns > 0
                       ? fmt::format("{:.3f} ms", task->candidate_ns / 1e6)
                       : "") +
            Cell(why) + "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::string BenchHtml(const BenchReport& report) {
  return std::string(
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<title>kerf bench</title>\n<style>") +
         kStyle + "</style>\n</head>\n<body>\n<h1>kerf bench: " + Escaped(report.settings.impl) +
         "</h1>\n" + Facts(report) + Tiles(report) + Charts(report) + Families(report) +
         Tasks(report) + "<p class=\"facts\">traces: <code>" + Escaped(report.log_dir) +
         "</code></p>\n</body>\n</html>\n";
}

}  // namespace kerf::cli
