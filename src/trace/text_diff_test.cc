#include "trace/text_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace kerf::trace {
namespace {

// Builds b from a and the changes alone, and checks that the changes are in order and that what
// stands between them is equal.
std::vector<uint32_t> Apply(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                            const std::vector<Change>& changes) {
  std::vector<uint32_t> result;
  size_t at = 0;
  for (const Change& change : changes) {
    EXPECT_GE(change.a_begin, at);
    EXPECT_TRUE(change.a_end > change.a_begin || change.b_end > change.b_begin);
    result.insert(result.end(), a.begin() + static_cast<long>(at),
                  a.begin() + static_cast<long>(change.a_begin));
    EXPECT_EQ(result.size(), change.b_begin);
    result.insert(result.end(), b.begin() + static_cast<long>(change.b_begin),
                  b.begin() + static_cast<long>(change.b_end));
    at = change.a_end;
  }
  result.insert(result.end(), a.begin() + static_cast<long>(at), a.end());
  return result;
}

size_t Cost(const std::vector<Change>& changes) {
  size_t cost = 0;
  for (const Change& change : changes) {
    cost += change.a_end - change.a_begin + change.b_end - change.b_begin;
  }
  return cost;
}

// The textbook table: slow and obviously right.
size_t LeastCost(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      common[i + 1][j + 1] =
          a[i] == b[j] ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
    }
  }
  return a.size() + b.size() - 2 * common[a.size()][b.size()];
}

std::vector<uint32_t> RandomSequence(std::mt19937& random, size_t size, uint32_t alphabet) {
  std::vector<uint32_t> sequence(size);
  for (uint32_t& value : sequence) value = random() % alphabet;
  return sequence;
}

TEST(SequenceDiff, IsMinimalOnSmallRandomInputs) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const uint32_t alphabet = 1 + random() % 6;
    const auto a = RandomSequence(random, random() % 24, alphabet);
    const auto b = RandomSequence(random, random() % 24, alphabet);
    const std::vector<Change> changes = DiffSequences(a, b);
    ASSERT_EQ(Apply(a, b, changes), b);
    ASSERT_EQ(Cost(changes), LeastCost(a, b));
  }
}

TEST(SequenceDiff, IsMinimalOnLongerInputs) {
  std::mt19937 random(8);
  for (int round = 0; round < 60; ++round) {
    const auto a = RandomSequence(random, 200 + random() % 200, 2 + random() % 300);
    const auto b = RandomSequence(random, 200 + random() % 200, 2 + random() % 300);
    const std::vector<Change> changes = DiffSequences(a, b);
    ASSERT_EQ(Apply(a, b, changes), b);
    ASSERT_EQ(Cost(changes), LeastCost(a, b));
  }
}

TEST(SequenceDiff, IsEmptyOnlyForEqualSequences) {
  EXPECT_TRUE(DiffSequences({}, {}).empty());
  EXPECT_TRUE(DiffSequences({1, 2, 3}, {1, 2, 3}).empty());
  EXPECT_EQ(DiffSequences({}, {1}).size(), 1U);
  EXPECT_EQ(DiffSequences({1}, {}).size(), 1U);
}

// The worst case of the algorithm: the same lines in an unrelated order. Without the bound it would
// take hours.
TEST(SequenceDiff, StaysCorrectAndBoundedOnAMillionShuffledElements) {
  std::mt19937 random(9);
  std::vector<uint32_t> a(1'000'000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint32_t>(i);
  std::vector<uint32_t> b = a;
  std::shuffle(b.begin(), b.end(), random);
  const std::vector<Change> changes = DiffSequences(a, b);
  EXPECT_EQ(Apply(a, b, changes), b);
}

TEST(SequenceDiff, StaysCorrectWhenFewValuesRepeatOften) {
  std::mt19937 random(10);
  const auto a = RandomSequence(random, 300'000, 3);
  const auto b = RandomSequence(random, 200'000, 3);
  EXPECT_EQ(Apply(a, b, DiffSequences(a, b)), b);
}

TEST(SequenceDiff, FindsAFewEditsAmongAMillionElements) {
  std::vector<uint32_t> a(1'000'000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint32_t>(i % 1000);
  std::vector<uint32_t> b = a;
  b.erase(b.begin() + 500'000);
  b.insert(b.begin() + 100, 77'777);
  EXPECT_EQ(Cost(DiffSequences(a, b)), 2U);
}

std::string Unified(std::string_view a, std::string_view b, size_t context) {
  std::string text;
  const TextDiff diff = DiffLines(a, b);
  WriteUnified(diff, context, [&](DiffLine, const std::string& line) { text += line + "\n"; });
  return text;
}

TEST(TextDiff, WritesUnifiedHunks) {
  EXPECT_EQ(Unified("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\ne\nf\ng\nh\ni\n", 1),
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
            "@@ -8 +8,2 @@\n h\n+i\n");
}

TEST(TextDiff, JoinsHunksWhoseContextTouches) {
  EXPECT_EQ(Unified("1\n2\n3\n4\n", "x\n2\n3\ny\n", 1),
            "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n-4\n+y\n");
}

TEST(TextDiff, SaysWhenTheLastLineHasNoLineFeed) {
  EXPECT_EQ(Unified("a\nb", "a\nb\n", 3),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
}

TEST(TextDiff, HandlesEmptyTexts) {
  EXPECT_EQ(Unified("", "", 3), "");
  EXPECT_EQ(Unified("", "a\n", 3), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(Unified("a\n", "", 3), "@@ -1 +0,0 @@\n-a\n");
}

TEST(TextDiff, CountsLines) {
  const TextDiff diff = DiffLines("a\nb\nc\n", "a\nx\ny\nc\n");
  EXPECT_EQ(diff.removed(), 1U);
  EXPECT_EQ(diff.added(), 2U);
}

// What a differ learnt from one text must not show in the diff with the next.
TEST(LineDiffer, SaysOfEachTextWhatDiffLinesSays) {
  std::mt19937 random(3);
  const auto make = [&](size_t lines) {
    std::string text;
    for (size_t i = 0; i < lines; ++i) text += "line " + std::to_string(random() % 50) + "\n";
    if (random() % 3 == 0) text += "no feed";
    return text;
  };
  for (int round = 0; round < 50; ++round) {
    const std::string a = make(random() % 200);
    LineDiffer differ(a);
    for (int i = 0; i < 6; ++i) {
      const std::string b = make(random() % (i == 3 ? 2000 : 200));
      std::string once;
      AppendUnified(DiffLines(a, b), 3, once);
      std::string again;
      AppendUnified(differ.Diff(b), 3, again);
      EXPECT_EQ(again, once);
      std::string by_line;
      WriteUnified(DiffLines(a, b), 3,
                   [&](DiffLine, const std::string& line) { by_line += line + "\n"; });
      EXPECT_EQ(by_line, once);
    }
  }
}

}  // namespace
}  // namespace kerf::trace
