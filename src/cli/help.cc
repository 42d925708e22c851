#include "cli/render/help.h"
#include "cli/registry.h"
#include "cli/render/output.h"

namespace kerf::cli {
namespace {

Result<int> RunHelp(const Args& args, Context& context) {
  const std::vector<Verb> verbs = AllVerbs();
  const std::vector<std::string>& words = args.Positionals();
  if (words.empty()) {
    context.out.Data(OverviewHelp(verbs, context.out));
    return kExitDone;
  }
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  if (const Verb* verb = FindVerb(verbs, name)) {
    context.out.Data(VerbHelp(*verb, context.out));
    return kExitDone;
  }
  const std::vector<Verb> group = VerbsOfGroup(verbs, name);
  if (group.empty()) return UnknownVerb(verbs, words);
  context.out.Data(GroupHelp(name, group, context.out));
  return kExitDone;
}

}  // namespace

Verb HelpVerb() {
  return {.name = "help",
          .summary = "Explain kerf, a group of verbs or one verb",
          .details = "'kerf VERB --help' says the same as 'kerf help VERB'.",
          .positionals = {{.name = "VERB",
                           .help = "What to explain, in one or two words",
                           .required = false,
                           .repeated = true}},
          .flags = {},
          .examples = {{"kerf help version", "usage and flags of one verb"}},
          .run = RunHelp};
}

}  // namespace kerf::cli
