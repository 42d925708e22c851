#include "replay/scene/scene_select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::scene {
namespace {

using ::testing::HasSubstr;

Scene TwoClasses() {
  SceneClass attention{.name = "TestA", .level = 2, .runtime = "tensormap_and_ringbuffer"};
  attention.cases = {{.name = "Small", .platforms = {"a2a3sim", "a2a3"}},
                     {.name = "Big", .platforms = {"a5"}}};
  attention.incores = {
      {.func_id = 0, .name = "QK", .source = "/m/kernels/aic/k.cpp", .core_type = "aic"},
      {.func_id = 1, .name = "SF", .source = "/m/kernels/aiv/k.cpp", .core_type = "aiv"},
      {.func_id = 2, .name = "SF2", .source = "/m/kernels/aiv/k.cpp", .core_type = "aiv"}};
  SceneClass other{.name = "TestB", .level = 3};
  other.cases = {{.name = "Small"}};
  return {.module = "/m/test.py", .classes = {attention, other}};
}

std::string Case(const Scene& scene, const std::string& name, Platform platform = Platform::kA2A3,
                 const std::string& runtime = "") {
  const auto choice = SelectCase(scene, name, platform, runtime);
  return choice.ok() ? choice->scene_class->name + "/" + choice->scene_case->name
                     : choice.error().message;
}

TEST(SceneSelect, FindsTheCase) {
  const Scene scene = TwoClasses();
  EXPECT_EQ(Case(scene, "Small"), "TestA/Small") << "level 2 first";
  EXPECT_EQ(Case(scene, "TestB::Small"), "TestB/Small");
  EXPECT_EQ(Case(scene, "Big", Platform::kA5), "TestA/Big");
  EXPECT_EQ(Case(scene, "Tiny"), "Unknown case 'Tiny'; available cases: Small, Big");
  EXPECT_THAT(Case(scene, "TestC::Small"), HasSubstr("no class TestC; there are TestA, TestB"));
  EXPECT_THAT(Case(scene, "Small", Platform::kA5),
              HasSubstr("Platform family 'a5' does not match case platforms [a2a3sim, a2a3]"));
  EXPECT_THAT(Case(scene, "Small", Platform::kA2A3, "host_build_graph"),
              HasSubstr("--runtime host_build_graph: TestA runs on tensormap_and_ringbuffer"));
}

TEST(SceneSelect, RefusesToGuessBetweenClasses) {
  Scene scene = TwoClasses();
  scene.classes[1].level = 2;
  EXPECT_THAT(Case(scene, "Small"),
              HasSubstr("Multiple SceneTestCase classes found: TestA, TestB"));
  EXPECT_EQ(Case({.module = "/m.py"}, "Small"), "/m.py: No level-2 SceneTestCase class found");
}

TEST(SceneSelect, SaysWhatWasNotRead) {
  Scene scene = TwoClasses();
  scene.classes[0].cases.clear();
  scene.classes[0].problems = {{"/m/test.py", 7, "calls make_cases(), which kerf does not follow"}};
  EXPECT_THAT(Case(scene, "TestA::Small"), HasSubstr("/m/test.py:7: calls make_cases()"));
}

std::string Kernel(const KernelSelector& selector) {
  const Scene scene = TwoClasses();
  const auto found = SelectIncores(scene.classes[0], selector);
  if (!found.ok()) return found.error().message;
  std::string names;
  for (const SceneIncore& incore : *found) names += incore.name + " ";
  return names;
}

TEST(SceneSelect, FindsTheKernel) {
  EXPECT_EQ(Kernel({.name = "SF"}), "SF ");
  EXPECT_EQ(Kernel({.func_ids = {0}}), "QK ");
  EXPECT_EQ(Kernel({.func_ids = {0, 1}}), "QK SF ");
  EXPECT_EQ(Kernel({.source = "/m/kernels/aiv/k.cpp"}), "SF ");
  EXPECT_EQ(Kernel({.source = "aic/k.cpp"}), "QK ");
  EXPECT_EQ(Kernel({.source = "./kernels/aic/k.cpp"}), "QK ");
}

TEST(SceneSelect, RefusesAmbiguityAndMisses) {
  EXPECT_THAT(Kernel({.source = "k.cpp"}),
              HasSubstr("matches several: /m/kernels/aic/k.cpp, /m/kernels/aiv/k.cpp"));
  EXPECT_THAT(Kernel({.source = "iv/k.cpp"}), HasSubstr("did not match"))
      << "whole parts of the path only";
  EXPECT_EQ(Kernel({.name = "PV"}),
            "Kernel selector did not match any CALLABLE['incores'] entry of TestA; there are QK "
            "(func_id 0), SF "
            "(func_id 1), SF2 (func_id 2)");
  EXPECT_THAT(Kernel({.func_ids = {0, 9}}), HasSubstr("did not match"));
  Scene scene = TwoClasses();
  std::vector<SceneIncore>& incores = scene.classes[0].incores;
  incores.push_back(incores[0]);
  EXPECT_TRUE(SelectIncores(scene.classes[0], {.func_ids = {0}}).ok()) << "the same one, twice";
  incores.back().source = "/m/other.cpp";
  EXPECT_THAT(SelectIncores(scene.classes[0], {.func_ids = {0}}).error().message,
              HasSubstr("--func-id 0 matches several: /m/kernels/aic/k.cpp, /m/other.cpp"));
  const char* const kOne = "Exactly one of --kernel, --func-id, or --kernel-source is required";
  EXPECT_EQ(Kernel({}), kOne);
  EXPECT_EQ(Kernel({.name = "SF", .func_ids = {1}}), kOne);
}

}  // namespace
}  // namespace kerf::scene
