#include "cli/suggest.h"

#include <gtest/gtest.h>

namespace kerf::cli {
namespace {

TEST(Suggest, DistanceCountsEachMistakeOnce) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("", "ab"), 2U);
  EXPECT_EQ(EditDistance("log-dri", "log-dir"), 1U);  // a swap
  EXPECT_EQ(EditDistance("apend", "append"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("ab", "ba"), 1U);
}

TEST(Suggest, FindsTheNearest) {
  const std::vector<std::string> flags = {"--help", "--json", "--log-dir", "--names"};
  EXPECT_EQ(Nearest("--log-dri", flags), "--log-dir");
  EXPECT_EQ(Nearest("--logdir", flags), "--log-dir");
  EXPECT_EQ(Nearest("--log", flags), "--log-dir");
  EXPECT_EQ(Nearest("-json", flags), "--json");
  EXPECT_EQ(Nearest("json", flags), "--json");
  EXPECT_EQ(Nearest("--name", flags), "--names");
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(Nearest("--frobnicate", {"--json", "--help"}), std::nullopt);
  EXPECT_EQ(Nearest("x", {"ls", "show"}), std::nullopt);
  EXPECT_EQ(Nearest("", {"ls"}), std::nullopt);
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), {"ls"}), std::nullopt);
  EXPECT_EQ(DidYouMean("zzz", {"ls"}), "");
  EXPECT_EQ(DidYouMean("lss", {"ls"}), "; did you mean ls?");
}

}  // namespace
}  // namespace kerf::cli
