#include "trace/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "trace/recorded_run.h"

namespace kerf::trace {
namespace {

class TraceDiffTest : public testing::Test {
 protected:
  void Model(const std::string& task, ActionType action, const std::string& reply,
             const std::string& meta = "") {
    run_.Model("relu", task, action, "prompt of " + std::string(ActionName(action)) + "\n", reply,
               "because\n", meta);
  }
  void Verify(const std::string& task, const std::string& result, const std::string& log,
              const std::string& profile = "", const std::string& meta = "") {
    run_.Verify("relu", task, result, log, profile, meta);
  }

  DiffSide Side(const std::string& place) {
    const Result<Address> address = ResolveAddress(run_.fs(), run_.Path("run/relu") + place);
    EXPECT_TRUE(address.ok()) << (address.ok() ? "" : address.error().message);
    Result<DiffSide> side = LoadDiffSide(run_.fs(), *address);
    EXPECT_TRUE(side.ok()) << (side.ok() ? "" : side.error().message);
    return *std::move(side);
  }

  TraceDiff Diff(const std::string& a, const std::string& b,
                 const std::set<DiffPart>& parts = AllDiffParts()) {
    Result<TraceDiff> diff = DiffSides(run_.fs(), Side(a), Side(b), parts);
    EXPECT_TRUE(diff.ok()) << (diff.ok() ? "" : diff.error().message);
    return *std::move(diff);
  }

  RecordedRun run_;
};

const ValueDiff* Find(const RecordPair& pair, const std::string& path) {
  const auto value = std::find_if(pair.values.begin(), pair.values.end(),
                                  [&](const ValueDiff& one) { return one.path == path; });
  return value == pair.values.end() ? nullptr : &*value;
}

TEST_F(TraceDiffTest, FindsAStepIdenticalToItself) {
  Model("0", ActionType::kDoCoder, "code\n", R"({"model":"m","tokens":{"input":1}})");
  EXPECT_TRUE(Diff(":0:1", ":0:1").Identical());
  EXPECT_TRUE(Diff(":0", ":0").Identical());
}

TEST_F(TraceDiffTest, ShowsWhatChangedInTheTextsOfTwoSteps) {
  Model("0", ActionType::kDoCoder, "a\nb\nc\n");
  Model("0", ActionType::kFixCoder, "a\nB\nc\nd\n");
  const TraceDiff diff = Diff(":0:1", ":0:2");
  ASSERT_EQ(diff.records.size(), 1U);
  const RecordPair& pair = *diff.records[0].pair;
  EXPECT_TRUE(pair.action_differs);
  ASSERT_EQ(pair.texts.size(), 2U);  // the reasoning is the same
  EXPECT_EQ(pair.texts[0].part, DiffPart::kPrompt);
  EXPECT_EQ(pair.texts[1].part, DiffPart::kResult);
  EXPECT_EQ(pair.texts[1].removed, 1U);
  EXPECT_EQ(pair.texts[1].added, 2U);
  EXPECT_EQ(pair.texts[1].b, "a\nB\nc\nd\n");
}

TEST_F(TraceDiffTest, LooksOnlyAtThePartsAskedFor) {
  Model("0", ActionType::kDoCoder, "same\n", R"({"duration_ms":1})");
  Model("0", ActionType::kFixCoder, "same\n", R"({"duration_ms":2})");
  EXPECT_TRUE(Diff(":0:1", ":0:2", {DiffPart::kResult}).Identical());
  EXPECT_FALSE(Diff(":0:1", ":0:2", {DiffPart::kNumbers}).Identical());
  EXPECT_FALSE(Diff(":0:1", ":0:2", {DiffPart::kPrompt}).Identical());
}

TEST_F(TraceDiffTest, GivesDeltasOfNumbersInMetaAndProfile) {
  Verify("0", "True", "", R"({"gen_time":20,"shapes":[{"us":4}]})",
         R"({"speedup":0,"device":"npu:0"})");
  Verify("1", "True", "", R"({"gen_time":15,"shapes":[{"us":4}],"extra":null})",
         R"({"speedup":2.0,"device":"npu:0"})");
  const RecordPair pair = *Diff(":0:1", ":1:1").records[0].pair;
  EXPECT_EQ(pair.values.size(), 3U);
  const ValueDiff* time = Find(pair, "profile.gen_time");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->delta, -5);
  EXPECT_EQ(time->percent, -25);
  const ValueDiff* speedup = Find(pair, "speedup");
  ASSERT_NE(speedup, nullptr);
  EXPECT_EQ(speedup->delta, 2);
  EXPECT_EQ(speedup->percent, std::nullopt);  // of nothing
  const ValueDiff* extra = Find(pair, "profile.extra");
  ASSERT_NE(extra, nullptr);
  EXPECT_EQ(extra->a, std::nullopt);
  EXPECT_EQ(extra->b, "null");
}

TEST_F(TraceDiffTest, TakesNumbersWrittenDifferentlyAsEqual) {
  Verify("0", "True", "", "", R"({"speedup":2})");
  Verify("1", "True", "", "", R"({"speedup":2.0})");
  EXPECT_TRUE(Diff(":0:1", ":1:1").Identical());
}

TEST_F(TraceDiffTest, SaysWhenTheVerdictChanged) {
  Verify("0", "False", "boom\n");
  Verify("1", "True", "");
  Verify("2", "timed out", "");
  Verify("3", "crashed", "");
  EXPECT_TRUE(Diff(":0:1", ":1:1").records[0].pair->verdict_differs);
  // Neither passed nor failed: the words count, and are shown.
  const TraceDiff words = Diff(":2:1", ":3:1");
  ASSERT_EQ(words.records[0].pair->texts.size(), 1U);
  EXPECT_EQ(words.records[0].pair->texts[0].part, DiffPart::kVerdict);
  EXPECT_EQ(words.records[0].pair->texts[0].b, "crashed");
  EXPECT_FALSE(words.Identical());
  EXPECT_TRUE(Diff(":2:1", ":2:1").Identical());
  EXPECT_FALSE(Diff(":2:1", ":3:1", {DiffPart::kVerdict}).Identical());
  EXPECT_FALSE(Diff(":0:1", ":1:1", {DiffPart::kVerdict}).Identical());
  EXPECT_TRUE(Diff(":0:1", ":1:1", {DiffPart::kPrompt}).Identical());
}

// The journal has one hash for both.
TEST_F(TraceDiffTest, SeesWhatWasAlteredAfterItWasRecorded) {
  Model("0", ActionType::kDoCoder, "good\n");
  Model("1", ActionType::kDoCoder, "good\n");
  EXPECT_TRUE(Diff(":0", ":1").Identical());
  const std::string file = run_.Path("run/relu/I1_S01_relu_DO_CODER_result.txt");
  std::ofstream(file) << "evil\n";
  EXPECT_FALSE(Diff(":0", ":1").Identical());
  std::filesystem::remove(file);
  const Result<TraceDiff> diff = DiffSides(run_.fs(), Side(":0"), Side(":1"), AllDiffParts());
  ASSERT_FALSE(diff.ok());
  EXPECT_EQ(diff.error().code, ErrorCode::kCorrupt);
}

TEST_F(TraceDiffTest, ComparesTheConductorsRecordsOfAStepToo) {
  Model("0", ActionType::kDoDesigner, "plan\n");
  run_.Judge("relu", "0", ActionType::kDoDesigner, "check", "fine");
  Model("1", ActionType::kDoDesigner, "plan\n");
  run_.Judge("relu", "1", ActionType::kDoDesigner, "check", "redo");
  const TraceDiff diff = Diff(":0:1", ":1:1");
  ASSERT_EQ(diff.records.size(), 2U);
  EXPECT_FALSE(diff.records[0].pair->Differs());
  EXPECT_TRUE(diff.records[1].pair->Differs());
}

TEST_F(TraceDiffTest, AlignsTasksAndNamesTheFirstDivergence) {
  for (const char* task : {"0", "1"}) {
    Model(task, ActionType::kDoDesigner, "plan\n", R"({"duration_ms":)" + std::string(task) + "}");
    Model(task, ActionType::kDoCoder, std::string("code ") + task + "\n");
    Verify(task, "False", "boom\n");
    if (*task == '1') {
      Model(task, ActionType::kFixDesigner, "plan 2\n");
      Model(task, ActionType::kFixCoder, "code 2\n");
    } else {
      Model(task, ActionType::kFixCoder, "code 2\n");
    }
    Verify(task, "True", "");
  }
  const TraceDiff diff = Diff(":0", ":1");
  EXPECT_FALSE(diff.of_steps);
  ASSERT_EQ(diff.records.size(), 6U);
  // The durations of the first pair differ, but that is no other course.
  EXPECT_TRUE(diff.records[0].pair->Differs());
  EXPECT_EQ(diff.first_divergence, 1U);
  EXPECT_EQ(diff.records[3].only_b, 3U);
  // After the extra step the two are in step again.
  ASSERT_TRUE(diff.records[4].pair.has_value());
  EXPECT_FALSE(diff.records[4].pair->Differs());
  EXPECT_FALSE(diff.records[5].pair->Differs());
  EXPECT_TRUE(diff.records[1].pair->texts[0].a.empty()) << "a task's texts are not kept";
}

TEST_F(TraceDiffTest, WarnsWhenModelOrDeviceDiffer) {
  Model("0", ActionType::kDoCoder, "code\n", R"({"model":"m-1","device":"npu:0"})");
  Model("1", ActionType::kDoCoder, "code\n", R"({"model":"m-2","device":"npu:0"})");
  Model("2", ActionType::kDoCoder, "code\n");
  const TraceDiff diff = Diff(":0", ":1");
  ASSERT_EQ(diff.warnings.size(), 1U);
  EXPECT_EQ(diff.warnings[0], "not comparable: model is m-1 in A, m-2 in B");
  EXPECT_TRUE(Diff(":0", ":2").warnings.empty()) << "what is unknown is no contradiction";
}

TEST_F(TraceDiffTest, RefusesAStepAgainstATask) {
  Model("0", ActionType::kDoCoder, "code\n");
  const Result<TraceDiff> diff = DiffSides(run_.fs(), Side(":0:1"), Side(":0"), AllDiffParts());
  ASSERT_FALSE(diff.ok());
  EXPECT_EQ(diff.error().code, ErrorCode::kInvalidInput);
}

TEST_F(TraceDiffTest, SaysWhichStepIsTheLastWhenOneIsMissing) {
  Model("0", ActionType::kDoCoder, "code\n");
  const Result<Address> address = ResolveAddress(run_.fs(), run_.Path("run/relu") + ":0:7");
  ASSERT_TRUE(address.ok());
  const Result<DiffSide> side = LoadDiffSide(run_.fs(), *address);
  ASSERT_FALSE(side.ok());
  EXPECT_NE(side.error().message.find("the last one is 1"), std::string::npos);
}

TEST_F(TraceDiffTest, ReportsAFileThatIsGone) {
  Model("0", ActionType::kDoCoder, "a\n");
  Model("1", ActionType::kDoCoder, "b\n");
  std::filesystem::remove(run_.Path("run/relu/I1_S01_relu_DO_CODER_result.txt"));
  EXPECT_FALSE(DiffSides(run_.fs(), Side(":0"), Side(":1"), AllDiffParts()).ok());
}

}  // namespace
}  // namespace kerf::trace
