#include "loop/verify/build_report.h"

#include "base/file_system.h"
#include "loop/verify/elf_symbols.h"

namespace kerf::verify {

Result<bool> AcceptBuild(const NativeBuild& build, bool torch, Verdict& verdict) {
  verdict.build = {build.toolchain.version, build.flags, build.id, build.cached,
                   static_cast<double>(build.wall.count()) / 1e6};
  if (!build.ok) {
    verdict.Blame(*ParseVerdictStatus(build.status), build.reason,
                  build.log.substr(0, build.log.find('\n')));
    verdict.log = build.log;
    return false;
  }
  KERF_ASSIGN_OR_RETURN(const std::string bytes, MakePosixFileSystem()->ReadFile(build.library));
  KERF_ASSIGN_OR_RETURN(const ElfSymbols symbols, ReadElfSymbols(bytes));
  if (const auto forbidden = FindForbiddenUse(symbols, torch)) {
    verdict.Blame(VerdictStatus::kCheat, forbidden->reason, forbidden->text);
    verdict.log = forbidden->text + "\n";
    return false;
  }
  return true;
}

}  // namespace kerf::verify
