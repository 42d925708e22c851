#include "loop/verify/where.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kerf::verify {
namespace {

using Shape = std::vector<int64_t>;

std::string TextOf(const Shape& shape, const std::vector<std::pair<int64_t, int64_t>>& runs) {
  Where where(shape);
  for (const auto& [begin, end] : runs) where.AddRun(begin, end);
  return where.Text();
}

TEST(Where, SaysItTheWayAProgrammerLooksForIt) {
  EXPECT_EQ(TextOf({4, 8}, {}), "");
  EXPECT_EQ(TextOf({4, 8}, {{0, 32}}), "every element");
  EXPECT_EQ(TextOf({4, 8}, {{13, 14}}), "only flat index 13");
  EXPECT_EQ(TextOf({4, 8}, {{13, 32}}), "every element from flat index 13");
  EXPECT_EQ(TextOf({4, 8}, {{0, 13}}), "every element before flat index 13");
  EXPECT_EQ(TextOf({4, 8}, {{8, 24}}), "only axis 0: 1..2 of 4 (all elements there)");
  EXPECT_EQ(TextOf({2, 8}, {{5, 8}, {13, 16}}),
            "only axis 1: the last 3 of 8 (all elements there)");
  EXPECT_EQ(TextOf({2, 8}, {{5, 8}, {13, 14}}), "only axis 1: the last 3 of 8");
  EXPECT_EQ(TextOf({4, 8}, {{2, 3}, {10, 11}}),
            "only axis 0: the first 2 of 4; axis 1: index 2 of 8 (all elements there)");
  EXPECT_EQ(TextOf({100}, {{10, 20}}), "flat indices 10..19, all of them");
  EXPECT_EQ(TextOf({100}, {{3, 4}, {7, 8}, {15, 16}, {99, 100}}),
            "flat indices 3 + multiples of 4");
  EXPECT_EQ(TextOf({100}, {{3, 4}, {8, 9}, {15, 16}, {90, 92}}), "scattered, 5% of the elements");
}

TEST(Where, BoxAgreesWithEachElement) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    const Shape shape = {1 + static_cast<int64_t>(random() % 4),
                         1 + static_cast<int64_t>(random() % 5),
                         1 + static_cast<int64_t>(random() % 6)};
    const int64_t elements = shape[0] * shape[1] * shape[2];
    const auto begin = static_cast<int64_t>(random() % static_cast<uint64_t>(elements));
    const int64_t end =
        begin + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(elements - begin));
    Where whole(shape);
    whole.AddRun(begin, end);
    Where halves(shape);
    Where other(shape);
    const int64_t middle = (begin + end) / 2;
    halves.AddRun(middle, end);
    other.AddRun(begin, middle);
    halves.Merge(other);
    Shape low = {99, 99, 99};
    Shape high = {-1, -1, -1};
    for (int64_t i = begin; i < end; ++i) {
      const Shape at = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
      for (size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], at[axis]);
        high[axis] = std::max(high[axis], at[axis]);
      }
    }
    EXPECT_EQ(whole.box_low(), low);
    EXPECT_EQ(whole.box_high(), high);
    EXPECT_EQ(halves.box_low(), low);
    EXPECT_EQ(halves.box_high(), high);
    EXPECT_EQ(halves.Text(), whole.Text());
    EXPECT_EQ(halves.count(), end - begin);
  }
}

}  // namespace
}  // namespace kerf::verify
