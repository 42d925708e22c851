#include "cli/render/trace_diff.h"

#include <cstdio>

#include "cli/render/text_width.h"
#include "trace/text_diff.h"

namespace kerf::cli {
namespace {

using trace::AlignedRecord;
using trace::DiffLine;
using trace::RecordPair;
using trace::TextPartDiff;
using trace::ValueDiff;

// A line of a task's summary names at most this many values; comparing the two steps shows all.
constexpr size_t kValuesInSummary = 3;

std::string Padded(const std::string& text, size_t columns) {
  const size_t width = DisplayWidth(text);
  return width < columns ? text + std::string(columns - width, ' ') : text;
}

std::string Signed(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%+.6g", value);
  return text;
}

std::string SignedPercent(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%+.1f %%", value);
  return text;
}

std::string Shown(const std::optional<std::string>& value) {
  return value.has_value() ? Shortened(Printable(*value), 60) : "(none)";
}

std::string ChangeText(const ValueDiff& value) {
  std::string text = Shown(value.a) + " -> " + Shown(value.b);
  if (value.delta.has_value()) text += "  " + Signed(*value.delta);
  if (value.percent.has_value()) text += " (" + SignedPercent(*value.percent) + ")";
  return text;
}

std::string RecordText(const Step& step) {
  std::string number = std::to_string(step.step);
  if (number.size() < 2) number.insert(0, "0");
  std::string text = "S" + number + " ";
  text += Printable(step.kind == RecordKind::kConductor ? step.check : step.action);
  if (step.attempt > 1) text += "_" + std::to_string(step.attempt);
  if (step.verification != Verification::kNone) {
    text += std::string(" ") + VerificationName(step.verification);
  }
  return text;
}

std::string LineCounts(const TextPartDiff& text) {
  return "-" + std::to_string(text.removed) + " +" + std::to_string(text.added);
}

Style StyleOf(DiffLine kind) {
  switch (kind) {
    case DiffLine::kHunk:
      return Style::kMatch;
    case DiffLine::kRemoved:
      return Style::kBad;
    case DiffLine::kAdded:
      return Style::kGood;
    case DiffLine::kNote:
      return Style::kDim;
    case DiffLine::kContext:
      return Style::kPlain;
  }
  return Style::kPlain;
}

class Renderer {
 public:
  Renderer(const trace::TraceDiff& diff, const trace::DiffSide& a, const trace::DiffSide& b,
           size_t context, Output& out)
      : diff_(diff), a_(a), b_(b), context_(context), out_(out) {}

  void Steps() {
    for (const AlignedRecord& record : diff_.records) {
      if (record.pair.has_value()) {
        Pair(*record.pair);
      } else {
        OnlyOnOneSide(record);
      }
    }
  }

  void Tasks() {
    FirstDivergence();
    size_t columns = 0;
    for (const Step& step : a_.records) {
      columns = std::max(columns, DisplayWidth(RecordText(step)));
    }
    for (const AlignedRecord& record : diff_.records)
      Summary(record, std::min<size_t>(columns, 40));
  }

 private:
  void Line(const std::string& text, Style style = Style::kPlain) {
    out_.Data(out_.Styled(text, style) + "\n");
  }

  void Pair(const RecordPair& pair) {
    const Step& a = a_.records[pair.a];
    const Step& b = b_.records[pair.b];
    Line(RecordText(a) + " -> " + RecordText(b) + (pair.Differs() ? "" : ": the same"),
         Style::kBold);
    for (const TextPartDiff& text : pair.texts) Text(text);
    if (pair.values.empty()) return;
    Line("numbers and other facts:");
    size_t columns = 0;
    for (const ValueDiff& value : pair.values) {
      columns = std::max(columns, DisplayWidth(Printable(value.path)));
    }
    for (const ValueDiff& value : pair.values) {
      Line("  " + Padded(Printable(value.path), columns) + "  " + ChangeText(value));
    }
  }

  void Text(const TextPartDiff& text) {
    const std::string name = trace::DiffPartName(text.part);
    Line("--- A/" + name, Style::kBad);
    Line("+++ B/" + name, Style::kGood);
    const trace::TextDiff lines = trace::DiffLines(text.a, text.b);
    trace::WriteUnified(lines, context_, [&](DiffLine kind, const std::string& line) {
      Line(Printable(line, Newlines::kKeep), StyleOf(kind));
    });
  }

  void OnlyOnOneSide(const AlignedRecord& record) {
    if (record.only_a.has_value()) {
      Line("- " + RecordText(a_.records[*record.only_a]) + ": only in A", Style::kBad);
    } else {
      Line("+ " + RecordText(b_.records[*record.only_b]) + ": only in B", Style::kGood);
    }
  }

  void FirstDivergence() {
    if (!diff_.first_divergence.has_value()) {
      Line("no divergence: the same steps, texts and verdicts");
      return;
    }
    const AlignedRecord& record = diff_.records[*diff_.first_divergence];
    std::string text = "first divergence: ";
    if (record.only_a.has_value()) {
      text += RecordText(a_.records[*record.only_a]) + ", only in A";
    } else if (record.only_b.has_value()) {
      text += RecordText(b_.records[*record.only_b]) + ", only in B";
    } else {
      text += RecordText(a_.records[record.pair->a]) + " and " +
              RecordText(b_.records[record.pair->b]) + " (" + WhatDiverges(*record.pair) + ")";
    }
    Line(text, Style::kBold);
  }

  static std::string WhatDiverges(const RecordPair& pair) {
    std::string text = pair.verdict_differs ? "verdict" : "";
    for (const TextPartDiff& part : pair.texts) {
      text += (text.empty() ? "" : ", ") + std::string(trace::DiffPartName(part.part));
    }
    return text;
  }

  void Summary(const AlignedRecord& record, size_t columns) {
    if (!record.pair.has_value()) {
      OnlyOnOneSide(record);
      return;
    }
    const RecordPair& pair = *record.pair;
    std::string what = pair.verdict_differs ? "verdict" : "";
    const auto add = [&](const std::string& text) { what += (what.empty() ? "" : ", ") + text; };
    for (const TextPartDiff& text : pair.texts) {
      add(std::string(trace::DiffPartName(text.part)) + " " + LineCounts(text));
    }
    for (size_t i = 0; i < pair.values.size() && i < kValuesInSummary; ++i) {
      add(Printable(pair.values[i].path) + " " + ChangeText(pair.values[i]));
    }
    if (pair.values.size() > kValuesInSummary) {
      add(std::to_string(pair.values.size() - kValuesInSummary) + " more values");
    }
    Line("  " + Padded(RecordText(a_.records[pair.a]), columns) + "  " +
             Padded(RecordText(b_.records[pair.b]), columns) + "  " +
             (what.empty() ? "the same" : what),
         pair.Diverges() ? Style::kWarn : (pair.Differs() ? Style::kPlain : Style::kDim));
  }

  const trace::TraceDiff& diff_;
  const trace::DiffSide& a_;
  const trace::DiffSide& b_;
  const size_t context_;
  Output& out_;
};

}  // namespace

void RenderTraceDiff(const trace::TraceDiff& diff, const trace::DiffSide& a,
                     const trace::DiffSide& b, const DiffTitles& titles, size_t context,
                     Output& out) {
  for (const std::string& warning : diff.warnings) out.Note("kerf: " + warning);
  if (diff.Identical()) return;
  out.Data("A  " + Printable(titles.a) + "\nB  " + Printable(titles.b) + "\n");
  Renderer renderer(diff, a, b, context, out);
  if (diff.of_steps) {
    renderer.Steps();
  } else {
    renderer.Tasks();
  }
}

}  // namespace kerf::cli
