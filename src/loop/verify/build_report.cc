#include "loop/verify/build_report.h"

#include "base/file_system.h"
#include "loop/verify/elf_symbols.h"

namespace kerf::verify {

Result<bool> AcceptBuild(const NativeBuild& build, bool torch, Verdict& verdict) {
  verdict.build = {build.toolchain.version, build.flags, build.id, build.cached,
                   static_cast<double>(build.wall.count()) / 1e6};
  if (!build.ok) {
    verdict.log = build.log;
    // The linker's own words name a file of kerf's.
    if (build.log.find("undefined reference to `kerf_kernel'") != std::string::npos) {
      verdict.log =
          "the source does not define the function kerf calls: KERF_KERNEL(call) { … } of "
          "<kerf/kernel.h>\n" +
          build.log;
    }
    verdict.Blame(*ParseVerdictStatus(build.status), build.reason,
                  verdict.log.substr(0, verdict.log.find('\n')));
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

SandboxReport DescribeSandbox(sandbox::Mode mode, const sandbox::SandboxLevel& available) {
  SandboxReport report;
  report.mode = sandbox::ModeName(mode);
  const auto level = sandbox::ChooseLevel(mode, available);
  if (!level.ok()) return report;
  report.level = level->Summary();
  for (size_t i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (level->has(layer)) continue;
    report.missing.push_back(std::string(sandbox::LayerName(layer)) + ": " +
                             (*level)[layer].detail);
  }
  return report;
}

}  // namespace kerf::verify
