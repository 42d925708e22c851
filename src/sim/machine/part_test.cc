// Sources that cover a part, and the places of the largest and smallest elements.
#include <algorithm>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

// One source is as large as the destination, the other one smaller, in either order.
template <typename T, typename Run, typename Wanted>
void CheckPart(const char* name, Run&& run, Wanted&& wanted, double relative) {
  for (const bool first : {false, true}) {
    for (const auto& size : {std::pair{5, 13}, {5, 7}, {2, 13}, {3, 1}}) {
      const int rows = size.first;
      const int cols = size.second;
      Matrix<T> a = Sample<T>(first ? 5 : rows, first ? 13 : cols, 1);
      Matrix<T> b = Sample<T>(first ? rows : 5, first ? cols : 13, 2);
      Matrix<T> out(5, 13);
      GlobalMemory global = MemoryOf(a, b, out);
      ExpectClean(RunBody(global, [&] {
        Tiles tiles;
        auto x = tiles.Load<8, 64>(a);
        auto y = tiles.Load<8, 64>(b);
        auto d = tiles.New<T, 8, 64>(5, 13);
        run(d, x, y);
        TSTORE(ViewOf(out), d);
      }));
      ExpectNear<T>(
          out,
          [&](int r, int c) {
            const bool in_a = r < a.rows && c < a.cols;
            const bool in_b = r < b.rows && c < b.cols;
            if (!in_a) return static_cast<double>(b.at(r, c));
            if (!in_b) return static_cast<double>(a.at(r, c));
            return wanted(static_cast<double>(a.at(r, c)), static_cast<double>(b.at(r, c)));
          },
          relative, name);
    }
  }
}

#define CHECK_PART(T, NAME, EXPRESSION, RELATIVE)                     \
  CheckPart<T>(                                                       \
      #NAME " " #T, [](auto& d, auto& a, auto& b) { NAME(d, a, b); }, \
      [](double a, double b) { return EXPRESSION; }, RELATIVE)

TEST(Part, TakesWhatOnlyOneSourceHas) {
  CHECK_PART(float, TPARTADD, a + b, 1e-6);
  CHECK_PART(half, TPARTADD, a + b, 1e-3);
  CHECK_PART(int16_t, TPARTADD, a + b, 0);
  CHECK_PART(float, TPARTMUL, a* b, 1e-6);
  CHECK_PART(int32_t, TPARTMUL, a * b, 0);
  CHECK_PART(float, TPARTMAX, std::max(a, b), 0);
  CHECK_PART(uint16_t, TPARTMAX, std::max(a, b), 0);
  CHECK_PART(half, TPARTMIN, std::min(a, b), 0);
  CHECK_PART(int32_t, TPARTMIN, std::min(a, b), 0);
}

TEST(Part, FindsSourcesThatLeaveAGap) {
  GlobalMemory global;
  const LaunchResult result = RunBody(global, [&] {
    Tiles tiles;
    auto a = tiles.New<float, 4, 8>(4, 2);
    auto b = tiles.New<float, 4, 8>(2, 8);
    auto d = tiles.New<float, 4, 8>(4, 8);
    TEXPANDS(a, 1.0F);
    TEXPANDS(b, 1.0F);
    TPARTADD(d, a, b);
  });
  ASSERT_EQ(result.findings.size(), 1U) << Text(result.findings);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kShape);
}

// --- places ---

template <typename V, typename I, typename Run>
void CheckPartArg(bool largest, Run&& run) {
  Matrix<V> a = Sample<V>(5, 13, 1), b = Sample<V>(3, 7, 2);
  b.at(0, 0) = a.at(0, 0);  // equals: the second one's index
  Matrix<I> ia(5, 13), ib(3, 7);
  for (size_t i = 0; i < ia.data.size(); ++i) ia.data[i] = static_cast<I>(i);
  for (size_t i = 0; i < ib.data.size(); ++i) ib.data[i] = static_cast<I>(100 + i);
  Matrix<V> values(5, 13);
  Matrix<I> places(5, 13);
  GlobalMemory global = MemoryOf(a, b, ia, ib, values, places);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<8, 64>(a);
    auto y = tiles.Load<8, 64>(b);
    auto px = tiles.Load<8, 64>(ia);
    auto py = tiles.Load<8, 64>(ib);
    auto d = tiles.New<V, 8, 64>(5, 13);
    auto p = tiles.New<I, 8, 64>(5, 13);
    run(d, x, y, p, px, py);
    TSTORE(ViewOf(values), d);
    TSTORE(ViewOf(places), p);
  }));
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 13; ++c) {
      const bool both = r < 3 && c < 7;
      const auto x = static_cast<double>(a.at(r, c));
      const double y = both ? static_cast<double>(b.at(r, c)) : 0;
      const bool first = !both || (largest ? x > y : x < y);
      EXPECT_EQ(static_cast<double>(values.at(r, c)), first ? x : y) << r << ", " << c;
      EXPECT_EQ(places.at(r, c), first ? ia.at(r, c) : ib.at(r, c)) << r << ", " << c;
    }
  }
}

TEST(Part, KeepsTheIndexOfWhatItTakes) {
  const auto top = [](auto&... t) { TPARTARGMAX(t...); };
  const auto low = [](auto&... t) { TPARTARGMIN(t...); };
  CheckPartArg<float, int32_t>(true, top);
  CheckPartArg<half, uint16_t>(true, top);
  CheckPartArg<float, uint32_t>(false, low);
  CheckPartArg<half, int16_t>(false, low);
}

template <typename T>
int PlaceOf(Matrix<T>& m, int line, bool by_row, bool largest) {
  int best = 0;
  const int depth = by_row ? m.cols : m.rows;
  for (int i = 1; i < depth; ++i) {
    const auto here = static_cast<double>(by_row ? m.at(line, i) : m.at(i, line));
    const auto there = static_cast<double>(by_row ? m.at(line, best) : m.at(best, line));
    if (largest ? here > there : here < there) best = i;
  }
  return best;
}

template <typename T, typename Run>
void CheckRowArg(bool largest, Run&& run) {
  for (const auto& size : {std::pair{8, 64}, {1, 1}, {5, 13}, {7, 33}}) {
    const int rows = size.first;
    const int cols = size.second;
    Matrix<T> a = Sample<T>(rows, cols, 3);
    Matrix<int32_t> column(rows, 1), wide(rows, 1), beside(rows, 1);
    Matrix<T> values(rows, 1);
    GlobalMemory global = MemoryOf(a, column, wide, beside, values);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<8, 64>(a);
      auto tmp = tiles.New<T, 8, 64>(rows, cols);
      auto as_column = tiles.NewColumn<int32_t, 8>(rows);
      auto as_rows = tiles.New<int32_t, 8, 8>(rows, 1);
      auto with = tiles.New<int32_t, 8, 8>(rows, 1);
      auto value = tiles.New<T, 8, 16>(rows, 1);
      run(as_column, x, tmp);
      run(as_rows, x, tmp);
      run(value, with, x, tmp);
      TSTORE(ColumnView(column), as_column);
      TSTORE(ViewOf(wide), as_rows);
      TSTORE(ViewOf(beside), with);
      TSTORE(ViewOf(values), value);
    }));
    for (int r = 0; r < rows; ++r) {
      const int want = PlaceOf(a, r, true, largest);
      EXPECT_EQ(column.at(r, 0), want) << r;
      EXPECT_EQ(wide.at(r, 0), want) << r;
      EXPECT_EQ(beside.at(r, 0), want) << r;
      EXPECT_EQ(static_cast<double>(values.at(r, 0)), static_cast<double>(a.at(r, want))) << r;
    }
  }
}

TEST(Arg, FindsThePlaceInARow) {
  const auto top = [](auto&... t) { TROWARGMAX(t...); };
  const auto low = [](auto&... t) { TROWARGMIN(t...); };
  CheckRowArg<float>(true, top);
  CheckRowArg<half>(true, top);
  CheckRowArg<int16_t>(true, top);
  CheckRowArg<float>(false, low);
  CheckRowArg<int32_t>(false, low);
}

template <typename T, typename Run>
void CheckColArg(bool largest, Run&& run) {
  for (const auto& size : {std::pair{8, 64}, {1, 1}, {5, 13}}) {
    const int rows = size.first;
    const int cols = size.second;
    Matrix<T> a = Sample<T>(rows, cols, 3);
    Matrix<uint32_t> alone(1, cols), beside(1, cols);
    Matrix<T> values(1, cols);
    GlobalMemory global = MemoryOf(a, alone, beside, values);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<8, 64>(a);
      auto tmp = tiles.New<T, 8, 64>(rows, cols);
      auto index = tiles.New<uint32_t, 1, 64>(1, cols);
      auto with = tiles.New<uint32_t, 1, 64>(1, cols);
      auto value = tiles.New<T, 1, 64>(1, cols);
      run(index, x, tmp);
      run(value, with, x, tmp);
      TSTORE(ViewOf(alone), index);
      TSTORE(ViewOf(beside), with);
      TSTORE(ViewOf(values), value);
    }));
    for (int c = 0; c < cols; ++c) {
      const int want = PlaceOf(a, c, false, largest);
      EXPECT_EQ(static_cast<int>(alone.at(0, c)), want) << c;
      EXPECT_EQ(static_cast<int>(beside.at(0, c)), want) << c;
      EXPECT_EQ(static_cast<double>(values.at(0, c)), static_cast<double>(a.at(want, c))) << c;
    }
  }
}

TEST(Arg, FindsThePlaceInAColumn) {
  const auto top = [](auto&... t) { TCOLARGMAX(t...); };
  const auto low = [](auto&... t) { TCOLARGMIN(t...); };
  CheckColArg<float>(true, top);
  CheckColArg<uint16_t>(true, top);
  CheckColArg<half>(false, low);
  CheckColArg<uint32_t>(false, low);
}

}  // namespace
}  // namespace kerf::sim
