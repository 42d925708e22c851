// kerf task check: is a task fit to judge candidates by?
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/cache_dir.h"
#include "base/clock.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "device/probe.h"
#include "loop/task/reference_maker.h"
#include "loop/task/task_check.h"
#include "loop/verify/fitness.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Checked {
  task::TaskFile file;
  task::Interpreter interpreter;
  Reference reference;
  task::TaskReport report;
  bool cached = false;
  double milliseconds = 0;
};

// What only the comparison can tell. Its other reasons are among the report's findings already.
Status AddNullBaselines(const Reference& reference, task::TaskReport& report) {
  const int threads = device::UsableProcessors();
  KERF_ASSIGN_OR_RETURN(verify::Expectations expectations,
                        verify::Expectations::Make(reference, threads));
  for (const verify::Unfitness& one : verify::FindUnfitness(expectations, threads)) {
    if (one.reason != "null_baseline") continue;
    report.findings.push_back({task::Finding::kNullBaseline, /*unfit=*/true, one.text});
  }
  return {};
}

Result<Checked> Check(const Args& args, Context& context) {
  Checked checked;
  const int64_t begin = context.clock.MonotonicNanos();
  const int64_t seeds = args.GetNumber("--seeds").value_or(3);
  const int64_t timeout = args.GetNumber("--timeout").value_or(300);
  if (seeds < 1 || seeds > 1000) return InvalidInput("--seeds takes 1 to 1000");
  if (timeout < 1 || timeout > 86'400) return InvalidInput("--timeout takes 1 to 86400 seconds");
  KERF_ASSIGN_OR_RETURN(checked.file,
                        task::ReadTaskFile(context.fs, args.Positional(0),
                                           task::ParseFramework(args.Get("--framework"))));
  KERF_ASSIGN_OR_RETURN(const std::string cache_dir, OpenCacheDir());
  KERF_ASSIGN_OR_RETURN(const uint64_t limit, CacheLimit());
  KERF_ASSIGN_OR_RETURN(auto cache, task::ReferenceCache::Open(context.fs, cache_dir, limit));
  context.out.Progress("looking for an interpreter with " +
                       std::string(task::FrameworkName(checked.file.framework)));
  KERF_ASSIGN_OR_RETURN(
      checked.interpreter,
      task::FindInterpreter(task::SearchHere(context.fs, cache_dir), checked.file.framework));
  task::ReferenceOptions options;
  options.seeds.resize(static_cast<size_t>(seeds));
  std::iota(options.seeds.begin(), options.seeds.end(), 0);
  options.check = true;
  options.hidden = checked.file.dynamic ? 1 : 0;
  options.timeout = std::chrono::seconds(timeout);
  options.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  context.out.Progress("running the reference");
  KERF_ASSIGN_OR_RETURN(checked.reference, task::MakeReference(context.fs, checked.file, options,
                                                               checked.interpreter, cache));
  KERF_ASSIGN_OR_RETURN(checked.report, task::CheckTask(context.fs, checked.reference));
  context.out.Progress("trying candidates that compute nothing");
  KERF_RETURN_IF_ERROR(AddNullBaselines(checked.reference, checked.report));
  checked.cached = cache.builds() == 0;
  checked.milliseconds = static_cast<double>(context.clock.MonotonicNanos() - begin) / 1e6;
  return checked;
}

std::string RangeText(const task::OutputSummary& output) {
  if (output.non_finite == output.elements) return "";
  return fmt::format("{:.4g} to {:.4g}", output.least, output.greatest);
}

void PrintText(const Checked& checked, Output& out) {
  Table table({{"OUTPUT"},
               {"TYPE"},
               {"SEED", Align::kRight},
               {"VARIANT"},
               {"RANGE"},
               {"NOT FINITE", Align::kRight}});
  for (const task::OutputSummary& output : checked.report.outputs) {
    table.AddRow({{output.name},
                  {output.spec},
                  {std::to_string(output.seed)},
                  {output.hidden ? "hidden" : std::to_string(output.variant)},
                  {RangeText(output)},
                  {std::to_string(output.non_finite),
                   output.non_finite > 0 ? Style::kWarn : Style::kPlain}});
  }
  out.Data(table.Render(out));
  for (const task::TaskFinding& finding : checked.report.findings) {
    const Style style = finding.unfit ? Style::kBad : Style::kWarn;
    out.Data(out.Styled(finding.unfit ? "unfit" : "note", style) + ": " + finding.message + "\n");
  }
  out.Data(checked.report.fit() ? out.Styled("fit", Style::kGood)
                                : out.Styled("not fit", Style::kBad));
  out.Data(fmt::format(": {} ({} {}, {} cases{})\n", checked.file.op_name,
                       checked.reference.framework, checked.reference.framework_version,
                       checked.reference.cases.size(), checked.cached ? ", cached" : ""));
  if (!checked.reference.hidden_note.empty()) {
    out.Note("no hidden shapes: " + checked.reference.hidden_note);
  }
  out.Note(fmt::format("{} in {}", checked.interpreter.path, FormatDuration(checked.milliseconds)));
}

void PrintJson(const Checked& checked, Output& out) {
  Json document = {{"ok", true},
                   {"fit", checked.report.fit()},
                   {"op_name", checked.file.op_name},
                   {"task_sha256", checked.file.sha256},
                   {"framework", checked.reference.framework},
                   {"framework_version", checked.reference.framework_version},
                   {"python", checked.interpreter.path},
                   {"dynamic", checked.file.dynamic},
                   {"cached", checked.cached},
                   {"milliseconds", checked.milliseconds},
                   {"reference", checked.reference.folder},
                   {"hidden_note", checked.reference.hidden_note},
                   {"findings", Json::array()},
                   {"outputs", Json::array()}};
  for (const task::TaskFinding& finding : checked.report.findings) {
    document["findings"].push_back({{"finding", task::FindingName(finding.finding)},
                                    {"unfit", finding.unfit},
                                    {"message", finding.message}});
  }
  for (const task::OutputSummary& output : checked.report.outputs) {
    document["outputs"].push_back({{"name", output.name},
                                   {"spec", output.spec},
                                   {"seed", output.seed},
                                   {"variant", output.variant},
                                   {"hidden", output.hidden},
                                   {"elements", output.elements},
                                   {"non_finite", output.non_finite},
                                   {"least", output.least},
                                   {"greatest", output.greatest}});
  }
  out.Data(DumpJson(document) + "\n");
}

Result<int> RunTaskCheck(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Checked checked, Check(args, context));
  context.out.Progress("");
  if (args.Has("--json")) {
    PrintJson(checked, context.out);
  } else {
    PrintText(checked, context.out);
  }
  return checked.report.fit() ? kExitDone : kExitNegative;
}

}  // namespace

Verb TaskCheckVerb() {
  return {
      .name = "task check",
      .summary = "Tell whether a task is fit to judge candidates by",
      .details =
          "Runs the reference of the task in the sandbox: does it load, are its outputs finite,\n"
          "the same for the same seed, and do they depend on every input and parameter? Would "
          "zeros,\n"
          "ones, a copy of an input, the mean or another case's output pass for the answer?\n"
          "What was made is kept in the cache (KERF_CACHE_DIR, at most KERF_CACHE_LIMIT).\n"
          "Exit 0 when the task is fit, 1 when it is not, 2 when it cannot be run.",
      .positionals = {{.name = "TASK", .help = "a task file: Model, get_inputs, get_init_inputs"}},
      .flags = {{.name = "--framework",
                 .value_name = "F",
                 .help = "its framework, when the imports do not tell",
                 .choices = {"torch", "numpy", "mindspore"}},
                {.name = "--seeds",
                 .value_name = "N",
                 .help = "how many draws of inputs and weights",
                 .default_value = "3",
                 .number = true},
                {.name = "--timeout",
                 .value_name = "S",
                 .help = "seconds the reference may take",
                 .default_value = "300",
                 .number = true},
                {.name = "--sandbox",
                 .value_name = "MODE",
                 .help = "which walls must stand around it",
                 .default_value = "best",
                 .choices = {"required", "best", "off"}},
                JsonFlag()},
      .examples = {{"kerf task check examples/tasks/softmax_torch.py", "one of the examples"},
                   {"kerf task check 19_ReLU.py --seeds 5 --json", "for a script"}},
      .run = RunTaskCheck};
}

}  // namespace kerf::cli
