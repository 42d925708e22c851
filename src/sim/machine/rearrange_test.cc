#include <algorithm>
#include <numeric>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

template <typename T>
void CheckTranspose(int rows, int cols) {
  Matrix<T> a = Sample<T>(rows, cols, 1);
  Matrix<T> d(cols, rows);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Vec<T, 32, 32> x(rows, cols), y(cols, rows), tmp(rows, cols);
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x2000);
    TASSIGN(tmp, 0x4000);
    TLOAD(x, ViewOf(a));
    TTRANS(y, x, tmp);
    TSTORE(ViewOf(d), y);
  }));
  ExpectNear<T>(
      d, [&](int r, int c) { return static_cast<double>(a.at(c, r)); }, 0, "transpose");
}

TEST(Rearrange, Transposes) {
  for (const auto& [rows, cols] : {std::pair{32, 32}, {7, 19}, {1, 5}}) {
    CheckTranspose<float>(rows, cols);
    CheckTranspose<half>(rows, cols);
    CheckTranspose<int8_t>(rows, cols);
  }
}

TEST(Rearrange, GathersByIndexAndByPattern) {
  Matrix<float> a = Sample<float>(4, 16, 2);
  Matrix<int32_t> idx(3, 8);
  for (size_t i = 0; i < idx.data.size(); ++i) idx.data[i] = static_cast<int32_t>(i * 7 % 64);
  Matrix<float> d(3, 8), odd(4, 8);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, idx, "idx");
  AddTo(global, d, "d");
  AddTo(global, odd, "odd");
  ExpectClean(RunBody(global, [&] {
    using From = Vec<float, 4, 16>;
    using To = Vec<float, 4, 8>;
    From x(4, 16);
    Vec<int32_t, 4, 8> places(3, 8), tmp(3, 8);
    To z(3, 8), packed(4, 8);
    TASSIGN(x, 0x0);
    TASSIGN(places, 0x1000);
    TASSIGN(tmp, 0x1800);
    TASSIGN(z, 0x2000);
    TASSIGN(packed, 0x3000);
    TLOAD(x, ViewOf(a));
    TLOAD(places, ViewOf(idx));
    TGATHER(z, x, places, tmp);
    TGATHER<To, From, MaskPattern::P1010>(packed, x);
    TSTORE(ViewOf(d), z);
    TSTORE(ViewOf(odd), packed);
  }));
  ExpectNear<float>(
      d,
      [&](int r, int c) { return static_cast<double>(a.data[static_cast<size_t>(idx.at(r, c))]); },
      0, "index");
  ExpectNear<float>(
      odd, [&](int r, int c) { return static_cast<double>(a.at(r, 2 * c + 1)); }, 0, "odd columns");
}

TEST(Rearrange, FindsAnIndexOutside) {
  GlobalMemory global;
  const LaunchResult result = RunBody(global, [&] {
    Tile<TileType::Vec, float, 1, 8> x, z;
    Tile<TileType::Vec, int32_t, 1, 8> places, tmp;
    TASSIGN(x, 0x0);
    TASSIGN(z, 0x100);
    TASSIGN(places, 0x200);
    TASSIGN(tmp, 0x300);
    TEXPANDS(x, 1.0F);
    TEXPANDS(places, 8);
    TGATHER(z, x, places, tmp);
  });
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kIndex);
}

TEST(Rearrange, CountsAndConcatenates) {
  Matrix<int32_t> d(1, 24);
  GlobalMemory global;
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    using Row = Tile<TileType::Vec, int32_t, 1, 16>;
    Row up;
    Tile<TileType::Vec, int32_t, 1, 8> down;
    Vec<int32_t, 1, 32> both(1, 24);
    TASSIGN(up, 0x0);
    TASSIGN(down, 0x100);
    TASSIGN(both, 0x200);
    TCI<Row, int32_t, 0>(up, 5);
    TCI<Tile<TileType::Vec, int32_t, 1, 8>, int32_t, 1>(down, 5);
    TCONCAT(both, up, down);
    TSTORE(ViewOf(d), both);
  }));
  ExpectNear<int32_t>(
      d, [](int, int c) { return c < 16 ? 5 + c : 5 - (c - 16); }, 0, "count");
}

TEST(Rearrange, ComparesAndSelects) {
  Matrix<float> a = Sample<float>(4, 16, 3), b = Sample<float>(4, 16, 4);
  Matrix<float> d(4, 16);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, b, "b");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Tile<TileType::Vec, float, 4, 16> x, y, z;
    Tile<TileType::Vec, uint8_t, 4, 32> mask;
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x1000);
    TASSIGN(z, 0x2000);
    TASSIGN(mask, 0x3000);
    TLOAD(x, ViewOf(a));
    TLOAD(y, ViewOf(b));
    TCMP(mask, x, y, CmpMode::GT);
    TSEL(z, mask, x, y);
    TSTORE(ViewOf(d), z);
  }));
  ExpectNear<float>(
      d, [&](int r, int c) { return static_cast<double>(std::max(a.at(r, c), b.at(r, c))); }, 0,
      "select");
}

// 32 at a time, then runs merged: the whole row, largest first, each with where it came from.
TEST(Sort, SortsARowWithIndices) {
  constexpr int n = 256;
  Matrix<float> a(1, n);
  std::mt19937 random(5);
  for (float& value : a.data) value = static_cast<float>(random() % 100);
  Matrix<float> d(1, 2 * n);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    using Row = Tile<TileType::Vec, float, 1, n>;
    using Pairs = Tile<TileType::Vec, float, 1, 2 * n>;
    using Half = Tile<TileType::Vec, float, 1, n>;
    Row x;
    Tile<TileType::Vec, int32_t, 1, n> idx;
    Pairs runs, merged, result, tmp;
    Half low, high;
    TASSIGN(x, 0x0);
    TASSIGN(idx, 0x1000);
    TASSIGN(runs, 0x2000);
    TASSIGN(merged, 0x4000);
    TASSIGN(result, 0x6000);
    TASSIGN(tmp, 0x8000);
    TASSIGN(low, 0x4000);
    TASSIGN(high, 0x4000 + n * 4);
    TLOAD(x, ViewOf(a));
    TCI<Tile<TileType::Vec, int32_t, 1, n>, int32_t, 0>(idx, 0);
    TSORT32(runs, x, idx);
    TMRGSORT(merged, runs, 64);
    MrgSortExecutedNumList executed;
    TMRGSORT<Pairs, Pairs, Half, Half, false>(result, executed, tmp, low, high);
    EXPECT_EQ(executed.mrgSortList0, n / 2);
    EXPECT_EQ(executed.mrgSortList1, n / 2);
    TSTORE(ViewOf(d), result);
  }));
  std::vector<float> wanted = a.data;
  std::sort(wanted.begin(), wanted.end(), std::greater<>());
  std::vector<bool> seen(n);
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(d.at(0, 2 * i), wanted[static_cast<size_t>(i)]) << i;
    const uint32_t index = kerf_pto::BitsOfFloat(d.at(0, 2 * i + 1));
    ASSERT_LT(index, static_cast<uint32_t>(n));
    EXPECT_FALSE(seen[index]);
    seen[index] = true;
    EXPECT_EQ(a.at(0, static_cast<int>(index)), wanted[static_cast<size_t>(i)]);
  }
}

TEST(Scatter, WritesElementsWhereTheIndexSays) {
  Matrix<float> a = Sample<float>(1, 8, 8);
  Matrix<float> d(1, 16);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Tile<TileType::Vec, float, 1, 8> x;
    Tile<TileType::Vec, int32_t, 1, 8> idx;
    TASSIGN(x, 0x0);
    TASSIGN(idx, 0x100);
    TLOAD(x, ViewOf(a));
    TCI<Tile<TileType::Vec, int32_t, 1, 8>, int32_t, 1>(idx, 9);
    MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Skip>(ViewOf(d), x, idx);
  }));
  ExpectNear<float>(
      d, [&](int, int c) { return c >= 2 && c <= 9 ? static_cast<double>(a.at(0, 9 - c)) : 0; }, 0,
      "scatter");
}

}  // namespace
}  // namespace kerf::sim
