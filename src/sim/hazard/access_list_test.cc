#include "sim/hazard/access_list.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/log/log_testing.h"

namespace kerf::sim {
namespace {

// Every byte, one by one.
std::set<uint64_t> BytesOf(const Access& access) {
  std::set<uint64_t> bytes;
  if (access.step == 0) {
    for (uint64_t at = access.begin; at < access.end; ++at) bytes.insert(at);
    return bytes;
  }
  for (uint64_t row = access.begin; row < access.end; row += access.step) {
    for (uint64_t at = row; at < std::min(row + access.row_bytes, access.end); ++at)
      bytes.insert(at);
  }
  return bytes;
}

TEST(AccessList, OverlapIsExact) {
  std::mt19937 random(7);
  int meet = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto make = [&] {
      Operand tile;
      tile.dtype = Dtype::kI8;
      tile.layout = random() % 3 == 0 ? Layout::kDn : Layout::kNd;
      tile.rows = 1 + random() % 6;
      tile.columns = 1 + random() % 12;
      tile.valid_rows = 1 + random() % tile.rows;
      tile.valid_columns = 1 + random() % tile.columns;
      tile.address = random() % 60;
      const bool nd = tile.layout == Layout::kNd;
      tile.bytes = nd ? (tile.valid_rows - 1) * tile.columns + tile.valid_columns
                      : (tile.valid_columns - 1) * tile.rows + tile.valid_rows;
      return AccessOf(tile);
    };
    const Access a = make();
    const Access b = make();
    const std::set<uint64_t> bytes = BytesOf(a);
    bool common = false;
    for (const uint64_t at : BytesOf(b)) common = common || bytes.count(at) != 0;
    ASSERT_EQ(Overlap(a, b), common) << i;
    ASSERT_EQ(Overlap(b, a), common) << i;
    meet += common ? 1 : 0;
  }
  EXPECT_GT(meet, 500);
  EXPECT_LT(meet, 4500);
}

TEST(AccessList, StaysSmallAndKeepsTheNewestOfEachRange) {
  AccessList list;
  for (uint32_t i = 1; i <= 100000; ++i) {
    Access access{.begin = i % 10 * 64,
                  .end = i % 10 * 64 + 64,
                  .position = i,
                  .instruction = i,
                  .access = kerf_log::kWrite};
    if (list.Add(access)) list.Shrink(0);
  }
  EXPECT_LE(list.size(), 512U);
  uint32_t newest = 0;
  list.ForUnordered({.begin = 128, .end = 130}, 0, [&](const Access& other) {
    newest = other.instruction;
    return false;
  });
  EXPECT_EQ(newest, 99992U);
}

TEST(AccessList, DistinctRangesAreBounded) {
  AccessList list;
  for (uint32_t i = 1; i <= 100000; ++i) {
    if (list.Add({.begin = uint64_t{i} * 64, .end = uint64_t{i} * 64 + 64, .position = i}))
      list.Shrink(0);
  }
  EXPECT_LE(list.size(), AccessList::kMost);
}

}  // namespace
}  // namespace kerf::sim
