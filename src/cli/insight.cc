// kerf insight: from one kernel dispatch to the directory that MindStudio Insight opens.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/cache_dir.h"
#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/registry.h"
#include "cli/render/kernel_args_text.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/replay_setup.h"
#include "cli/sim_setup.h"
#include "replay/collect/msprof.h"
#include "replay/collect/ptoas.h"
#include "replay/timeline/simulator_dir.h"
#include "replay/workspace/workspace_writer.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

Result<std::string> WorkspacePath(const Args& args, const ReplayPlan& plan, Context& context) {
  if (const std::string dir = args.Get("--output-dir"); !dir.empty()) return AbsolutePath(dir);
  return AbsolutePath("outputs/" + workspace::DefaultWorkspaceName(plan.scene_case,
                                                                   plan.kernel.name,
                                                                   context.clock.WallNanos()));
}

collect::MsprofRequest MsprofOf(const Args& args, const ReplayPlan& plan, const std::string& dir,
                                Context& context) {
  collect::MsprofRequest request{.workspace = dir,
                                 .cann_home = AbsolutePath(args.Get("--cann-home")),
                                 .simpler_root = AbsolutePath(args.Get("--simpler-root")),
                                 .pto_isa_root = AbsolutePath(args.Get("--pto-isa-root")),
                                 .soc_version = plan.options.soc_version.empty()
                                                    ? DefaultSocVersion(plan.options.platform)
                                                    : plan.options.soc_version,
                                 .timeout_minutes = plan.options.timeout_minutes};
  request.progress = [&context](const std::string& line) { context.out.Note(line); };
  return request;
}

// Tools run for hours and start others: Ctrl-C must reach them all.
std::function<Result<ProcessOutcome>(const Command&)> StoppableRun(const InterruptWatch& watch) {
  return [&watch](const Command& command) {
    Command with = command;
    with.stop = [&watch] { return watch.interrupted(); };
    return RunProcess(with);
  };
}

int Interrupted(const Args& args, const std::string& dir, Output& out) {
  out.Note("kerf: interrupted; the workspace is " + dir);
  if (args.Has("--json")) {
    out.Data(DumpJson({{"ok", false}, {"interrupted", true}, {"workspace", dir}}) + "\n");
  }
  return kExitInterrupted;
}

// msprof's success says little: what it wrote must be what Insight opens.
Status Validate(const std::string& simulator, Context& context) {
  std::vector<timeline::Finding> findings;
  KERF_ASSIGN_OR_RETURN(const timeline::SimulatorDir dir,
                        timeline::ReadSimulatorDir(context.fs, simulator, findings));
  timeline::CheckSimulatorDir(dir, findings);
  std::string first;
  for (const timeline::Finding& finding : findings) {
    const std::string text = finding.where + (finding.where.empty() ? "" : ": ") + finding.what;
    context.out.Note((finding.damage ? "damage: " : "note: ") + text);
    if (finding.damage && first.empty()) first = text;
  }
  if (first.empty()) return {};
  return Corrupt(simulator + " is there and not sound: " + first +
                 " (kerf timeline check tells all)");
}

// What a run on kerf's own cores gave.
struct EmbeddedRun {
  std::string simulator;  // directory
  bool good = false;      // the kernel came to its end, and nothing is wrong with it
  std::vector<std::string> problems;
  Json outputs = Json::array();
};

void Report(const Args& args, const ReplayPlan& plan, const std::string& dir,
            const std::string& simulator, const EmbeddedRun* run, Output& out) {
  if (args.Has("--json")) {
    Json document = {{"ok", run == nullptr || run->good},
                     {"workspace", dir},
                     {"simulator", simulator.empty() ? Json() : Json(simulator)},
                     {"kernel", plan.kernel.name},
                     {"shape", KernelShapeName(plan.kernel.shape)},
                     {"args_source", plan.args_source},
                     {"notes", plan.args.notes}};
    if (run != nullptr) {
      document["problems"] = run->problems;
      document["outputs"] = run->outputs;
    }
    out.Data(DumpJson(document) + "\n");
    return;
  }
  out.Data("Insight trace workspace: " + dir + "\n");
  if (!simulator.empty()) out.Data("MindStudio Insight input: " + simulator + "\n");
  if (run != nullptr && !run->outputs.empty()) out.Data("Outputs: " + dir + "/outputs\n");
}

// The bytes of the tensors that the kernel wrote, beside the workspace's inputs.
Status SaveOutputs(const sim::ExecResult& run, const std::string& dir, EmbeddedRun& embedded,
                   Context& context) {
  if (run.outputs.empty()) return {};
  KERF_RETURN_IF_ERROR(context.fs.CreateDirs(dir + "/outputs"));
  for (const sim::ExecOutput& output : run.outputs) {
    const std::string path = dir + "/outputs/slot" + std::to_string(output.slot) + ".bin";
    KERF_RETURN_IF_ERROR(WriteFileAtomic(context.fs, path, output.bytes));
    embedded.outputs.push_back({{"slot", output.slot},
                                {"name", output.name},
                                {"tensor", DescribeTensor(output.tensor)},
                                {"file", path}});
  }
  return {};
}

Result<EmbeddedRun> RunEmbedded(const Args& args, const ReplayPlan& plan, const std::string& dir,
                                Context& context) {
  KERF_ASSIGN_OR_RETURN(const sim::ExecOptions options, MakeExecOptions(args, plan, context));
  KERF_ASSIGN_OR_RETURN(const sim::ExecResult run, sim::Execute(context.fs, plan, options));
  for (const std::string& note : run.notes) context.out.Note("note: " + note);
  if (run.status == sim::ExecStatus::kNotCompiled) {
    return InvalidInput("insight trace failed: " + plan.kernel.name +
                        " does not compile for kerf's simulator:\n" + run.log);
  }
  EmbeddedRun embedded;
  for (const sim::Finding& finding : run.findings) {
    embedded.problems.push_back(std::string(finding.fatal ? "error: " : "warning: ") +
                                finding.instruction + ": " + finding.text);
  }
  KERF_RETURN_IF_ERROR(SaveOutputs(run, dir, embedded, context));
  KERF_ASSIGN_OR_RETURN(
      const std::optional<sim::SimReport> report,
      AnalyseRun({plan, run, ChipOf(plan.options.platform), dir + "/insight_export", false},
                 context));
  if (!report) return InvalidInput("insight trace failed: the kernel issued no instruction");
  for (const sim::HazardReport& hazard : report->hazards)
    embedded.problems.push_back("hazard: " + hazard.what);
  for (const std::string& problem : embedded.problems) context.out.Note(problem);
  embedded.good = run.sound() && report->ErrorCount() == 0;
  embedded.simulator = report->directory;
  return embedded;
}

Result<int> RunSimpler(const Args& args, Context& context) {
  const std::string simulator_name = args.Has("--dry-run") ? "none" : args.Get("--simulator");
  KERF_ASSIGN_OR_RETURN(const replay::ReplayRequest request, ParseReplayRequest(args));
  KERF_ASSIGN_OR_RETURN(const replay::ReplayTools tools, MakeReplayTools(context, request));
  KERF_ASSIGN_OR_RETURN(const ReplayPlan plan, replay::PlanReplay(tools, request));
  KERF_ASSIGN_OR_RETURN(const std::string dir, WorkspacePath(args, plan, context));
  context.out.Note(DescribePlan(plan));
  if (!args.Has("--json")) context.out.Data(SlotTable(plan.args, context.out));
  for (const std::string& note : plan.args.notes) context.out.Note("note: " + note);
  KERF_RETURN_IF_ERROR(workspace::WriteWorkspace(context.fs, plan, dir));
  std::string simulator;
  if (simulator_name == "msprof") {
    const InterruptWatch watch;
    collect::MsprofRequest msprof = MsprofOf(args, plan, dir, context);
    msprof.run = StoppableRun(watch);
    auto collected = collect::Collect(context.fs, msprof);
    if (watch.interrupted()) return Interrupted(args, dir, context.out);
    if (!collected.ok()) {
      context.out.Note("Insight trace workspace: " + dir);
      return std::move(collected).error().Within("insight trace failed");
    }
    simulator = *collected;
    KERF_RETURN_IF_ERROR(Validate(simulator, context));
  } else if (simulator_name == "embedded") {
    KERF_ASSIGN_OR_RETURN(const EmbeddedRun run, RunEmbedded(args, plan, dir, context));
    KERF_RETURN_IF_ERROR(Validate(run.simulator, context));
    Report(args, plan, dir, run.simulator, &run, context.out);
    return run.good ? kExitDone : kExitNegative;
  }
  Report(args, plan, dir, simulator, nullptr, context.out);
  return kExitDone;
}

collect::PtoasRequest PtoasOf(const Args& args, Context& context) {
  const auto variable = [](const char* name) { return ProcessVariable(name).value_or(""); };
  collect::PtoasRequest request{
      .ptoas_root = AbsolutePath(args.Get("--ptoas-root")),
      .source_cpp = AbsolutePath(args.Get("--source-cpp")),
      .kernel_base_name = args.Get("--kernel-base-name"),
      .aicore_arch = args.Get("--aicore-arch"),
      .soc_version = args.Get("--soc-version"),
      .kernel_symbol = args.Get("--kernel-symbol"),
      .pto_isa_root = AbsolutePath(args.Get("--pto-isa-root")),
      .cann_home = AbsolutePath(args.Get("--cann-home")),
      .workspace = AbsolutePath(args.Get("--output-dir")),
      .launch_count = args.GetNumber("--launch-count").value_or(1),
      .device = args.GetNumber("--device").value_or(0),
      .dry_run = args.Has("--dry-run") || args.Get("--simulator") == "none"};
  if (request.soc_version.empty()) {
    request.soc_version =
        DefaultSocVersion(ParsePlatform(args.Get("--platform")).value_or(Platform::kA2A3));
  }
  if (request.pto_isa_root.empty()) request.pto_isa_root = variable("PTO_ISA_ROOT");
  if (request.cann_home.empty()) request.cann_home = variable("CANN_HOME");
  if (request.cann_home.empty()) request.cann_home = variable("ASCEND_HOME_PATH");
  if (request.workspace.empty()) {
    request.workspace =
        AbsolutePath("outputs/" + workspace::DefaultWorkspaceName("ptoas", request.kernel_base_name,
                                                                  context.clock.WallNanos()));
  }
  request.progress = [&context](const std::string& line) { context.out.Note(line); };
  return request;
}

// Flags of the other back end are refused, never ignored.
Status RefuseFlags(const Args& args, const std::vector<std::string>& flags,
                   const std::string& backend) {
  for (const std::string& flag : flags) {
    if (args.Has(flag)) return InvalidInput(flag + " means nothing with --backend " + backend);
  }
  return {};
}

Result<int> RunPtoas(const Args& args, Context& context) {
  KERF_RETURN_IF_ERROR(
      RefuseFlags(args,
                  {"--case", "--kernel", "--func-id", "--kernel-source", "--core-type",
                   "--arg-spec", "--dump-dir", "--dispatch-id", "--task-id", "--set-arg",
                   "--restore-arg", "--hw-block-num", "--spmd-block-num", "--runtime",
                   "--no-payloads", "--debug-line", "--simpler-root", "--import"},
                  "ptoas"));
  if (!args.Positional(0).empty())
    return InvalidInput("a scene test means nothing with --backend ptoas; it takes --source-cpp");
  if (args.Get("--simulator") == "embedded")
    return Unavailable("--simulator embedded does not run PTOAS test cases; msprof does");
  collect::PtoasRequest request = PtoasOf(args, context);
  KERF_ASSIGN_OR_RETURN(request.timeout_minutes, ReplayTimeout(args));
  const InterruptWatch watch;
  request.run = StoppableRun(watch);
  auto result = collect::ReplayPtoas(context.fs, request);
  if (watch.interrupted()) return Interrupted(args, request.workspace, context.out);
  if (!result.ok()) return std::move(result).error().Within("insight trace failed");
  for (const std::string& note : result->notes) context.out.Note("note: " + note);
  if (!result->simulator.empty()) KERF_RETURN_IF_ERROR(Validate(result->simulator, context));
  if (args.Has("--json")) {
    context.out.Data(
        DumpJson({{"ok", true},
                  {"workspace", request.workspace},
                  {"case", result->case_dir},
                  {"symbol", result->symbol},
                  {"simulator", result->simulator.empty() ? Json() : Json(result->simulator)}}) +
        "\n");
    return kExitDone;
  }
  context.out.Data("Insight trace workspace: " + request.workspace + "\n");
  if (!result->simulator.empty())
    context.out.Data("MindStudio Insight input: " + result->simulator + "\n");
  return kExitDone;
}

Result<int> RunInsight(const Args& args, Context& context) {
  if (args.Get("--backend") == "ptoas") return RunPtoas(args, context);
  KERF_RETURN_IF_ERROR(RefuseFlags(
      args,
      {"--ptoas-root", "--source-cpp", "--kernel-base-name", "--aicore-arch", "--kernel-symbol"},
      "simpler"));
  return RunSimpler(args, context);
}

// The help explains the first flags only.
std::vector<Flag> WithFirst(std::vector<Flag> flags, const std::vector<std::string>& first) {
  const auto rank = [&](const Flag& flag) {
    return std::find(first.begin(), first.end(), flag.name);
  };
  std::stable_sort(flags.begin(), flags.end(),
                   [&](const Flag& a, const Flag& b) { return rank(a) < rank(b); });
  return flags;
}

std::vector<Flag> Flags() {
  std::vector<Flag> flags = ReplayFlags();
  const std::vector<Flag> launch = LaunchFlags();
  flags.insert(flags.end(), launch.begin(), launch.end());
  const std::vector<Flag> own = {
      {.name = "--backend",
       .value_name = "B",
       .help = "what made the kernel",
       .default_value = "simpler",
       .choices = {"simpler", "ptoas"}},
      {.name = "--simulator",
       .value_name = "S",
       .help = "what runs the workspace",
       .default_value = "msprof",
       .choices = {"msprof", "embedded", "none"}},
      {.name = "--dry-run", .help = "stop after the workspace, as --simulator none"},
      {.name = "--output-dir",
       .value_name = "D",
       .help = "the workspace; default outputs/insight_trace_…"},
      {.name = "--pto-isa-root",
       .value_name = "D",
       .help = "checkout of pto-isa; default $PTO_ISA_ROOT"},
      {.name = "--ptoas-root", .value_name = "D", .help = "ptoas: its checkout"},
      {.name = "--source-cpp", .value_name = "F", .help = "ptoas: the generated source"},
      {.name = "--kernel-base-name",
       .value_name = "N",
       .help = "ptoas: the kernel's name before mangling"},
      {.name = "--aicore-arch",
       .value_name = "A",
       .help = "ptoas: default is its generator's guess"},
      {.name = "--kernel-symbol", .value_name = "S", .help = "ptoas: default is found with nm"},
      {.name = "--cann-home",
       .value_name = "D",
       .help = "CANN; default $CANN_HOME or $ASCEND_HOME_PATH"},
      JsonFlag()};
  flags.insert(flags.end(), own.begin(), own.end());
  return WithFirst(flags, {"--case", "--kernel", "--func-id", "--kernel-source", "--platform",
                           "--arg-spec", "--dump-dir", "--dispatch-id", "--task-id", "--set-arg",
                           "--simulator", "--dry-run", "--output-dir", "--simpler-root",
                           "--pto-isa-root", "--cann-home", "--timeout-minutes", "--json"});
}

}  // namespace

Verb InsightVerb() {
  return {.name = "insight",
          .summary = "Replay one kernel launch and get its instruction timeline",
          .details =
              "Picks a kernel of a scene test (read, never imported), finds its arguments in an "
              "arg spec, a dump,\n"
              "a recipe or the test itself, checks them, writes a workspace that builds and runs "
              "the kernel\n"
              "alone, and runs it under `msprof op simulator`, or on kerf's own simulated cores\n"
              "(--simulator embedded), which need no CANN.",
          .positionals = {{.name = "MODULE", .help = "a scene test", .required = false}},
          .flags = Flags(),
          .examples =
              {{"kerf insight test_attention.py --case Small --kernel SF --dry-run",
                "write the workspace only"},
               {"kerf insight test_attention.py --case Small --func-id 1 --dump-dir outputs/run "
                "--dispatch-id 5",
                "a launch of a real run"},
               {"kerf insight --kernel-source softmax.cpp --core-type aiv --arg-spec softmax.json",
                "without a scene test"}},
          .run = RunInsight};
}

}  // namespace kerf::cli
