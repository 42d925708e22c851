#include "cli/render/trace_diff.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "trace/diff.h"

namespace kerf::cli {
namespace {

Result<int> RunTraceDiff(const Args& args, Context& context) {
  const DiffTitles titles{args.Positional(0), args.Positional(1)};
  KERF_ASSIGN_OR_RETURN(const trace::Address address_a,
                        trace::ResolveAddress(context.fs, titles.a));
  KERF_ASSIGN_OR_RETURN(const trace::Address address_b,
                        trace::ResolveAddress(context.fs, titles.b));
  KERF_ASSIGN_OR_RETURN(const trace::DiffSide a, trace::LoadDiffSide(context.fs, address_a));
  KERF_ASSIGN_OR_RETURN(const trace::DiffSide b, trace::LoadDiffSide(context.fs, address_b));
  const std::optional<trace::DiffPart> part = trace::ParseDiffPart(args.Get("--part"));
  const std::set<trace::DiffPart> parts =
      part.has_value() ? std::set<trace::DiffPart>{*part} : trace::AllDiffParts();
  KERF_ASSIGN_OR_RETURN(const trace::TraceDiff diff, trace::DiffSides(context.fs, a, b, parts));
  const auto lines = static_cast<size_t>(args.GetNumber("--context").value_or(3));
  if (args.Has("--json")) {
    context.out.Data(TraceDiffJson(diff, a, b, titles, lines));
  } else {
    RenderTraceDiff(diff, a, b, titles, lines, context.out);
  }
  return diff.Identical() ? kExitDone : kExitNegative;
}

}  // namespace

Verb TraceDiffVerb() {
  return {
      .name = "trace diff",
      .summary = "Compare two steps or two tasks: texts, verdicts and numbers",
      .details =
          "A and B are places in a trace: PATH:TASK:STEP for a step, PATH:TASK or PATH for a\n"
          "task; PATH is an operator's folder, or a run with one operator. Two steps show what\n"
          "changed in each text, in the verdict, and in the numbers of meta and profile. Two\n"
          "tasks are aligned by what their steps did; the first divergence is named. Exit 0\n"
          "when they are the same, 1 when they differ.",
      .positionals = {{.name = "A", .help = "the first place"},
                      {.name = "B", .help = "the second place"}},
      .flags = {{.name = "--part",
                 .value_name = "PART",
                 .help = "compare this alone",
                 .default_value = "all",
                 .choices = {"prompt", "result", "reasoning", "verdict", "log", "numbers", "all"}},
                {.name = "--context",
                 .value_name = "N",
                 .help = "unchanged lines around a change",
                 .default_value = "3",
                 .number = true},
                JsonFlag()},
      .examples = {{"kerf trace diff logs/relu:0:2 logs/relu:0:4 --part result",
                    "what the repair changed in the code"},
                   {"kerf trace diff logs/relu:0 logs/relu:1", "where two tasks part"}},
      .run = RunTraceDiff};
}

}  // namespace kerf::cli
