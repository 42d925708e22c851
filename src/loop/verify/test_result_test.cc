#include "loop/verify/test_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace kerf::verify {
namespace {

using ::testing::HasSubstr;

// As python/kerf/test_result.py lays it out.
std::string File(const std::string& table, const std::vector<float>& numbers = {}) {
  std::string bytes = "kerftst1";
  const uint64_t length = table.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += table;
  bytes.append((64 - bytes.size() % 64) % 64, '\0');
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  return bytes;
}

TestResult Parsed(const std::string& table, const std::vector<float>& numbers = {}) {
  Result<TestResult> result = ParseTestResult(File(table, numbers));
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? *std::move(result) : TestResult();
}

std::string Error(std::string bytes) {
  const Result<TestResult> result = ParseTestResult(std::move(bytes));
  return result.ok() ? "" : result.error().message;
}

constexpr char kOne[] =
    R"({"launched":[["float32",[4]],["nothing",[1]]],"entries":[{"name":"r","text":"dict of 1"},
        {"name":"r['a']","dtype":"float32","shape":[4],"offset":0}]})";

TEST(TestResult, ReadsATableAndItsTensors) {
  const TestResult result = Parsed(kOne, {1, 2, 3, 4});
  ASSERT_EQ(result.entries.size(), 2U);
  EXPECT_EQ(result.entries[0].text, "dict of 1");
  EXPECT_FALSE(result.entries[0].tensor);
  EXPECT_EQ(result.entries[1].spec.ToString(), "float32[4]");
  float third = 0;
  std::memcpy(&third, result.bytes.data() + result.entries[1].offset + 8, sizeof third);
  EXPECT_EQ(third, 3);
  ASSERT_EQ(result.launched.size(), 1U);
  EXPECT_FALSE(result.empty());
}

TEST(TestResult, KnowsATestThatLeavesNone) {
  EXPECT_TRUE(Parsed(R"({"entries":[{"name":"result_gold","text":"NoneType None"}]})").empty());
  EXPECT_TRUE(Parsed(R"({"entries":[]})").empty());
}

TEST(TestResult, RefusesWhatLiesOutside) {
  EXPECT_THAT(Error(""), HasSubstr("without its head"));
  EXPECT_THAT(Error("kerftst1\xff\xff\xff\xff\xff\xff\xff\xff"), HasSubstr("breaks off"));
  EXPECT_THAT(Error(File(kOne, {1, 2, 3})), HasSubstr("r['a'] lies outside"));
  const std::string far =
      R"({"entries":[{"name":"r","dtype":"float32","shape":[4],"offset":9223372036854775744}]})";
  EXPECT_THAT(Error(File(far, {1, 2, 3, 4})), HasSubstr("lies outside"));
  const std::string huge =
      R"({"entries":[{"name":"r","dtype":"float32","shape":[4611686018427387904,8],"offset":0}]})";
  EXPECT_THAT(Error(File(huge)), HasSubstr("no tensor kerf knows"));
  const std::string negative =
      R"({"entries":[{"name":"r","dtype":"float32","shape":[1],"offset":-64}]})";
  EXPECT_THAT(Error(File(negative, {1})), HasSubstr("no tensor kerf knows"));
  EXPECT_THAT(Error(File("{\"entries\":[")), HasSubstr("table"));
}

TEST(TestResult, FindsWrongValuesByTheBudget) {
  const TestResult gold = Parsed(kOne, {1, 2, 3, 4});
  EXPECT_TRUE(CompareResults(gold, gold, 42, 1).identical);
  const ResultComparison near = CompareResults(gold, Parsed(kOne, {1, 2, 3, 4.000001F}), 42, 1);
  EXPECT_FALSE(near.finding.bad()) << near.finding.text;
  EXPECT_FALSE(near.identical);
  const ResultComparison wrong = CompareResults(gold, Parsed(kOne, {1, 2, 3, 4.01F}), 42, 1);
  EXPECT_EQ(wrong.finding.status, VerdictStatus::kWrongValue);
  EXPECT_THAT(wrong.finding.text, HasSubstr("r['a']"));
  EXPECT_THAT(wrong.log, HasSubstr("[3]: expected 4, got 4.01"));
}

TEST(TestResult, TellsAnotherStructure) {
  const auto of = [](const std::string& entries) {
    return Parsed("{\"entries\":[" + entries + "]}");
  };
  const TestResult gold = of(R"({"name":"r","text":"list of 1"},{"name":"r[0]","text":"int 7"})");
  const auto found = [&](const std::string& entries) {
    return CompareResults(gold, of(entries), 42, 1).finding;
  };
  const Finding longer = found(
      R"({"name":"r","text":"list of 2"},{"name":"r[0]","text":"int 7"},{"name":"r[1]","text":"int 8"})");
  EXPECT_EQ(longer.status, VerdictStatus::kWrongShape);
  EXPECT_EQ(longer.reason, "count");
  const Finding value = found(R"({"name":"r","text":"list of 1"},{"name":"r[0]","text":"int 8"})");
  EXPECT_EQ(value.status, VerdictStatus::kWrongValue);
  EXPECT_EQ(value.text, "r[0] is int 8, not int 7");
  const Finding kind = found(
      R"({"name":"r","text":"list of 1"},{"name":"r[0]","dtype":"float32","shape":[0],"offset":0})");
  EXPECT_EQ(kind.status, VerdictStatus::kWrongDType);
  EXPECT_EQ(kind.reason, "container");
  const Finding missing = found(R"({"name":"r","text":"list of 1"})");
  EXPECT_EQ(missing.text, "r[0] is missing");
}

TEST(TestResult, TellsAnotherShapeOrType) {
  const TestResult gold = Parsed(kOne, {1, 2, 3, 4});
  const TestResult shape = Parsed(
      R"({"entries":[{"name":"r","text":"dict of 1"},{"name":"r['a']","dtype":"float32","shape":[2,2],"offset":0}]})",
      {1, 2, 3, 4});
  EXPECT_EQ(CompareResults(gold, shape, 42, 1).finding.status, VerdictStatus::kWrongShape);
  const TestResult dtype = Parsed(
      R"({"entries":[{"name":"r","text":"dict of 1"},{"name":"r['a']","dtype":"int32","shape":[4],"offset":0}]})",
      {1, 2, 3, 4});
  EXPECT_EQ(CompareResults(gold, dtype, 42, 1).finding.status, VerdictStatus::kWrongDType);
}

}  // namespace
}  // namespace kerf::verify
