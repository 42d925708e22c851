#include "loop/task/task_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/fake_file_system.h"

namespace kerf::task {
namespace {

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class TaskCheckTest : public ::testing::Test {
 protected:
  // One case for each, seeds 0, 1, …
  template <typename T>
  Reference Outputs(DType dtype, const std::vector<std::vector<T>>& values) {
    Reference reference;
    for (size_t i = 0; i < values.size(); ++i) {
      ReferenceCase one;
      one.seed = static_cast<int64_t>(i);
      one.output_file = "case-" + std::to_string(i) + ".out";
      const std::string bytes = Bytes(values[i]);
      EXPECT_TRUE((*fs_.OpenNew(one.output_file))->Write(bytes).ok());
      one.outputs.push_back(
          {"output0", {dtype, {static_cast<int64_t>(bytes.size() / DTypeBytes(dtype))}}, 0});
      one.oracle.resize(1);
      one.lower.resize(1);
      one.inputs.push_back({Argument::Kind::kTensor, "input0"});
      reference.cases.push_back(std::move(one));
    }
    return reference;
  }

  std::vector<std::string> Findings(const Reference& reference) {
    const auto report = CheckTask(fs_, reference);
    EXPECT_TRUE(report.ok());
    std::vector<std::string> names;
    for (const TaskFinding& finding : report->findings) {
      names.push_back((finding.unfit ? "unfit " : "") + std::string(FindingName(finding.finding)));
    }
    return names;
  }

  FakeFileSystem fs_;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(TaskCheckTest, FindsNothingWrongWithAGoodTask) {
  EXPECT_THAT(Findings(Outputs<float>(DType::kFloat32, {{1, 2}, {3, 4}})), IsEmpty());
}

TEST_F(TaskCheckTest, FindsConstantsAndIndependence) {
  EXPECT_THAT(Findings(Outputs<float>(DType::kFloat32, {{2, 2}, {2, 2}})),
              UnorderedElementsAre("unfit constant", "unfit same_for_all_seeds"));
}

TEST_F(TaskCheckTest, FindsThatSeedsDoNotMatter) {
  EXPECT_THAT(Findings(Outputs<int32_t>(DType::kInt32, {{1, 2}, {1, 2}})),
              ElementsAre("unfit same_for_all_seeds"));
}

TEST_F(TaskCheckTest, TellsSomeFromNoFiniteValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(Findings(Outputs<float>(DType::kFloat32, {{nan, nan}, {1, 2}})),
              ElementsAre("unfit non_finite"));
}

TEST_F(TaskCheckTest, SeesNonFiniteValuesOfEveryFloat) {
  const auto count = [&](DType dtype, const std::string& bytes) {
    FakeFileSystem fs;
    Reference reference;
    ReferenceCase one;
    one.output_file = "o";
    EXPECT_TRUE((*fs.OpenNew("o"))->Write(bytes).ok());
    one.outputs.push_back(
        {"o", {dtype, {static_cast<int64_t>(bytes.size() / DTypeBytes(dtype))}}, 0});
    reference.cases.push_back(one);
    return CheckTask(fs, reference)->outputs.at(0);
  };
  // 1, -2, infinity, NaN where there is one.
  auto half = count(DType::kFloat16, Bytes<uint16_t>({0x3C00, 0xC000, 0x7C00, 0x7E00}));
  EXPECT_EQ(half.non_finite, 2);
  EXPECT_EQ(half.least, -2);
  EXPECT_EQ(half.greatest, 1);
  auto bfloat = count(DType::kBFloat16, Bytes<uint16_t>({0x3F80, 0xC000, 0x7F80, 0x7FC0}));
  EXPECT_EQ(bfloat.non_finite, 2);
  EXPECT_EQ(bfloat.least, -2);
  auto e5m2 = count(DType::kFloat8E5M2, Bytes<uint8_t>({0x3C, 0xC0, 0x7C, 0x7F}));
  EXPECT_EQ(e5m2.non_finite, 2);
  EXPECT_EQ(e5m2.least, -2);
  auto e4m3 = count(DType::kFloat8E4M3, Bytes<uint8_t>({0x38, 0x7E, 0x7F, 0x01}));
  EXPECT_EQ(e4m3.non_finite, 1);
  EXPECT_EQ(e4m3.greatest, 448);
  EXPECT_EQ(e4m3.least, std::ldexp(1.0, -9));
  auto wide = count(DType::kComplex64, Bytes<float>({1, INFINITY, 3, 4}));
  EXPECT_EQ(wide.non_finite, 1);
  EXPECT_EQ(wide.greatest, 4);
}

TEST_F(TaskCheckTest, WarnsOfSmallOutputs) {
  EXPECT_THAT(Findings(Outputs<double>(DType::kFloat64, {{0.001, 0.01}, {-0.01, 0.002}})),
              ElementsAre("small_outputs"));
}

TEST_F(TaskCheckTest, BelievesTheRunnersChecks) {
  Reference reference = Outputs<float>(DType::kFloat32, {{1, 2}, {3, 4}});
  reference.checks = TaskChecks{.deterministic = false,
                                .note = "outputs differ",
                                .influence = {{"input0", false}, {"w", false}, {"v", true}}};
  reference.cases[0].oracle_note = "no float64";
  reference.notes = {"changes input0 in place"};
  EXPECT_THAT(Findings(reference),
              UnorderedElementsAre("no_oracle", "unfit not_deterministic", "unfit input_ignored",
                                   "parameter_ignored", "note"));
}

}  // namespace
}  // namespace kerf::task
