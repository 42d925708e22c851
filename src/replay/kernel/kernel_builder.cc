#include "replay/kernel/kernel_builder.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "replay/kernel/kernel_scan.h"

namespace kerf::kernel {
namespace {

bool Contains(const std::string& path, const char* part) {
  return path.find(part) != std::string::npos;
}

// What was read, by path: a source that is listed for both kinds of cores is read once, so that all
// its members are of one text.
struct SourceFacts {
  std::string sha256;
  KernelFacts facts;
};
using Sources = std::map<std::string, SourceFacts>;

Result<KernelMember> ReadMember(FileSystem& fs, const SceneIncore& incore, Sources& sources) {
  KernelMember member{.func_id = incore.func_id,
                      .name = incore.name,
                      .source = incore.source,
                      .include_dirs = incore.include_dirs};
  if (incore.source.empty()) {
    return InvalidInput("kernel " + incore.name + " has no source that kerf could read");
  }
  if (sources.count(incore.source) == 0) {
    auto text = fs.ReadFile(incore.source);
    if (!text.ok()) return std::move(text).error().Within("kernel " + incore.name);
    sources[incore.source] = {Sha256Hex(*text), ScanKernel(*text)};
  }
  member.sha256 = sources[incore.source].sha256;
  member.facts = sources[incore.source].facts;
  if (!member.facts.has_entry) {
    return InvalidInput("Kernel does not look like kernel_entry(args): " + incore.source +
                        ": it needs kernel_entry with one parameter, a pointer to int64_t");
  }
  return member;
}

// nullopt: both, by the folder or by the guards.
Result<std::optional<CoreType>> CoreOf(const SceneIncore& incore, const KernelFacts& facts) {
  if (const auto core = ParseCoreType(incore.core_type)) return std::optional(*core);
  if (!incore.core_type.empty()) {
    return InvalidInput("Cannot classify kernel core type: '" + incore.core_type + "' of " +
                        incore.name + "; aic and aiv are known");
  }
  if (Contains(incore.source, "/kernels/aic/")) return std::optional(CoreType::kAic);
  if (Contains(incore.source, "/kernels/aiv/")) return std::optional(CoreType::kAiv);
  if (Contains(incore.source, "/kernels/mix/") || (facts.tests_cube && facts.tests_vec)) {
    return std::optional<CoreType>();
  }
  if (facts.tests_cube) return std::optional(CoreType::kAic);
  if (facts.tests_vec) return std::optional(CoreType::kAiv);
  return InvalidInput("Cannot classify kernel core type: '' of " + incore.source +
                      "; say it with --core-type aic, aiv or mix");
}

// The same source on the same kind of core runs once, whatever its func ids.
void AddMember(KernelMember member, CoreType core, std::vector<KernelMember>& members) {
  member.core = core;
  const bool there = std::any_of(members.begin(), members.end(), [&](const KernelMember& one) {
    return one.core == core && one.source == member.source;
  });
  if (!there) members.push_back(std::move(member));
}

Status CheckCluster(const std::vector<KernelMember>& members) {
  int64_t cubes = std::count_if(members.begin(), members.end(), [](const KernelMember& member) {
    return member.core == CoreType::kAic;
  });
  const int64_t vectors = static_cast<int64_t>(members.size()) - cubes;
  if (cubes <= 1 && vectors <= 2) return {};
  return InvalidInput("a cluster has one cube and two vector cores; this selection has " +
                      std::to_string(cubes) + " aic and " + std::to_string(vectors) +
                      " aiv sources");
}

}  // namespace

Result<ReplayKernel> BuildKernel(FileSystem& fs, const std::vector<SceneIncore>& chosen,
                                 const std::vector<SceneIncore>& all) {
  KERF_CHECK(!chosen.empty(), "a kernel needs at least one source");
  std::vector<SceneIncore> together = chosen;
  for (const SceneIncore& other : all) {
    const bool shared = std::any_of(chosen.begin(), chosen.end(), [&](const SceneIncore& one) {
      return one.source == other.source && one.core_type != other.core_type;
    });
    if (shared) together.push_back(other);
  }
  ReplayKernel kernel{.name = chosen[0].name};
  Sources sources;
  for (const SceneIncore& incore : together) {
    KERF_ASSIGN_OR_RETURN(const KernelMember member, ReadMember(fs, incore, sources));
    KERF_ASSIGN_OR_RETURN(const std::optional<CoreType> core, CoreOf(incore, member.facts));
    if (core.value_or(CoreType::kAic) == CoreType::kAic) {
      AddMember(member, CoreType::kAic, kernel.members);
    }
    if (core.value_or(CoreType::kAiv) == CoreType::kAiv) {
      AddMember(member, CoreType::kAiv, kernel.members);
    }
  }
  KERF_RETURN_IF_ERROR(CheckCluster(kernel.members));
  std::stable_sort(kernel.members.begin(), kernel.members.end(),
                   [](const KernelMember& a, const KernelMember& b) { return a.core < b.core; });
  const bool single = kernel.members.size() == 1;
  kernel.shape = !single                                    ? KernelShape::kMix
                 : kernel.members[0].core == CoreType::kAic ? KernelShape::kAic
                                                            : KernelShape::kAiv;
  return kernel;
}

}  // namespace kerf::kernel
