// Every generated file for the three kernel shapes on both platforms, byte for byte, in
// test/golden/replay/<shape>_<platform>/. KERF_UPDATE_GOLDENS=1 rewrites them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/subprocess.h"
#include "replay/workspace/workspace_plans.h"
#include "replay/workspace/workspace_text.h"

namespace kerf::workspace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kGolden = std::string(KERF_SOURCE_DIR) + "/test/golden/replay/";

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Golden : public ::testing::TestWithParam<std::pair<KernelShape, Platform>> {};

TEST_P(Golden, EveryFileIsAsExpected) {
  const auto& [shape, platform] = GetParam();
  const ReplayPlan plan = PlanOf(shape, platform);
  auto files = WorkspaceTexts(plan);
  ASSERT_TRUE(files.ok()) << files.error().message;
  files->push_back({"workspace.json", WorkspaceManifest(plan, *files)});
  const std::string folder = kGolden + KernelShapeName(shape) + "_" + PlatformName(platform);
  for (const WorkspaceFile& file : *files) {
    const std::string path = folder + "/" + file.path;
    if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) {
      std::filesystem::create_directories(folder);
      std::ofstream(path, std::ios::binary) << file.bytes;
    }
    EXPECT_EQ(file.bytes, ReadAll(path)) << path;
  }
}

TEST_P(Golden, TheSourcesAreFormatted) {
  if (!FindProgram("clang-format-14", std::getenv("PATH")))
    GTEST_SKIP() << "no clang-format-14 in PATH";
  const auto& [shape, platform] = GetParam();
  const auto files = WorkspaceTexts(PlanOf(shape, platform));
  ASSERT_TRUE(files.ok());
  for (const WorkspaceFile& file : *files) {
    if (file.path.find(".cpp") == std::string::npos) continue;
    const auto outcome = RunProcess(
        {.argv = {"clang-format-14",
                  "--style={BasedOnStyle: Google, ColumnLimit: 100, SortIncludes: false}",
                  "--assume-filename=x.cc"},
         .input = file.bytes});
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->stdout_text, file.bytes) << file.path;
  }
}

INSTANTIATE_TEST_SUITE_P(Replay, Golden,
                         ::testing::Values(std::pair{KernelShape::kAic, Platform::kA2A3},
                                           std::pair{KernelShape::kAiv, Platform::kA2A3},
                                           std::pair{KernelShape::kMix, Platform::kA2A3},
                                           std::pair{KernelShape::kAic, Platform::kA5},
                                           std::pair{KernelShape::kAiv, Platform::kA5},
                                           std::pair{KernelShape::kMix, Platform::kA5}),
                         [](const auto& one) {
                           return std::string(KernelShapeName(one.param.first)) + "_" +
                                  PlatformName(one.param.second);
                         });

std::string AllText(const ReplayPlan& plan) {
  std::string text;
  const auto files = WorkspaceTexts(plan);
  if (!files.ok()) return files.error().message;
  for (const WorkspaceFile& file : *files) text += file.bytes;
  return text;
}

TEST(WorkspaceText, FreeNamesReachNoGeneratedCode) {
  ReplayPlan plan = PlanOf(KernelShape::kMix, Platform::kA2A3);
  const std::string evil = "evil\"; system(\"x\"); // $(touch x) `y` ${ENV} ]] ;";
  const std::string plain = AllText(plan);
  plan.kernel.name = evil;
  plan.scene_case = evil;
  plan.module = evil;
  plan.args_source = evil;
  plan.dump_file = evil;
  for (KernelArg& arg : plan.args.args) arg.name = arg.origin = evil;
  for (KernelMember& member : plan.kernel.members) member.name = evil;
  EXPECT_EQ(AllText(plan), plain);
  EXPECT_THAT(plain, Not(HasSubstr("evil")));
}

TEST(WorkspaceText, PathsThatAreMoreThanPathsAreRefused) {
  for (const char* path :
       {"/k/a\".cpp", "/k/a\\.cpp", "/k/a\n#include <x>.cpp", "/k/$(touch x).cpp", "/k/a;b.cpp",
        "/k/`x`.cpp", "/k/$<TARGET>.cpp", "/k/@TENSORS@.cpp", "/k/a\tb.cpp", "/k/$"}) {
    ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
    plan.kernel.members[0].source = path;
    EXPECT_THAT(AllText(plan), HasSubstr("would not read as part of a path")) << path;
    plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
    plan.kernel.members[0].include_dirs = {path};
    EXPECT_THAT(AllText(plan), HasSubstr("would not read as part of a path")) << path;
  }
  ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  plan.options.soc_version = "dav; rm -rf /";
  EXPECT_THAT(AllText(plan), HasSubstr("letters, digits"));
  plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  plan.kernel.members[0].source = "/k/$HOME/a.cpp";
  EXPECT_THAT(AllText(plan), HasSubstr("holds '$'"));
}

TEST(WorkspaceText, VariablesOfIncludeFoldersBecomeCMakes) {
  ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  plan.kernel.members[0].include_dirs = {"$ASCEND_HOME_PATH/include", "${X_Y}/z w", "/plain"};
  const std::string text = AllText(plan);
  EXPECT_THAT(
      text,
      HasSubstr("\n  \"$ENV{ASCEND_HOME_PATH}/include\"\n  \"$ENV{X_Y}/z w\"\n  \"/plain\")"));
}

TEST(WorkspaceText, DebugLinesAreKept) {
  ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  EXPECT_THAT(AllText(plan), HasSubstr("--cce-fatobj-link -s)"));
  plan.options.debug_line = true;
  EXPECT_THAT(AllText(plan), HasSubstr("--cce-fatobj-link)"));
  EXPECT_THAT(AllText(plan), HasSubstr("-g -DREGISTER_BASE"));
}

}  // namespace
}  // namespace kerf::workspace
