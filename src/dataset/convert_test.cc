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

TEST(Convert, RefusesWhatIsNoTritonBenchFile) {
  const TestDir dir;
  const auto mem = FromTritonBench(Open(dir.Write("m.json", R"({"a.py":{"pass_call":false}})")));
  ASSERT_FALSE(mem.ok());
  EXPECT_NE(mem.error().message.find("no record of TritonBench in"), std::string::npos);
  const auto half = FromTritonBench(Open(dir.Write("h.json", R"([{"x":1},{"output":"o"}])")));
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(half->cases, 1U);
  EXPECT_EQ(half->lost.at("records without instruction, output or predict"), 1U);
}

TEST(Convert, WritesJsonWhateverTheRecordHolds) {
  const TestDir dir;
  const MappedFile jsonl = Open(
      dir.Write("x_0.jsonl", R"({"filename":"a.py","label":"l","odd":[1,NaN],"even":[1, 2.0]})"));
  const auto catalog = Catalog::Read(jsonl, nullptr, {});
  const Exported out = ToTritonBench(*catalog, jsonl);
  const Json written = Json::parse(out.text);
  EXPECT_EQ(written[0]["odd"], "[1,NaN]");
  EXPECT_EQ(written[0]["even"], (Json{1, 2.0}));
  EXPECT_EQ(out.lost.at("values that are no JSON (became texts)"), 1U);
}

TEST(Convert, KernelBenchKeepsNamesApartAndListsWhatIsLost) {
  const TestDir dir;
  const MappedFile jsonl = Open(dir.Write("x_0.jsonl", R"({"filename":"a"})"
                                                       "\n"
                                                       R"({"filename":"a.py"})"));
  const MappedFile mem = Open(dir.Write(
      "x_mem_0.json", R"({"a":{"pass_call":true,"pass_exe":true},"a.py":{"pass_call":false}})"));
  const auto catalog = Catalog::Read(jsonl, &mem, {});
  const Exported out = ToKernelBench(*catalog, jsonl, &mem);
  const Json written = Json::parse(out.text);
  EXPECT_EQ(written["a"]["compiled"], true);
  EXPECT_EQ(written["a.py"]["compiled"], false);
  EXPECT_EQ(out.lost.at("flags that are not known (became false)"), 1U);
  EXPECT_EQ(
      out.lost.at("the rest of the mem record: candidates, strategies, all but the telling line"),
      2U);
}

// What Python writes and JSON does not know comes back byte for byte.
TEST(Convert, TraceKeepsWhatIsNoJson) {
  const TestDir dir;
  const std::string line =
      R"({"filename": "", "instruction": "half \ud800 whole \ud83d\ude00", "speedup": NaN, "big": 123456789012345678901234567890, "one": 1.0})";
  const std::string record =
      R"({"pass_call": false, "perf_candidates": [["c", NaN, -Infinity, "r", null]], "x": 1e-07})";
  const MappedFile jsonl = Open(dir.Write("x_0.jsonl", line));
  const MappedFile mem = Open(dir.Write("x_mem_0.json", "{\"\": " + record + "}"));
  const auto catalog = Catalog::Read(jsonl, &mem, {});
  const auto fs = MakePosixFileSystem();
  const auto clock = MakeSystemClock();
  const auto ids = MakeRandomIds();
  const auto there = ToTrace(*catalog, jsonl, &mem, dir.path() + "/logs", {*fs, *clock, *ids});
  ASSERT_TRUE(there.ok()) << there.error().message;
  EXPECT_TRUE(there->lost.empty());
  const auto back = FromTrace(*fs, dir.path() + "/logs");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_TRUE(back->lost.empty());
  EXPECT_EQ(back->jsonl, line + "\n");
  EXPECT_EQ(back->mem, "{\"\": " + record + "}");
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
