#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "replay/scene/scene_module.h"

namespace kerf::scene {
namespace {

using ::testing::HasSubstr;

class Import : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto level = sandbox::ChooseLevel(sandbox::Mode::kRequired, sandbox::Probe());
        !level.ok()) {
      GTEST_SKIP() << level.error().message;
    }
    if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
    std::string pattern = ::testing::TempDir() + "kerf_import_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    std::filesystem::permissions(dir_, std::filesystem::perms(0755));
    // A copy, because what the sandbox reads must be readable for everybody.
    std::filesystem::create_directories(dir_ + "/kerf/python");
    std::filesystem::copy(std::string(KERF_SOURCE_DIR) + "/python/kerf",
                          dir_ + "/kerf/python/kerf");
    std::filesystem::create_directories(dir_ + "/scene/tests");
  }
  void TearDown() override {
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }
  Result<Scene> Ran(const std::string& body) {
    std::ofstream(dir_ + "/scene/tests/test_it.py")
        << "from simpler_setup import SceneTestCase, scene_test\n"
        << body
        << "\n@scene_test(level=2, runtime='r')\nclass T(SceneTestCase):\n    CALLABLE = "
           "{'orchestration': {}, 'incores': "
           "[{'func_id': 0, 'name': NAME, 'source': '../k.cpp', 'core_type': 'aiv'}]}\n    CASES = "
           "[{'name': 'c'}]\n";
    std::ofstream(dir_ + "/scene/k.cpp") << "";
    return ImportScene({.module = dir_ + "/scene/tests/test_it.py",
                        .root = dir_ + "/scene",
                        .resources = dir_ + "/kerf"});
  }
  std::string dir_;
};

TEST_F(Import, RunsTheModuleAndMapsItsPaths) {
  const auto scene = Ran("import functools\nNAME = functools.partial(str.upper, 'k')()");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  ASSERT_EQ(scene->classes.size(), 1U);
  EXPECT_EQ(scene->classes[0].incores[0].name, "K");
  EXPECT_EQ(scene->classes[0].incores[0].source, dir_ + "/scene/k.cpp");
  EXPECT_EQ(scene->module, dir_ + "/scene/tests/test_it.py");
}

TEST_F(Import, KeepsTheModuleFromFilesAndNetwork) {
  const auto files = Ran("import os\nNAME = ' '.join(sorted(os.listdir('/')))");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->classes[0].incores[0].name.find("home"), std::string::npos)
      << files->classes[0].incores[0].name;
  const auto network =
      Ran("import socket\nNAME = 'none'\ntry:\n    socket.create_connection(('127.0.0.1', 9), "
          "1)\nexcept OSError as e:\n    NAME = 'refused'");
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->classes[0].incores[0].name, "refused");
  const auto write =
      Ran("NAME = 'x'\ntry:\n    open('/scene/mark', 'w')\n    NAME = 'written'\nexcept OSError:\n "
          "   NAME = 'kept'");
  ASSERT_TRUE(write.ok()) << write.error().message;
  EXPECT_EQ(write->classes[0].incores[0].name, "kept");
}

TEST_F(Import, AModuleThatFailsIsNamedWithItsLine) {
  const auto scene = Ran("raise RuntimeError('no device')");
  ASSERT_FALSE(scene.ok());
  EXPECT_THAT(scene.error().message, HasSubstr("tests/test_it.py:2: RuntimeError: no device"));
}

TEST_F(Import, TheModuleMustLieBelowItsRoot) {
  EXPECT_THAT(ImportScene({.module = "/etc/x.py", .root = dir_ + "/scene"}).error().message,
              HasSubstr("does not lie below"));
}

}  // namespace
}  // namespace kerf::scene
