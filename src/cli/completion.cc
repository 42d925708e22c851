#include "cli/render/completion.h"
#include "cli/registry.h"
#include "cli/render/output.h"

namespace kerf::cli {

Verb CompletionVerb() {
  return {.name = "completion",
          .summary = "Print a script that completes kerf's verbs and flags in a shell",
          .details = "",
          .positionals = {{.name = "SHELL", .help = "Whose script", .choices = {"bash", "zsh"}}},
          .flags = {},
          .examples = {{"source <(kerf completion bash)", "try it in this shell"},
                       {"kerf completion zsh > ~/.zfunc/_kerf", "install it for zsh"}},
          .run = [](const Args& args, Context& context) -> Result<int> {
            const std::vector<Verb> verbs = AllVerbs();
            context.out.Data(args.Positional(0) == "bash" ? BashCompletion(verbs)
                                                          : ZshCompletion(verbs));
            return kExitDone;
          }};
}

}  // namespace kerf::cli
