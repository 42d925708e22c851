#include "artifact/replay_kernel.h"

#include <algorithm>

namespace kerf {

const char* PlatformName(Platform platform) { return platform == Platform::kA5 ? "a5" : "a2a3"; }

std::optional<Platform> ParsePlatform(std::string_view name) {
  if (name == "a2a3") return Platform::kA2A3;
  if (name == "a5") return Platform::kA5;
  return std::nullopt;
}

const char* CoreTypeName(CoreType core) { return core == CoreType::kAic ? "aic" : "aiv"; }

std::optional<CoreType> ParseCoreType(std::string_view name) {
  if (name == "aic") return CoreType::kAic;
  if (name == "aiv") return CoreType::kAiv;
  return std::nullopt;
}

const char* KernelShapeName(KernelShape shape) {
  switch (shape) {
    case KernelShape::kAic:
      return "aic";
    case KernelShape::kAiv:
      return "aiv";
    case KernelShape::kMix:
      break;
  }
  return "mix";
}

std::set<int> ReplayKernel::slots_read() const {
  std::set<int> slots;
  for (const KernelMember& member : members) {
    slots.insert(member.facts.slots.begin(), member.facts.slots.end());
  }
  return slots;
}

bool ReplayKernel::computed_slots() const {
  return std::any_of(members.begin(), members.end(),
                     [](const KernelMember& member) { return member.facts.computed_slots; });
}

bool ReplayKernel::needs_context() const {
  return std::any_of(members.begin(), members.end(),
                     [](const KernelMember& member) { return member.facts.needs_context; });
}

std::set<int64_t> ReplayKernel::func_ids() const {
  std::set<int64_t> ids;
  for (const KernelMember& member : members) {
    if (member.func_id) ids.insert(*member.func_id);
  }
  return ids;
}

}  // namespace kerf
