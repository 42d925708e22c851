#include "dataset/json_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kerf::dataset {
namespace {

// Independent of the code under test: counts the backslashes before each quote.
size_t SlowEnd(const std::string& text, size_t at) {
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] != '"') continue;
    size_t slashes = 0;
    while (i - slashes > at && text[i - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return i;
  }
  return std::string::npos;
}

std::string RandomText(std::mt19937& random, size_t length) {
  // Mostly backslashes in one text, hardly any in the next.
  const unsigned slash = random() % 9;
  const unsigned quote = random() % 4;
  std::string text;
  while (text.size() < length) {
    const unsigned dice = random() % 100;
    text += dice < slash * 11 ? '\\' : (dice >= 100 - quote ? '"' : 'x');
  }
  return text;
}

class JsonScan : public testing::TestWithParam<ScanWay> {};

TEST_P(JsonScan, FindsTheEndThatCountingFinds) {
  const StringEndFinder find = FinderFor(GetParam());
  if (find == nullptr) GTEST_SKIP() << "this processor cannot";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = RandomText(random, random() % 300);
    const size_t at = text.empty() ? 0 : random() % std::min<size_t>(text.size(), 70);
    ASSERT_EQ(find(text.data(), at, text.size()), SlowEnd(text, at)) << text << " from " << at;
    ASSERT_EQ(FindStringEnd(text, at), SlowEnd(text, at)) << text << " from " << at;
  }
}

TEST_P(JsonScan, FollowsARunOfBackslashesAcrossBlocks) {
  const StringEndFinder find = FinderFor(GetParam());
  if (find == nullptr) GTEST_SKIP() << "this processor cannot";
  for (size_t before = 0; before < 130; ++before) {
    for (size_t slashes = 0; slashes < 140; ++slashes) {
      const std::string text = std::string(before, 'a') + std::string(slashes, '\\') + "\"" +
                               std::string(80, 'b') + "\"";
      ASSERT_EQ(find(text.data(), 0, text.size()), SlowEnd(text, 0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, JsonScan,
                         testing::Values(ScanWay::kPlain, ScanWay::kSse2, ScanWay::kAvx2));

}  // namespace
}  // namespace kerf::dataset
