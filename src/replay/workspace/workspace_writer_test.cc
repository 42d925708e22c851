#include "replay/workspace/workspace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"
#include "replay/workspace/workspace_plans.h"

namespace kerf::workspace {
namespace {

using ::testing::HasSubstr;

TEST(WorkspaceWriter, WritesEveryFileAndThePayloads) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("d").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "d/args.bin", "..0123456789ab").ok());
  ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  plan.args.args = {TensorAt(3, "x", ArgType::kInt16, {2, 3}, ArgRole::kInput)};
  std::get<TensorArg>(plan.args.args[0].value).data = ArgData{"d/args.bin", 2, 12};
  std::get<TensorArg>(plan.args.args[0].value).strides = {4, 1};
  std::get<TensorArg>(plan.args.args[0].value).start_offset = 1;
  ASSERT_TRUE(WriteWorkspace(fs, plan, "out/ws").ok());
  EXPECT_EQ(*fs.ReadFile("out/ws/payload/slot_03.bin"), std::string("\0\0"
                                                                    "012345"
                                                                    "\0\0"
                                                                    "6789ab",
                                                                    16));
  for (const char* file : {"replay_kernel.cpp", "replay_launch.cpp", "replay_host.cpp",
                           "CMakeLists.txt", "run_collect.sh", "workspace.json"}) {
    EXPECT_TRUE(fs.ReadFile(std::string("out/ws/") + file).ok()) << file;
  }
  EXPECT_THAT(*fs.ReadFile("out/ws/replay_host.cpp"), HasSubstr("\"slot_03.bin\""));
}

TEST(WorkspaceWriter, WantsAFolderOfItsOwn) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("ws").ok());
  const ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  ASSERT_TRUE(WriteWorkspace(fs, plan, "ws").ok()) << "an empty one will do";
  EXPECT_THAT(WriteWorkspace(fs, plan, "ws").error().message, HasSubstr("ws is not empty"));
}

TEST(WorkspaceWriter, NothingIsWrittenWhenAPathIsRefused) {
  FakeFileSystem fs;
  ReplayPlan plan = PlanOf(KernelShape::kAic, Platform::kA2A3);
  plan.kernel.members[0].source = "/a\".cpp";
  EXPECT_FALSE(WriteWorkspace(fs, plan, "ws").ok());
  EXPECT_FALSE(fs.Stat("ws")->has_value());
}

TEST(WorkspaceWriter, NamesAreMadeOfPlainCharacters) {
  EXPECT_EQ(DefaultWorkspaceName("Case/1 $(x)", "../SF", 1763177371123456789),
            "insight_trace_Case_1___x__.._SF_20251115_032931");
  EXPECT_EQ(DefaultWorkspaceName("", "k", 0), "insight_trace_none_k_19700101_000000");
}

}  // namespace
}  // namespace kerf::workspace
