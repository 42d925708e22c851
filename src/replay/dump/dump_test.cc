#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"
#include "replay/dump/dump_args.h"
#include "replay/dump/dump_reader.h"
#include "replay/dump/dump_select.h"

namespace kerf::dump {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kKernelArgs = R"({"dispatches":[
 {"dispatch_id":5,"func_id":2,"task_id":"0x0000000000000011","subtask_id":0,"core_type":"aiv","core_id":30,
  "block_idx":0,"stage":"before_dispatch","args":[
  {"arg_index":0,"kind":"tensor","role":"input","dtype":"FLOAT32","shape":[8,32],"strides":[48,1],"start_offset":16},
  {"arg_index":1,"kind":"tensor","role":"output","dtype":"BFLOAT16","shape":[8,32]},
  {"arg_index":2,"kind":"scalar","dtype":"FLOAT32","value":0.5},
  {"arg_index":48,"kind":"scalar","dtype":"UINT64","value":70368744177664},
  {"arg_index":49,"kind":"tensor","dtype":"UINT8","shape":[8]}]},
 {"dispatch_id":6,"func_id":2,"args":[]},
 {"dispatch_id":5,"func_id":3,"task_id":"0x12","args":[]}]})";

std::string Record(const std::string& ids, const std::string& rest) {
  return "{" + ids + R"(,"kind":"tensor","dtype":"FLOAT32","shape":[8],)" + rest + "}";
}
const std::string kTask7 = R"("task_id":"0x0000000100000007","func_id":[4])";

Dump Parsed(DumpFormat format, const std::string& text) {
  auto dump = ParseDump(format, "d.json", text);
  EXPECT_TRUE(dump.ok()) << (dump.ok() ? "" : dump.error().message);
  return dump.ok() ? *dump : Dump{};
}

KernelArgs Args(const Dump& dump, size_t index = 0, const DumpArgsOptions& options = {}) {
  auto args = ArgsFromDump(dump, dump.dispatches.at(index), options);
  EXPECT_TRUE(args.ok()) << (args.ok() ? "" : args.error().message);
  return args.ok() ? *args : KernelArgs{};
}

TEST(Dump, ReadsKernelArgsAndDropsTheContextSlots) {
  const Dump dump = Parsed(DumpFormat::kKernelArgs, kKernelArgs);
  ASSERT_EQ(dump.dispatches.size(), 3U);
  const KernelArgs args = Args(dump);
  ASSERT_EQ(args.args.size(), 3U);
  EXPECT_EQ(args.args[0].tensor()->buffer_bytes(), 1536U);
  EXPECT_EQ(args.args[1].tensor()->role, ArgRole::kOutput);
  EXPECT_EQ(args.args[2].scalar()->bits, 0x3F000000U);
  EXPECT_EQ(args.args[2].origin, "d.json: dispatches[0].args[2]");
}

TEST(Dump, ReadsAFlatListOfRecordsAndABareList) {
  const Dump flat = Parsed(
      DumpFormat::kKernelArgs,
      R"([{"dispatch_id":1,"func_id":2,"arg_index":0,"kind":"scalar","dtype":"INT32","value":-1},
                               {"dispatch_id":2,"func_id":2,"arg_index":0,"kind":"scalar","dtype":"INT32","value":4},
                               {"dispatch_id":1,"func_id":2,"arg_index":1,"kind":"scalar","dtype":"BOOL","value":true}])");
  ASSERT_EQ(flat.dispatches.size(), 2U);
  EXPECT_EQ(flat.dispatches[0].args.size(), 2U);
  EXPECT_EQ(Args(flat).args[0].scalar()->bits, 0xFFFFFFFFU);
  EXPECT_EQ(Parsed(DumpFormat::kKernelArgs, R"([{"dispatch_id":1,"func_id":2,"args":[]}])")
                .dispatches.size(),
            1U);
}

TEST(Dump, UnitesBothStagesBySlot) {
  const Dump dump = Parsed(
      DumpFormat::kArgs,
      R"({"bin_file":null,"args":[)" +
          Record(kTask7, R"("arg_index":0,"role":"input","stage":"before_dispatch")") + "," +
          Record(kTask7, R"("arg_index":2,"role":"inout","stage":"before_dispatch")") + "," +
          Record(kTask7, R"("arg_index":1,"role":"output","stage":"after_completion")") + "," +
          Record(kTask7, R"("arg_index":2,"role":"inout","stage":"after_completion")") + "]}");
  ASSERT_EQ(dump.dispatches.size(), 1U);
  const KernelArgs args = Args(dump);
  ASSERT_EQ(args.args.size(), 3U);
  EXPECT_EQ(args.args[1].tensor()->role, ArgRole::kOutput);
  EXPECT_THAT(args.args[2].origin, HasSubstr("args[1]")) << "before_dispatch is preferred";
}

TEST(Dump, ReadsOldTensorDumps) {
  const Dump dump = Parsed(DumpFormat::kTensor, R"({"bin_file":"tensor_dump.bin","tensors":[
    {"task_id":"0x11","arg_index":0,"role":"input","stage":"before_dispatch","dtype":"bfloat16","shape":[16,16],"bin_offset":0,"bin_size":512},
    {"task_id":"0x11","arg_index":1,"stage":"before_dispatch","shape":[],"bin_size":0},
    {"task_id":"0x11","arg_index":2,"role":"output","stage":"after_dispatch","dtype":"float32","shape":[16],"bin_offset":512,"bin_size":64}]})");
  EXPECT_THAT(
      ArgsFromDump(dump, dump.dispatches[0], {.payloads = false}).error().message,
      HasSubstr("slot 1: the dump holds no value for this scalar; give it with --set-arg 1=VALUE"));
  const KernelArgs args = Args(dump, 0, {.payloads = false, .given = {1}});
  EXPECT_EQ(args.args.size(), 3U);
  EXPECT_EQ(args.args[0].tensor()->type, ArgType::kBFloat16);
}

TEST(Dump, ReadsScalarsAsTheRuntimePrintsThem) {
  const auto bits = [](const std::string& members) {
    const Dump dump =
        Parsed(DumpFormat::kKernelArgs,
               R"([{"dispatch_id":1,"arg_index":0,"kind":"scalar",)" + members + "}]");
    return Args(dump).args.at(0).scalar()->bits;
  };
  EXPECT_EQ(bits(R"("dtype":"FLOAT32","value":null)"), 0x7FC00000U);
  EXPECT_EQ(bits(R"("dtype":"FLOAT32","value":"$Inf")"), 0x7F800000U);
  EXPECT_EQ(bits(R"("dtype":"FLOAT32","value":"-$Inf")"), 0xFF800000U);
  EXPECT_EQ(bits(R"("dtype":"FLOAT16","value":15360)"), 15360U) << "raw bits";
  EXPECT_EQ(bits(R"("dtype":"FLOAT64","value":4607182418800017408)"), 0x3FF0000000000000U);
  EXPECT_EQ(bits(R"("dtype":"UINT64","value":18446744073709551615)"), UINT64_MAX);
  EXPECT_EQ(bits(R"("dtype":"INT16","value":65535)"), 65535U);
}

TEST(Dump, WarnsOfLostDigitsUnlessTheValueIsGiven) {
  const Dump dump = Parsed(
      DumpFormat::kKernelArgs,
      R"([{"dispatch_id":1,"arg_index":3,"kind":"scalar","dtype":"FLOAT32","value":0.0883883}])");
  EXPECT_THAT(Args(dump).notes,
              ElementsAre(HasSubstr("slot 3: 0.0883883 was printed with 6 digits")));
  EXPECT_TRUE(Args(dump, 0, {.given = {3}}).notes.empty());
}

TEST(Dump, WarnsOfIntegerInputsWithoutData) {
  const Dump dump =
      Parsed(DumpFormat::kKernelArgs,
             R"([{"dispatch_id":1,"arg_index":3,"kind":"tensor","dtype":"INT32","shape":[8]}])");
  EXPECT_THAT(Args(dump).notes, ElementsAre(HasSubstr("integer input without data")));
}

TEST(Dump, PayloadsBecomeTheInputs) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("run/args_dump").ok());
  ASSERT_TRUE(
      WriteFileAtomic(
          fs, "run/args_dump/args_dump.json",
          R"({"bin_format":{"type":"logical_contiguous","byte_order":"little_endian"},"bin_file":"args.bin","args":[)" +
              Record(
                  kTask7,
                  R"("arg_index":0,"role":"input","stage":"before_dispatch","bin_offset":32,"bin_size":32)") +
              "," +
              Record(
                  kTask7,
                  R"("arg_index":1,"role":"output","stage":"after_completion","bin_offset":0,"bin_size":32)") +
              "]}")
          .ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "run/args_dump/args.bin", std::string(64, 'x')).ok());
  const auto dump = ReadDump(fs, "run");
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  const KernelArgs args = Args(*dump);
  EXPECT_EQ(args.args[0].tensor()->data, (ArgData{"run/args_dump/args.bin", 32, 32}));
  EXPECT_FALSE(args.args[1].tensor()->data.has_value()) << "an output's payload is no input";
  EXPECT_FALSE(Args(*dump, 0, {.payloads = false}).args[0].tensor()->data.has_value());
}

TEST(Dump, IsLookedForInTheKnownPlaces) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("run/tensor_dump").ok());
  EXPECT_THAT(ReadDump(fs, "run").error().message,
              HasSubstr("none of kernel_args_dump.json, args_dump.json, tensor_dump.json found"));
  ASSERT_TRUE(WriteFileAtomic(fs, "run/tensor_dump/kernel_args_dump.json", kKernelArgs).ok());
  EXPECT_EQ(ReadDump(fs, "run")->format, DumpFormat::kKernelArgs);
  EXPECT_EQ(ReadDump(fs, "run/tensor_dump")->dispatches.size(), 3U);
}

std::string Selected(const Dump& dump, const DispatchQuery& query) {
  const auto selected = SelectDispatch(dump, query);
  return selected.ok() ? selected->dispatch->ToString() : selected.error().message;
}

TEST(Select, KernelArgsMatchFunctionAndDispatch) {
  const Dump dump = Parsed(DumpFormat::kKernelArgs, kKernelArgs);
  EXPECT_EQ(Selected(dump, {.func_ids = {2}, .dispatch_id = 5}),
            "dispatch 5 (func {2}, task 0x0000000000000011)");
  EXPECT_EQ(Selected(dump, {.func_ids = {3}, .dispatch_id = 5}),
            "dispatch 5 (func {3}, task 0x0000000000000012)");
  EXPECT_EQ(Selected(dump, {.func_ids = {3}}), "dispatch 5 (func {3}, task 0x0000000000000012)");
  EXPECT_THAT(Selected(dump, {.func_ids = {3}, .dispatch_id = 6}),
              HasSubstr("no dispatch has func {3} and dispatch_id 6; there are: dispatch 5"));
  EXPECT_THAT(Selected(dump, {.func_ids = {9}, .dispatch_id = 5}),
              HasSubstr("no dispatch has func {9}"));
  EXPECT_THAT(Selected(dump, {.func_ids = {2}}),
              HasSubstr("2 dispatches match; name one with --dispatch-id"));
  EXPECT_EQ(Selected(dump, {.func_ids = {2}, .task_id = 0x11}),
            "dispatch 5 (func {2}, task 0x0000000000000011)");
  EXPECT_THAT(Selected(dump, {.func_ids = {2}, .dispatch_id = 5, .task_id = 0x12}),
              HasSubstr("give one of them"));
}

TEST(Select, ArgsDumpMatchesTheWholeSet) {
  std::string records;
  for (const auto& [task, ids] : {std::pair{"0x9", "[4]"}, {"0x3", "[4]"}, {"0x5", "[0,1,2]"}}) {
    records +=
        (records.empty() ? "" : ",") +
        Record(R"("task_id":")" + std::string(task) + R"(","func_id":)" + ids, R"("arg_index":0)");
  }
  const Dump dump = Parsed(DumpFormat::kArgs, R"({"args":[)" + records + "]}");
  const auto first = SelectDispatch(dump, {.func_ids = {4}});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->dispatch->task_id, 3U) << "the lowest task";
  EXPECT_THAT(first->notes, ElementsAre(HasSubstr("is the first of 2 that match")));
  EXPECT_EQ(Selected(dump, {.func_ids = {4}, .dispatch_id = 1}),
            "task 0x0000000000000009 (func {4})");
  EXPECT_THAT(Selected(dump, {.func_ids = {4}, .dispatch_id = 2}),
              HasSubstr("counts from 0 and 2 tasks match"));
  EXPECT_EQ(Selected(dump, {.func_ids = {0, 1, 2}}), "task 0x0000000000000005 (func {0, 1, 2})");
  EXPECT_THAT(Selected(dump, {.func_ids = {1}}), HasSubstr("runs only inside a mix"));
  EXPECT_THAT(Selected(dump, {.func_ids = {1}}), HasSubstr("pass --func-id 0,1,2"));
  EXPECT_THAT(Selected(dump, {.func_ids = {4}, .task_id = 0x5}),
              HasSubstr("no task 0x0000000000000005"));
}

TEST(Select, TensorDumpsAreNotGuessed) {
  const Dump dump = Parsed(DumpFormat::kTensor, R"({"tensors":[
     {"task_id":"0x1","arg_index":0,"shape":[4],"dtype":"int8"},{"task_id":"0x2","arg_index":0,"shape":[4],"dtype":"int8"}]})");
  EXPECT_THAT(Selected(dump, {.func_ids = {4}}), HasSubstr("2 dispatches match"));
  EXPECT_EQ(Selected(dump, {.func_ids = {4}, .dispatch_id = 1}), "task 0x0000000000000002");
  EXPECT_EQ(Selected(dump, {.func_ids = {4}, .task_id = 2}), "task 0x0000000000000002");
}

}  // namespace
}  // namespace kerf::dump
