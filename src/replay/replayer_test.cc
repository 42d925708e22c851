#include "replay/replayer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "replay/args/arg_spec.h"

namespace kerf::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kScenes = kSource + "/test/data/scenes/";

class Replayer : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "kerf_plan_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
    return dir_ + "/" + name;
  }
  Result<ReplayPlan> Plan(const ReplayRequest& request) {
    return PlanReplay({.fs = *fs_, .python = "python3", .resources = kSource}, request);
  }
  std::string Refused(const ReplayRequest& request) {
    const auto plan = Plan(request);
    return plan.ok() ? "accepted" : plan.error().message;
  }
  static ReplayRequest Attention(const std::string& kernel) {
    return {.module = kScenes + "paged_attention/test_paged_attention.py",
            .scene_case = "CaseSmall1",
            .kernel = kernel};
  }
  std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  std::string dir_;
};

TEST_F(Replayer, ARecipeServesTheDocumentedExample) {
  const auto plan = Plan(Attention("SF"));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->kernel.shape, KernelShape::kAiv);
  EXPECT_EQ(plan->args_source, "recipe paged_attention.json, SF");
  ASSERT_EQ(plan->args.args.size(), 5U);
  EXPECT_EQ(DescribeTensor(*plan->args.args[1].tensor()), "BFLOAT16[16, 16]");
  EXPECT_EQ(plan->args.args[4].scalar()->bits, 0x3F800000U);
  EXPECT_EQ(plan->dispatches.size(), 1U);
}

TEST_F(Replayer, EveryKernelOfTheExampleResolves) {
  for (const char* kernel : {"QK", "SF", "PV", "UP"})
    EXPECT_EQ(Refused(Attention(kernel)), "accepted") << kernel;
}

TEST_F(Replayer, AMixIsReplayedTogether) {
  const auto plan = Plan({.module = kScenes + "spmd_paged_attention/test_spmd_paged_attention.py",
                          .scene_case = "Small",
                          .kernel = "PA_AIC"});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->kernel.shape, KernelShape::kMix);
  EXPECT_EQ(plan->dispatches[0].blocks, 24);
  ReplayRequest fewer{.module = plan->module, .scene_case = "Small", .kernel = "PA_AIC"};
  fewer.options.hw_block_num = 2;
  const auto two = Plan(fewer);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->dispatches[0].blocks, 2);
  EXPECT_EQ(two->args.Find(6)->tensor()->buffer_bytes(), 2U * 65536U) << "rings follow the grid";
}

TEST_F(Replayer, SceneArgumentsServeAKernelWithTheirLayout) {
  ReplayRequest request{
      .module = kScenes + "vector/test_vector.py", .scene_case = "default", .kernel = "add"};
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->args_source, "generate_args of TestVector");
  EXPECT_EQ(plan->args.args.size(), 4U);
  request.kernel = "double";
  EXPECT_THAT(Refused(request),
              HasSubstr("No built-in insight trace recipe for this test module; pass --arg-spec"));
}

TEST_F(Replayer, AnArgSpecComesFirstAndIsChecked) {
  ReplayRequest request = Attention("SF");
  request.arg_spec =
      Write("s.json", R"([{"kind":"scalar","index":4,"name":"s","dtype":"FLOAT32","value":1.0}])");
  EXPECT_THAT(Refused(request),
              HasSubstr("Argument recipe for SF does not cover args indices: [0, 1, 2, 3]"));
  request.arg_spec = dir_ + "/none.json";
  EXPECT_THAT(Refused(request), HasSubstr("none.json"));
}

TEST_F(Replayer, ArgumentsSurviveTheWayThroughAnArgSpec) {
  for (const char* kernel : {"QK", "SF", "PV", "UP"}) {
    const auto plan = Plan(Attention(kernel));
    ASSERT_TRUE(plan.ok());
    ReplayRequest again = Attention(kernel);
    again.arg_spec = Write("again.json", args::WriteArgSpec(plan->args));
    const auto second = Plan(again);
    ASSERT_TRUE(second.ok()) << second.error().message;
    ASSERT_EQ(second->args.args.size(), plan->args.args.size());
    for (size_t i = 0; i < plan->args.args.size(); ++i)
      EXPECT_TRUE(second->args.args[i].value == plan->args.args[i].value);
  }
}

TEST_F(Replayer, ASourceNeedsNoModule) {
  const std::string spec =
      Write("s.json", R"([{"kind":"tensor","index":0,"name":"a","dtype":"INT8","shape":[4]},
     {"kind":"tensor","index":1,"name":"b","dtype":"INT8","shape":[4]},{"kind":"tensor","index":2,"name":"c","dtype":"INT8","shape":[4]}])");
  ReplayRequest request{.kernel_source = kScenes + "vector/kernels/aiv/add.cpp", .arg_spec = spec};
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->kernel.name, "add");
  request.core_type = "mix";
  EXPECT_EQ(Plan(request)->kernel.shape, KernelShape::kMix);
  request.arg_spec = "";
  EXPECT_THAT(Refused(request), HasSubstr("needs --arg-spec or --dump-dir"));
}

const char* const kDump = R"({"dispatches":[{"dispatch_id":7,"func_id":1,"args":[
  {"arg_index":0,"kind":"tensor","role":"input","dtype":"FLOAT32","shape":[16,16]},
  {"arg_index":1,"kind":"tensor","role":"output","dtype":"BFLOAT16","shape":[16,16]},
  {"arg_index":2,"kind":"tensor","role":"output","dtype":"FLOAT32","shape":[16]},
  {"arg_index":3,"kind":"tensor","role":"output","dtype":"FLOAT32","shape":[16]},
  {"arg_index":4,"kind":"scalar","dtype":"FLOAT32","value":0.0883883},
  {"arg_index":48,"kind":"scalar","dtype":"UINT64","value":1},{"arg_index":49,"kind":"scalar","dtype":"UINT64","value":2}]}]})";

TEST_F(Replayer, ADumpGivesTheArguments) {
  Write("kernel_args_dump.json", kDump);
  ReplayRequest request{.module = kScenes + "paged_attention/test_paged_attention.py",
                        .scene_case = "CaseSmall1",
                        .func_ids = {1},
                        .dump_dir = dir_,
                        .dispatch_id = 7};
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->args.args.size(), 5U);
  EXPECT_THAT(plan->args.notes, ElementsAre(HasSubstr("printed with 6 digits")));
  EXPECT_EQ(plan->dispatch, "dispatch 7 (func {1})");
  request.set_args = {"4=0.08838834764831845"};
  const auto exact = Plan(request);
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(exact->args.args[4].scalar()->bits, 0x3DB504F3U);
  EXPECT_TRUE(exact->args.notes.empty());
  request.dispatch_id = 8;
  EXPECT_THAT(Refused(request), HasSubstr("no dispatch has func {1} and dispatch_id 8"));
}

TEST_F(Replayer, PayloadsAreAskedForAndRefused) {
  std::filesystem::create_directories(dir_ + "/args_dump");
  const std::string record =
      R"("task_id":"0x1","func_id":[0],"kind":"tensor","dtype":"INT8","shape":[4],"stage":"before_dispatch")";
  Write(
      "args_dump/args_dump.json",
      R"({"bin_file":"args.bin","args":[{"arg_index":0,"role":"input","bin_offset":0,"bin_size":4,)" +
          record + R"(},{"arg_index":1,"role":"input",)" + record +
          R"(},{"arg_index":2,"role":"output",)" + record + "}]}");
  Write("args_dump/args.bin", "abcd");
  ReplayRequest request{.module = kScenes + "vector/test_vector.py",
                        .scene_case = "default",
                        .func_ids = {0},
                        .dump_dir = dir_};
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->args.args[0].tensor()->data.has_value());
  request.restore_args = {0};
  EXPECT_EQ(Refused(request), "accepted");
  request.restore_args = {1};
  EXPECT_THAT(Refused(request), HasSubstr("--restore-arg 1: the dump holds no payload"));
  request.restore_args = {2};
  EXPECT_THAT(Refused(request), HasSubstr("it is an output"));
  request.restore_args = {9};
  EXPECT_THAT(Refused(request), HasSubstr("no such slot"));
  request.restore_args = {0};
  request.set_args = {"0=1"};
  EXPECT_THAT(Refused(request), HasSubstr("--set-arg sets the same slot"));
}

TEST_F(Replayer, RefusesWhatDoesNotGoTogether) {
  const std::string module = kScenes + "paged_attention/test_paged_attention.py";
  EXPECT_THAT(Refused({.kernel = "SF"}),
              HasSubstr("simpler backend requires test_module and --case"));
  EXPECT_THAT(Refused({.module = module, .kernel = "SF"}),
              HasSubstr("simpler backend requires test_module and --case"));
  EXPECT_THAT(Refused({.module = module, .scene_case = "CaseSmall1"}),
              HasSubstr("Exactly one of --kernel, --func-id, or --kernel-source"));
  EXPECT_THAT(
      Refused({.module = module, .scene_case = "CaseSmall1", .kernel = "SF", .dump_dir = dir_}),
      HasSubstr("--dump-dir needs --func-id"));
  EXPECT_THAT(
      Refused({.module = module, .scene_case = "CaseSmall1", .kernel = "SF", .dispatch_id = 1}),
      HasSubstr("choose from a dump"));
  EXPECT_THAT(Refused({.module = module,
                       .scene_case = "CaseSmall1",
                       .kernel = "SF",
                       .arg_spec = "a",
                       .dump_dir = "b"}),
              HasSubstr("give one of them"));
  ReplayRequest request = Attention("SF");
  request.options.timeout_minutes = 7200;
  EXPECT_THAT(Refused(request), HasSubstr("in minutes, 1 to 2880"));
  request = Attention("SF");
  request.options.launch_count = 0;
  EXPECT_THAT(Refused(request), HasSubstr("--launch-count takes 1 to 5000"));
  request = Attention("SF");
  request.options.platform = Platform::kA5;
  EXPECT_THAT(Refused(request), HasSubstr("Platform family 'a5' does not match case platforms"));
}

TEST_F(Replayer, ReadsSetsOfIds) {
  EXPECT_THAT(*ParseFuncIds("2,0,1"), ElementsAre(0, 1, 2));
  for (const char* text : {"", "a", "1,", ",1", "1;2", "-1", "1 2"})
    EXPECT_FALSE(ParseFuncIds(text).ok()) << text;
}

}  // namespace
}  // namespace kerf::replay
