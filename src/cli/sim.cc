// kerf sim: runs an in-core kernel on kerf's own cores.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/cache_dir.h"
#include "cli/registry.h"
#include "cli/render/kernel_args_text.h"
#include "cli/render/output.h"
#include "cli/render/sim_text.h"
#include "cli/render/step_text.h"
#include "cli/replay_setup.h"
#include "cli/sim_setup.h"
#include "sim/exec/executor.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::ExecStatus;

struct Outcome {
  sim::ExecResult run;
  std::vector<OutputCheck> checks;
  std::optional<sim::SimReport> report;

  // It ran to its end, what it computed is right, and nothing in it would hang or race.
  [[nodiscard]] bool good() const {
    const bool right = std::all_of(checks.begin(), checks.end(),
                                   [](const OutputCheck& check) { return check.right; });
    return run.sound() && right && (!report || report->ErrorCount() == 0);
  }
};

Json FindingJson(const sim::Finding& finding) {
  return {{"kind", sim::FindingKindName(finding.kind)},
          {"fatal", finding.fatal},
          {"instruction", finding.instruction},
          {"text", finding.text},
          {"file", finding.file},
          {"line", finding.line},
          {"core", finding.core},
          {"count", finding.count}};
}

std::string FindingText(const sim::Finding& finding, const Output& out) {
  std::string text =
      out.Styled(finding.fatal ? "error" : "warning", finding.fatal ? Style::kBad : Style::kWarn);
  if (!finding.file.empty())
    text += " " + BaseName(finding.file) + ":" + std::to_string(finding.line);
  text += " ";
  if (!finding.instruction.empty()) text += finding.instruction + ": ";
  text += finding.text;
  if (!finding.core.empty()) text += " [" + finding.core + "]";
  if (finding.count > 1) text += " (" + std::to_string(finding.count) + " times)";
  return text + "\n";
}

Json OutputJson(const sim::ExecOutput& output, const OutputCheck* check) {
  Json json = {
      {"slot", output.slot}, {"name", output.name}, {"tensor", DescribeTensor(output.tensor)}};
  if (check != nullptr) {
    json["right"] = check->right;
    json["comparison"] = check->text;
  }
  return json;
}

const OutputCheck* CheckOf(const std::vector<OutputCheck>& checks, int slot) {
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const OutputCheck& one) { return one.slot == slot; });
  return found == checks.end() ? nullptr : &*found;
}

Json RunJson(const ReplayPlan& plan, const Outcome& outcome, bool ok) {
  const sim::ExecResult& run = outcome.run;
  Json findings = Json::array();
  for (const sim::Finding& finding : run.findings) findings.push_back(FindingJson(finding));
  Json outputs = Json::array();
  for (const sim::ExecOutput& output : run.outputs) {
    outputs.push_back(OutputJson(output, CheckOf(outcome.checks, output.slot)));
  }
  return {{"ok", ok},
          {"kernel", plan.kernel.name},
          {"shape", KernelShapeName(plan.kernel.shape)},
          {"compiled", run.status != ExecStatus::kNotCompiled},
          {"compiler_log", run.log},
          {"cores", run.cores},
          {"cores_finished", run.finished},
          {"instructions", run.instructions},
          {"build_seconds", run.build_seconds},
          {"build_cached", run.cached},
          {"run_seconds", run.run_seconds},
          {"printed", run.printed},
          {"findings", findings},
          {"outputs", outputs},
          {"notes", run.notes},
          {"report", outcome.report ? Json::parse(sim::ReportJson(*outcome.report)) : Json()}};
}

// Places in the kernel's own folder by the file's name alone.
std::string ShortPaths(std::string text, const ReplayPlan& plan) {
  for (const KernelMember& member : plan.kernel.members) {
    const std::string folder = ParentPath(member.source) + "/";
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
      // A place is a file and a line; folders that were written keep their names.
      const size_t end = std::min(text.find_first_of(" \n", at), text.size());
      if (text.find(':', at) < end)
        text.erase(at, folder.size());
      else
        at = end;
    }
  }
  return text;
}

void ReportText(const ReplayPlan& plan, const Outcome& outcome, Output& out) {
  const sim::ExecResult& run = outcome.run;
  if (run.status == ExecStatus::kNotCompiled) {
    out.Data(out.Styled("does not compile", Style::kBad) + ": " + plan.kernel.name + "\n" +
             run.log + "\n");
    return;
  }
  char line[256];
  std::snprintf(
      line, sizeof line,
      "%s: %llu of %llu cores finished, %llu instructions, built in %.2f s%s, run in %.3f s\n",
      plan.kernel.name.c_str(), static_cast<unsigned long long>(run.finished),
      static_cast<unsigned long long>(run.cores), static_cast<unsigned long long>(run.instructions),
      run.build_seconds, run.cached ? " (kept)" : "", run.run_seconds);
  out.Data(line);
  out.Data(run.printed);
  for (const sim::ExecOutput& output : run.outputs) {
    std::string text = "slot " + std::to_string(output.slot) + " " + output.name + " " +
                       DescribeTensor(output.tensor) + ": " + PreviewOutput(output);
    if (const OutputCheck* check = CheckOf(outcome.checks, output.slot)) {
      text +=
          " " +
          out.Styled(check->right ? "right" : "wrong", check->right ? Style::kGood : Style::kBad) +
          " (" + check->text + ")";
    }
    out.Data(text + "\n");
  }
  if (outcome.report) out.Data(ShortPaths(SimText(*outcome.report, out), plan));
  for (const sim::Finding& finding : run.findings) out.Data(FindingText(finding, out));
}

Result<int> RunSim(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const replay::ReplayRequest request, ParseSimRequest(args));
  KERF_ASSIGN_OR_RETURN(const replay::ReplayTools tools, MakeReplayTools(context, request));
  KERF_ASSIGN_OR_RETURN(const ReplayPlan plan, replay::PlanReplay(tools, request));
  KERF_ASSIGN_OR_RETURN(const sim::ExecOptions options, MakeExecOptions(args, plan, context));
  context.out.Note(DescribePlan(plan));
  for (const std::string& note : plan.args.notes) context.out.Note("note: " + note);
  Outcome outcome;
  KERF_ASSIGN_OR_RETURN(outcome.run, sim::Execute(context.fs, plan, options));
  for (const std::string& note : outcome.run.notes) context.out.Note("note: " + note);
  KERF_ASSIGN_OR_RETURN(outcome.checks, CheckOutputs(args, request, outcome.run, context));
  KERF_RETURN_IF_ERROR(SaveOutputs(args, outcome.run, context));
  if (!outcome.run.log_path.empty()) {
    KERF_ASSIGN_OR_RETURN(outcome.report,
                          AnalyseRun({plan, outcome.run, ChipName(args),
                                      AbsolutePath(args.Get("--out")), args.Has("--cycle-exact")},
                                     context));
    if (!outcome.report)
      context.out.Note("note: no instruction was recorded: there is nothing to time");
  }
  const bool ok = outcome.good();
  if (args.Has("--json"))
    context.out.Data(DumpJson(RunJson(plan, outcome, ok)) + "\n");
  else
    ReportText(plan, outcome, context.out);
  return ok ? kExitDone : kExitNegative;
}

}  // namespace

Verb SimVerb() {
  return {.name = "sim",
          .summary = "Run an in-core kernel on kerf's own simulated cores",
          .details =
              "Compiles an unmodified kernel_entry(args) source against kerf's own headers, runs "
              "it in the sandbox\n"
              "on simulated cores, and tells what it computed and what is wrong with it. Needs a "
              "C++ compiler and\n"
              "nothing else: no CANN, no device.",
          .positionals = {{.name = "KERNEL", .help = "the kernel's source", .required = false}},
          .flags = SimFlags(),
          .examples =
              {{"kerf sim examples/kernels/add.cpp --core aiv --arg-spec examples/kernels/add.json",
                "run a vector kernel"},
               {"kerf sim softmax.cpp --core aiv --dump-dir outputs/run --func-id 1 --check-output",
                "replay a launch of a real run and compare its outputs"}},
          .run = RunSim};
}

}  // namespace kerf::cli
