#include "dataset/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dataset/dataset_testing.h"

namespace kerf::dataset {
namespace {

using Json = nlohmann::json;

MappedFile Open(const std::string& path) {
  auto file = MappedFile::Open(path);
  EXPECT_TRUE(file.ok());
  return *std::move(file);
}

TEST(Convert, TritonBenchThereAndBack) {
  const TestDir dir;
  const Json original = {{{"instruction", "i"},
                          {"input", ""},
                          {"output", "import triton\n\"q\""},
                          {"file", "a.py"},
                          {"difficulty", 3}},
                         {{"instruction", "j"}, {"output", "x"}, {"file", "b.py"}}};
  const auto there = FromTritonBench(Open(dir.Write("t.json", original.dump(2))));
  ASSERT_TRUE(there.ok());
  EXPECT_TRUE(there->lost.empty());
  EXPECT_EQ(Json::parse(there->jsonl.substr(0, there->jsonl.find('\n')))["label"],
            original[0]["output"]);
  const MappedFile jsonl = Open(dir.Write("x_0.jsonl", there->jsonl));
  const auto catalog = Catalog::Read(jsonl, nullptr, {});
  const Exported back = ToTritonBench(*catalog, jsonl);
  EXPECT_TRUE(back.lost.empty());
  EXPECT_EQ(Json::parse(back.text), original);
}

TEST(Convert, ListsWhatTritonBenchCannotHold) {
  const TestDir dir;
  const MappedFile jsonl = Open(
      dir.Write("x_0.jsonl",
                R"({"filename":"a.py","label":"l","predict":"p","test_code":"t","speedup":NaN})"));
  const MappedFile mem = Open(dir.Write("x_mem_0.json", R"({"a.py":{"pass_call":false}})"));
  const auto catalog = Catalog::Read(jsonl, &mem, {});
  const Exported out = ToTritonBench(*catalog, jsonl);
  EXPECT_EQ(out.lost.size(), 4U);
  EXPECT_EQ(Json::parse(out.text), (Json{{{"file", "a.py"}, {"output", "l"}}}));
}

TEST(Convert, KernelBenchThereAndBack) {
  const TestDir dir;
  const Json original = {{"1",
                          {{"sample_id", 0},
                           {"compiled", true},
                           {"correctness", true},
                           {"runtime", 1.5},
                           {"metadata", {{"hardware", "h"}}}}},
                         {"2",
                          {{{"compiled", false},
                            {"correctness", false},
                            {"runtime", -1.0},
                            {"metadata", {{"compilation_error", "no such thing"}}}}}}};
  const auto there = FromKernelBench(Open(dir.Write("k.json", original.dump())));
  ASSERT_TRUE(there.ok());
  const Json mem_json = Json::parse(there->mem);
  EXPECT_EQ(mem_json["1.py"]["pass_perf"], true);
  EXPECT_EQ(mem_json["2.py"]["pass_call"], false);
  EXPECT_EQ(mem_json["2.py"]["call_err_msg"], "compilation_error: no such thing");
  const MappedFile jsonl = Open(dir.Write("x_0.jsonl", there->jsonl));
  const MappedFile mem = Open(dir.Write("x_mem_0.json", there->mem));
  const auto catalog = Catalog::Read(jsonl, &mem, {});
  EXPECT_EQ(Json::parse(ToKernelBench(*catalog, jsonl, &mem).text), original);
}

TEST(Convert, TraceThereAndBack) {
  const TestDir dir;
  const Json line = {{"filename", "a.py"},
                     {"instruction", "do"},
                     {"label", "l"},
                     {"predict", "code\n"},
                     {"extra", {1, 2}}};
  const Json record = {
      {"call_err_msg", "None"},    {"exe_err_msg", "boom"},
      {"call_candidate", "code2"}, {"perf_candidates", {{"code3", 1.5, 0.0, "r", nullptr}}},
      {"pass_call", true},         {"pass_exe", false},
      {"pass_perf", false}};
  const MappedFile jsonl = Open(dir.Write("x_0.jsonl", line.dump()));
  const MappedFile mem = Open(dir.Write("x_mem_0.json", Json{{"a.py", record}}.dump()));
  const auto catalog = Catalog::Read(jsonl, &mem, {});
  const auto fs = MakePosixFileSystem();
  const auto clock = MakeSystemClock();
  const auto ids = MakeRandomIds();
  const auto there = ToTrace(*catalog, jsonl, &mem, dir.path() + "/logs", {*fs, *clock, *ids});
  ASSERT_TRUE(there.ok()) << there.error().message;
  const auto back = FromTrace(*fs, dir.path() + "/logs");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_TRUE(back->lost.empty());
  EXPECT_EQ(Json::parse(back->jsonl), line);
  EXPECT_EQ(Json::parse(back->mem), (Json{{"a.py", record}}));
}

}  // namespace
}  // namespace kerf::dataset
