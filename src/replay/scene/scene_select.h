// Which class, which case, which kernels. Never guesses between two.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/replay_kernel.h"
#include "artifact/scene.h"

namespace kerf::scene {

struct SceneChoice {
  const SceneClass* scene_class = nullptr;
  const SceneCase* scene_case = nullptr;
};

// `name` is "Case" or "Class::Case". Level-2 classes are taken before others. The case must have a
// platform of the family, and the runtime, when given, must be the class's.
Result<SceneChoice> SelectCase(const Scene& scene, const std::string& name, Platform platform,
                               const std::string& runtime);

struct KernelSelector {
  std::string name;
  std::set<int64_t> func_ids;
  std::string source;
};

// "Exactly one of …" unless exactly one is given.
Status CheckSelector(const KernelSelector& selector);

// The entries that match: one by name or source, all of a set of func ids.
Result<std::vector<SceneIncore>> SelectIncores(const SceneClass& scene_class,
                                               const KernelSelector& selector);

}  // namespace kerf::scene
