// Plans for tests: one for each kernel shape.
#pragma once

#include <string>

#include "artifact/workspace.h"

namespace kerf::workspace {

inline KernelArg TensorAt(int slot, const std::string& name, ArgType type,
                          std::vector<int64_t> shape, ArgRole role) {
  TensorArg tensor{.type = type, .role = role, .shape = shape, .strides = ContiguousStrides(shape)};
  return {.slot = slot,
          .name = name,
          .origin = "spec.json: args[" + std::to_string(slot) + "]",
          .value = tensor};
}

inline KernelArg ScalarAt(int slot, const std::string& name, ArgType type, uint64_t bits) {
  return {.slot = slot,
          .name = name,
          .origin = "spec.json: args[" + std::to_string(slot) + "]",
          .value = ScalarArg{type, bits}};
}

inline KernelMember MemberOn(CoreType core, const std::string& source, KernelFacts facts) {
  facts.has_entry = true;
  return {.core = core,
          .func_id = core == CoreType::kAic ? 0 : 1,
          .name = CoreTypeName(core),
          .source = source,
          .sha256 = std::string(64, '0'),
          .facts = facts};
}

inline ReplayPlan PlanOf(KernelShape shape, Platform platform) {
  ReplayPlan plan{.args_source = "arg spec spec.json",
                  .module = "/scenes/test_it.py",
                  .scene_case = "Case\"1\""};
  plan.options.platform = platform;
  plan.kernel = {.name = "K'$(x)\"", .shape = shape};
  const KernelFacts reads{.slots = {0, 1, 4}};
  if (shape != KernelShape::kAiv) {
    plan.kernel.members.push_back(MemberOn(CoreType::kAic, "/scenes/kernels/cube.cpp", reads));
  }
  if (shape != KernelShape::kAic) {
    plan.kernel.members.push_back(MemberOn(CoreType::kAiv, "/scenes/kernels/vector.cpp", reads));
  }
  plan.args.args = {TensorAt(0, "a", ArgType::kFloat32, {16, 16}, ArgRole::kInput),
                    TensorAt(1, "b\n*/ x", ArgType::kBFloat16, {8, 32}, ArgRole::kOutput),
                    ScalarAt(4, "scale", ArgType::kFloat32, 0x3E000000),
                    ScalarAt(5, "most", ArgType::kUInt64, UINT64_MAX)};
  plan.dispatches = {{1, {}}};
  if (shape == KernelShape::kMix) plan.dispatches = {{2, {{4, 0x40000000}}}, {1, {}}};
  return plan;
}

}  // namespace kerf::workspace
