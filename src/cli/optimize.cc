// kerf optimize: the cases of a GEAK-style data set, iteration after iteration.
#include "cli/build_info.h"
#include "cli/interrupt.h"
#include "cli/optimize_setup.h"
#include "cli/optimize_view.h"
#include "cli/registry.h"
#include "cli/render/optimize_text.h"
#include "cli/render/output.h"
#include "cli/run_setup.h"
#include "loop/conduct/dispatcher.h"
#include "loop/conduct/hardware.h"
#include "loop/optimize/optimizer.h"

namespace kerf::cli {
namespace {

using optimize::DataSet;
using optimize::RunFiles;
using optimize::Settings;

Result<RunFiles> OpenFiles(const Args& args, const Config& config, const std::string& root,
                           const DataSet& data, bool reflect, Context& context) {
  if (!args.Has("--resume")) {
    KERF_ASSIGN_OR_RETURN(Settings settings, OptimizeSettings(args, config, data, nullptr));
    settings.reflect = reflect;
    return RunFiles::Begin(context.fs, root, settings);
  }
  KERF_ASSIGN_OR_RETURN(RunFiles files, RunFiles::Resume(context.fs, root));
  KERF_RETURN_IF_ERROR(OptimizeSettings(args, config, data, &files.settings()));
  return files;
}

void TellProblems(const DataSet& data, Context& context) {
  constexpr size_t kMost = 10;
  const auto& kept = data.problems.kept();
  for (size_t i = 0; i < kept.size() && i < kMost; ++i) context.out.Note(ProblemText(kept[i]));
  if (data.problems.count() > kMost) {
    context.out.Note("… and " + std::to_string(data.problems.count() - kMost) + " more");
  }
}

// Only the synthesizer: it neither debugs nor reflects.
bool OnlySynth(const Config& config) {
  if (!config.model.empty() && config.model != "synth") return false;
  for (const auto& [agent, model] : config.agent_model_config) {
    if (agent.starts_with("optimize_") && model != "synth") return false;
  }
  return true;
}

Result<OptimizeResult> Lead(const Args& args, DataSet& data, RunFiles& files, Workshop& shop,
                            conduct::JudgePool& judge, Context& context) {
  const Settings& settings = files.settings();
  KERF_ASSIGN_OR_RETURN(std::string hardware, conduct::HardwareText(data.cases.front().spec));
  const optimize::Prompter prompter(*shop.prompts, std::move(hardware));
  KERF_ASSIGN_OR_RETURN(const auto recorder,
                        trace::Recorder::Open(context.fs, context.clock, *shop.ids,
                                              {.log_dir = shop.log_dir, .owner = "kerf optimize"}));
  const optimize::LinePorts ports{context.fs,       context.clock,
                                  *recorder,        shop.redactor,
                                  prompter,         shop.models->NameOf(""),
                                  settings.rules,   settings.measure,
                                  settings.reflect, shop.models->only_synth()};
  conduct::Dispatcher dispatcher(
      [&](const std::string& agent) -> llm::Provider& { return shop.models->Of(agent); }, judge);
  OptimizeView view(context.out, context.clock, shop.models->ledger());
  const InterruptWatch watch;
  bool stopping = false;
  const auto interrupted = [&] {
    if (watch.interrupted() && !stopping) {
      stopping = true;
      view.Say("stopping; what was done is kept and --resume goes on (again: at once)");
      shop.models->Stop();
      judge.Stop();
    }
    return stopping;
  };
  const auto playback_of = [&](const std::string& op, const std::string& task) {
    return args.Has("--resume") ? conduct::Playback::Read(context.fs, shop.log_dir, op, task, -1)
                                : Result<conduct::Playback>(conduct::Playback());
  };
  optimize::Optimizer optimizer(data, files, ports, dispatcher, view);
  OptimizeResult result;
  KERF_ASSIGN_OR_RETURN(result.report, optimizer.Run(args.GetNumber("--iterations").value_or(10),
                                                     playback_of, interrupted));
  result.interrupted = stopping;
  return result;
}

Result<int> RunOptimize(const Args& args, Context& context) {
  const std::string root = ExpandHome(args.Get("--out"));
  if (root.empty() || root.ends_with('/')) {
    return InvalidInput("--out takes the beginning of the files' names, such as runs/X");
  }
  if (args.GetNumber("--iterations").value_or(1) < 1) {
    return InvalidInput("--iterations must be 1 or more");
  }
  KERF_ASSIGN_OR_RETURN(Config config, RunConfig(args, context.fs));
  KERF_ASSIGN_OR_RETURN(DataSet data, OptimizeData(args, context));
  const bool only_synth = OnlySynth(config);
  KERF_ASSIGN_OR_RETURN(RunFiles files, OpenFiles(args, config, root, data, !only_synth, context));
  TellProblems(data, context);
  FillInSpecs(files.settings(), data);
  if (files.settings().rules.synth) config.agent_model_config["optimize_synth"] = "synth";
  config.language = files.settings().language;
  const std::vector<TaskSpec> specs = LineSpecs(files.settings(), data);
  KERF_ASSIGN_OR_RETURN(
      Workshop shop, SetUpRun(args, specs, std::move(config), optimize::TracePath(root), context));
  if (args.Has("--resume")) AddRecordedUse(shop, specs, context);
  KERF_ASSIGN_OR_RETURN(const auto judge, MakeJudge(args, shop.config, specs, context));
  context.out.Note("kerf optimize: " + std::to_string(data.cases.size()) + " cases, " + root +
                   "_N.jsonl, model " + shop.models->NameOf(""));
  KERF_ASSIGN_OR_RETURN(OptimizeResult result, Lead(args, data, files, shop, *judge, context));
  context.out.Progress("");
  for (const optimize::CaseReport& one : result.report.cases) {
    if (one.speedup.has_value()) shop.models->Remember(one.code, *one.speedup);
  }
  result.root = root;
  result.total = shop.models->ledger().Total();
  result.ledger_json = shop.models->ledger().ToJson();
  context.out.Data(args.Has("--json") ? OptimizeJson(result) : OptimizeText(result, context.out));
  return OptimizeExitCode(result);
}

Flag Count(const char* name, const char* help, const char* otherwise = "") {
  return {
      .name = name, .value_name = "N", .help = help, .default_value = otherwise, .number = true};
}

}  // namespace

Verb OptimizeVerb() {
  return {
      .name = "optimize",
      .summary = "Make right and fast kernels for the cases of a data set",
      .details =
          "Each iteration writes code for every case, judges it (call, exe, perf) and reflects on\n"
          "it; then ROOT_N.jsonl and ROOT_mem_N.json are written, in GEAK's format, and all\n"
          "attempts are in ROOT_trace. Exit code 1: not every case has a right kernel.",
      .positionals = {{"DATA", "a data set (.jsonl); its mem file is found by its name", true}},
      .flags = {{.name = "--out",
                 .value_name = "ROOT",
                 .help = "the beginning of the names of what is written",
                 .required = true},
                {.name = "--mem", .value_name = "FILE", .help = "the data's mem file"},
                Count("--iterations", "at most, those before a resume included", "10"),
                {.name = "--resume", .help = "go on after the last recorded step"},
                {.name = "--model",
                 .value_name = "SPEC",
                 .help = "synth, or openai, anthropic, recorded, scripted, import with :NAME"},
                {.name = "--impl",
                 .value_name = "I",
                 .help = "else from the data",
                 .choices = {"cpp", "cuda_c", "hip", "triton", "torch_ext"}},
                {.name = "--backend",
                 .value_name = "B",
                 .help = "else what this machine has",
                 .choices = {"cpu", "cuda"}},
                {.name = "--arch", .value_name = "A", .help = "x86_64, h200 …"},
                Count("--descendants", "attempts at a case in each iteration; else 1"),
                Count("--population", "ancestors kept and shown to the model; else 5"),
                Count("--debug-limit", "repairs in a row before something else; else 5"),
                Count("--reflect-limit", "reflections on a case in each iteration; else all"),
                {.name = "--use-predict", .help = "the data's own code is the first attempt"},
                {.name = "--synth", .help = "kerf's synthesizer goes first where it can"},
                {.name = "--no-measure", .help = "right is enough"},
                Count("--max-tokens-total", "stop before the call that would use more"),
                {.name = "--max-cost",
                 .value_name = "USD",
                 .help = "stop before the call that would cost more"},
                {.name = "--config", .value_name = "FILE", .help = "YAML; see kerf config show"},
                Count("--jobs", "candidates judged at once"),
                {.name = "--loose", .help = "recorded replies by order, not by request"},
                {.name = "--sandbox",
                 .value_name = "MODE",
                 .help = "walls around candidates",
                 .default_value = "best",
                 .choices = {"required", "best", "off"}},
                JsonFlag()},
      .examples = {{"kerf optimize data.jsonl --out runs/X --model openai:gpt-5",
                    "ten iterations, a pair of files after each"},
                   {"kerf optimize data.jsonl --out runs/X --model openai:gpt-5 --resume",
                    "after a crash or Ctrl-C"},
                   {"kerf debug history runs/X", "what came of it, over its iterations"}},
      .run = RunOptimize};
}

}  // namespace kerf::cli
