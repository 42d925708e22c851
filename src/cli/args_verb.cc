// kerf args: the arguments a replay would use, as an arg spec to edit and feed back.
#include "cli/registry.h"
#include "cli/render/kernel_args_text.h"
#include "cli/render/output.h"
#include "cli/replay_setup.h"
#include "replay/args/arg_spec.h"

namespace kerf::cli {
namespace {

Result<int> RunArgs(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const replay::ReplayRequest request, ParseReplayRequest(args));
  KERF_ASSIGN_OR_RETURN(const replay::ReplayTools tools, MakeReplayTools(context, request));
  KERF_ASSIGN_OR_RETURN(const ReplayPlan plan, replay::PlanReplay(tools, request));
  context.out.Note(DescribePlan(plan));
  for (const std::string& note : plan.args.notes) context.out.Note("note: " + note);
  context.out.Data(args.Has("--table") ? SlotTable(plan.args, context.out)
                                       : args::WriteArgSpec(plan.args));
  return kExitDone;
}

}  // namespace

Verb ArgsVerb() {
  std::vector<Flag> flags = ReplayFlags();
  flags.push_back({.name = "--table", .help = "a table for people instead of the arg spec"});
  flags.push_back(JsonFlag());
  return {
      .name = "args",
      .summary = "Print the arguments of a kernel as an arg spec",
      .details =
          "Resolves the arguments as `kerf insight` does (arg spec, dump, recipe, scene test), "
          "checks\n"
          "them and prints them as JSON that --arg-spec reads. It is JSON with and without --json.",
      .positionals = {{.name = "MODULE", .help = "a scene test", .required = false}},
      .flags = flags,
      .examples =
          {{"kerf args test_attention.py --case Small --kernel SF > sf.json",
            "to edit, then: kerf insight … --arg-spec sf.json"},
           {"kerf args test_attention.py --case Small --func-id 1 --dump-dir outputs/run --table",
            "what a dump gives"}},
      .run = RunArgs};
}

}  // namespace kerf::cli
