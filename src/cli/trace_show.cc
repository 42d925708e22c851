#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/text_width.h"
#include "trace/reader.h"
#include "trace/step_facts.h"

namespace kerf::cli {
namespace {

using trace::Address;

// Lines of a text shown in a story; --full and a single step show all.
constexpr size_t kStoryLines = 6;

// The order in which a person reads a step.
constexpr const char* kParameterOrder[] = {"prompt", "reasoning",  "result",    "reply",
                                           "parsed", "verify_res", "error_log", "profile"};

std::string FirstLines(const std::string& text, size_t limit) {
  constexpr size_t kStoryBytes = 2000;
  if (text.size() > kStoryBytes && text.find('\n') >= kStoryBytes) {
    return text.substr(0, kStoryBytes) +
           fmt::format("… ({} more bytes)", text.size() - kStoryBytes);
  }
  size_t end = 0;
  size_t lines = 0;
  while (end < text.size() && lines < limit) {
    const size_t newline = text.find('\n', end);
    end = newline == std::string::npos ? text.size() : newline + 1;
    ++lines;
  }
  if (end >= text.size()) return text;
  const auto rest = static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(end),
                                                   text.end(), '\n')) +
                    1;
  return text.substr(0, end) + fmt::format("… ({} more lines)", rest);
}

std::string Indented(const std::string& text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

bool IsAltered(const StepFile& file, const std::string& text) {
  return !file.sha256.empty() && Sha256Hex(text) != file.sha256;
}

class Story {
 public:
  Story(Context& context, const Address& address, bool full)
      : context_(context), op_dir_(JoinPath(address.run_path, address.op)), full_(full) {}

  void Tell(const Address& address, const std::vector<Step>& steps) {
    Totals(address, steps);
    for (const Step& step : steps) TellStep(step);
  }

  void TellStep(const Step& step) {
    Output& out = context_.out;
    std::string title = fmt::format("step {:02d}  {}", step.step,
                                    step.kind == RecordKind::kConductor ? step.check : step.action);
    if (step.attempt > 1) title += fmt::format(" (attempt {})", step.attempt);
    out.Data(out.Styled(Printable(title), Style::kBold));
    const Table::Cell verdict = VerdictCell(step.verification);
    if (!verdict.text.empty()) out.Data("  " + out.Styled(verdict.text, verdict.style));
    out.Data(out.Styled(Facts(step), Style::kDim) + "\n");
    for (const char* parameter : kParameterOrder) TellText(step, parameter);
    for (const RedactionNote& note : step.redacted) {
      out.Data("  " +
               out.Styled(fmt::format("redacted: {} ({}×)", Printable(note.what), note.count),
                          Style::kWarn) +
               "\n");
    }
  }

  // Whether a text was missing or not what was recorded.
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  void Totals(const Address& address, const std::vector<Step>& steps) {
    double milliseconds = 0;
    int64_t input = 0;
    int64_t output = 0;
    double cost = 0;
    Verification last = Verification::kNone;
    for (const Step& step : steps) {
      const trace::StepFacts numbers = trace::ReadStepFacts(step);
      milliseconds += numbers.duration_ms.value_or(0);
      input += numbers.input_tokens.value_or(0);
      output += numbers.output_tokens.value_or(0);
      cost += numbers.cost_usd.value_or(0);
      if (step.kind == RecordKind::kVerifier) last = step.verification;
    }
    std::string line =
        fmt::format("{} task {} in {}: {} records", Printable(address.op), Printable(address.task),
                    Printable(address.run_path), steps.size());
    if (last != Verification::kNone) line += fmt::format(", {}", VerificationName(last));
    if (milliseconds > 0) line += ", " + FormatDuration(milliseconds);
    if (input + output > 0) line += fmt::format(", {} tokens in, {} out", input, output);
    if (cost > 0) line += ", " + FormatCost(cost);
    context_.out.Data(line + "\n\n");
  }

  static std::string Facts(const Step& step) {
    const trace::StepFacts numbers = trace::ReadStepFacts(step);
    std::string facts;
    if (!step.time.empty()) facts += "  " + ShortTime(step.time);
    if (numbers.duration_ms) facts += "  " + FormatDuration(*numbers.duration_ms);
    if (!numbers.model.empty()) facts += "  " + Printable(numbers.model);
    if (numbers.input_tokens || numbers.output_tokens) {
      facts += fmt::format("  {}+{} tokens", numbers.input_tokens.value_or(0),
                           numbers.output_tokens.value_or(0));
    }
    if (numbers.cost_usd) facts += "  " + FormatCost(*numbers.cost_usd);
    if (numbers.speedup) facts += fmt::format("  speedup {:.2f}x", *numbers.speedup);
    if (!step.journaled) facts += "  (no journal)";
    if (step.recovered) facts += "  (recovered from its files)";
    return facts;
  }

  void TellText(const Step& step, const std::string& parameter) {
    for (const StepFile& file : step.files) {
      if (StepFileParameter(file) != parameter) continue;
      Result<std::string> text = trace::ReadStepFile(context_.fs, op_dir_, file);
      std::string label = "  " + parameter;
      const bool is_altered = text.ok() && IsAltered(file, *text);
      damaged_ = damaged_ || !text.ok() || is_altered;
      if (is_altered) {
        label += context_.out.Styled(" (altered since it was recorded)", Style::kBad);
      }
      if (!text.ok()) {
        context_.out.Data(label + ": " + Printable(text.error().message) + "\n");
      } else if (text->empty()) {
        context_.out.Data(label + ": (empty)\n");
      } else {
        const std::string shown = full_ ? *text : FirstLines(*text, kStoryLines);
        context_.out.Data(label + ":\n" + Indented(Printable(shown, Newlines::kKeep)));
      }
    }
  }

  Context& context_;
  const std::string op_dir_;
  const bool full_;
  bool damaged_ = false;
};

std::vector<Step> StepsAt(const std::vector<Step>& steps, int64_t number) {
  if (number < 0) return steps;
  std::vector<Step> found;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(found),
               [&](const Step& step) { return step.step == number; });
  return found;
}

// Adds the texts themselves to what StepJson tells. One that cannot be read, or is not what was
// recorded, is named in "damaged".
std::string FullJson(Context& context, const Address& address, const Step& step, bool& damaged) {
  const std::string op_dir = JoinPath(address.run_path, address.op);
  auto row = nlohmann::ordered_json::parse(StepJson(address.run_path, address.op, step));
  auto& texts = row["texts"] = nlohmann::ordered_json::object();
  auto problems = nlohmann::ordered_json::object();
  const auto add = [&](const std::string& name, Result<std::string> text) {
    if (text.ok()) {
      texts[name] = std::move(*text);
    } else {
      problems[name] = text.error().message;
    }
  };
  for (const StepFile& file : step.files) {
    const std::string name = StepFileParameter(file);
    Result<std::string> text = trace::ReadStepFile(context.fs, op_dir, file);
    if (text.ok() && IsAltered(file, *text)) problems[name] = "altered since it was recorded";
    add(name, std::move(text));
  }
  if (!step.reply_frame.empty()) add("reply", trace::ReadRawReply(context.fs, op_dir, step));
  if (!problems.empty()) {
    damaged = true;
    row["damaged"] = std::move(problems);
  }
  return DumpJson(row);
}

// Exactly the bytes of one text, for pipes.
Result<int> PrintPart(Context& context, const Address& address, const std::vector<Step>& steps,
                      const std::string& part) {
  const std::string op_dir = JoinPath(address.run_path, address.op);
  for (const Step& step : steps) {
    if (part == "reply" && step.kind == RecordKind::kDesignerOrCoder) {
      KERF_ASSIGN_OR_RETURN(const std::string text, trace::ReadRawReply(context.fs, op_dir, step));
      context.out.Data(text);
      return kExitDone;
    }
    for (const StepFile& file : step.files) {
      if (StepFileParameter(file) != part) continue;
      KERF_ASSIGN_OR_RETURN(const std::string text, trace::ReadStepFile(context.fs, op_dir, file));
      context.out.Data(text);
      return kExitDone;
    }
  }
  return NotFound("step " + std::to_string(address.step) + " has no " + part);
}

Result<int> RunTraceShow(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(Address address, trace::ResolveAddress(context.fs, args.Positional(0)));
  if (const auto step = args.GetNumber("--step")) {
    if (address.step >= 0 && address.step != *step) {
      return InvalidInput(args.Positional(0) + " names step " + std::to_string(address.step) +
                          "; leave out --step " + std::to_string(*step));
    }
    address.step = *step;
  }
  int64_t lost_lines = 0;
  KERF_ASSIGN_OR_RETURN(
      const std::vector<trace::TaskSteps> tasks,
      trace::ReadTasks(context.fs, address.run_path, address.op, address.task, &lost_lines));
  NoteLostLines(lost_lines, JoinPath(address.run_path, address.op), context.out);
  const std::vector<Step> steps = StepsAt(tasks[0].steps, address.step);
  if (steps.empty()) {
    return NotFound("task '" + address.task + "' has no step " + std::to_string(address.step));
  }
  if (args.Has("--part")) {
    if (args.Has("--json")) {
      return InvalidInput("--part prints the bytes of a text as they are; leave out --json");
    }
    if (address.step < 0) return InvalidInput("--part needs one step: PATH:TASK:STEP or --step N");
    return PrintPart(context, address, steps, args.Get("--part"));
  }
  if (args.Has("--json")) {
    bool damaged = false;
    for (const Step& step : steps) {
      context.out.Data(FullJson(context, address, step, damaged) + "\n");
    }
    return damaged ? kExitCorrupt : kExitDone;
  }
  Story story(context, address, args.Has("--full") || address.step >= 0);
  if (address.step >= 0) {
    for (const Step& step : steps) story.TellStep(step);
  } else {
    story.Tell(address, steps);
  }
  return story.damaged() ? kExitCorrupt : kExitDone;
}

}  // namespace

Verb TraceShowVerb() {
  return {.name = "trace show",
          .summary = "Show one step, or a whole task as a readable story",
          .details =
              "PLACE is PATH, PATH:TASK or PATH:TASK:STEP. PATH is an operator's folder, or a log\n"
              "directory with a single operator; TASK may be empty when there is only one. With "
              "--json\n"
              "one object per line. Exit 4 when a text is missing or is not what was recorded.",
          .positionals = {{.name = "PLACE", .help = "which task or step"}},
          .flags = {{.name = "--step", .value_name = "N", .help = "only this step", .number = true},
                    {.name = "--full", .help = "whole texts instead of their first lines"},
                    {.name = "--part",
                     .value_name = "NAME",
                     .help = "print exactly the bytes of one text of the step",
                     .choices = {"prompt", "reasoning", "result", "reply", "verify_res",
                                 "error_log", "profile"}},
                    JsonFlag()},
          .examples = {{"kerf trace show logs/swish", "the story of the only task"},
                       {"kerf trace show logs/swish:0:4", "step 4 of task 0, in full"},
                       {"kerf trace show logs/swish:0:4 --part reply",
                        "what the model sent, byte for byte"}},
          .run = RunTraceShow};
}

}  // namespace kerf::cli
