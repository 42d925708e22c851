#include "replay/scene/scene_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::scene {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kSource = KERF_SOURCE_DIR;

TEST(SceneModule, ReadsTheReadersJson) {
  const auto scene =
      ParseScene("s", R"({"module":"/m.py","classes":[{"name":"T","line":3,"level":2,"runtime":"r",
    "orchestration":{"source":"/o.cpp","signature":["IN","OUT"]},
    "incores":[{"func_id":1,"name":"K","source":"/k.cpp","core_type":"aiv","signature":["IN",null],"extra_include_dirs":["$X/i"]}],
    "cases":[{"name":"C","platforms":["a5"],"params":{"n":4}}],
    "problems":[{"file":"/m.py","line":9,"what":"w"}],
    "args":[{"kind":"tensor","name":"x","dtype":"FLOAT32","shape":[2],"fill":1.0},{"kind":"scalar","name":"s","ctype":"c_float","value":0.5}]}],
    "problems":[]})");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  const SceneClass& one = scene->classes.at(0);
  EXPECT_THAT(one.orchestration_signature, ElementsAre("IN", "OUT"));
  EXPECT_EQ(one.incores[0].func_id, 1);
  EXPECT_THAT(one.incores[0].include_dirs, ElementsAre("$X/i"));
  EXPECT_EQ(one.cases[0].params.members[0].first, "n");
  EXPECT_EQ(one.problems[0].ToString(), "/m.py:9: w");
  EXPECT_EQ(one.args->size(), 2U);
}

TEST(SceneModule, RefusesOtherDocuments) {
  for (const char* text : {"", "[]", "{}", R"({"module":1})", R"({"module":"m","classes":3})",
                           R"({"module":"m","classes":[{"incores":[{"name":3}]}]})"}) {
    EXPECT_FALSE(ParseScene("s", text).ok()) << text;
  }
}

class RealScenes : public ::testing::Test {
 protected:
  Result<Scene> Read(const std::string& name, const std::string& case_name = "") {
    const auto fs = MakePosixFileSystem();
    return ReadScene(*fs, {.module = kSource + "/test/data/scenes/" + name,
                           .case_name = case_name,
                           .python = "python3",
                           .script = kSource + "/python/kerf/scene_reader.py"});
  }
};

TEST_F(RealScenes, AreReadWithoutImportingThem) {
  const auto scene = Read("paged_attention/test_paged_attention.py", "CaseSmall1");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  ASSERT_EQ(scene->classes.size(), 1U);
  EXPECT_EQ(scene->classes[0].incores.size(), 4U);
  EXPECT_EQ(scene->classes[0].incores[1].name, "SF");
  EXPECT_EQ(scene->classes[0].problems.size(), 0U);
}

TEST_F(RealScenes, AMissingModuleIsNamed) {
  EXPECT_THAT(Read("none.py").error().message, HasSubstr("Cannot load test module"));
  EXPECT_THAT(Read("paged_attention").error().message, HasSubstr("is a folder"));
}

TEST_F(RealScenes, WhatIsNoPythonIsNamedWithItsLine) {
  EXPECT_THAT(Read("broken/test_broken.py").error().message,
              HasSubstr("test_broken.py:3: cannot be read as Python"));
}

}  // namespace
}  // namespace kerf::scene
