// ParseScene, which reads what the Python reader prints, and the choice of cases and kernels, on
// any bytes: no crash.
#include <cstdint>
#include <string>

#include "expect.h"
#include "replay/scene/scene_module.h"
#include "replay/scene/scene_select.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto scene = kerf::scene::ParseScene("f", {reinterpret_cast<const char*>(data), size});
  if (!scene.ok()) return 0;
  for (const kerf::SceneClass& one : scene->classes) {
    for (const kerf::SceneCase& scene_case : one.cases) {
      const auto choice =
          kerf::scene::SelectCase(*scene, scene_case.name, kerf::Platform::kA2A3, "");
      kerf::Expect(!choice.ok() || choice->scene_case != nullptr, "a choice is a case");
    }
    for (const kerf::SceneIncore& incore : one.incores) {
      const auto found =
          kerf::scene::SelectIncores(one, {.source = incore.source.empty() ? "x" : incore.source});
      kerf::Expect(!found.ok() || !found->empty(), "a choice is a kernel");
    }
  }
  return 0;
}
