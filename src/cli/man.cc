#include "cli/build_info.h"
#include "cli/registry.h"
#include "cli/render/man_page.h"
#include "cli/render/output.h"

namespace kerf::cli {

Verb ManVerb() {
  return {.name = "man",
          .summary = "Print the manual page kerf(1)",
          .details = "",
          .positionals = {},
          .flags = {},
          .examples = {{"kerf man | man -l -", "read it"},
                       {"kerf man > /usr/local/share/man/man1/kerf.1", "install it"}},
          .run = [](const Args&, Context& context) -> Result<int> {
            context.out.Data(ManPage(AllVerbs(), GetBuildInfo().version));
            return kExitDone;
          }};
}

}  // namespace kerf::cli
