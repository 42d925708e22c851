#include <algorithm>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

constexpr int kRows = 8;
constexpr int kCols = 64;

// One value per row, as a column and as column 0 of a row-major tile.
template <typename T, typename Run, typename Wanted>
void CheckRowReduction(int rows, int cols, Run&& run, Wanted&& wanted, double relative) {
  Matrix<T> a = Sample<T>(rows, cols, 3);
  Matrix<T> d(rows, 1), e(rows, 1);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  AddTo(global, e, "e");
  ExpectClean(RunBody(global, [&] {
    Vec<T, kRows, kCols> x(rows, cols), tmp(rows, cols);
    Column<T, 16> column(rows);
    Vec<T, kRows, 32> wide(rows, 1);
    TASSIGN(x, 0x0);
    TASSIGN(tmp, 0x1000);
    TASSIGN(column, 0x2000);
    TASSIGN(wide, 0x3000);
    TLOAD(x, ViewOf(a));
    run(column, x, tmp);
    run(wide, x, tmp);
    GlobalTensor<T, Shape<1, 1, 1, DYNAMIC, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN> to(
        d.data.data(), Shape<1, 1, 1, DYNAMIC, 1>(rows));
    TSTORE(to, column);
    TSTORE(ViewOf(e), wide);
  }));
  const auto want = [&](int r, int) {
    std::vector<double> row;
    for (int c = 0; c < cols; ++c) row.push_back(static_cast<double>(a.at(r, c)));
    return wanted(row);
  };
  ExpectNear<T>(d, want, relative, "column");
  ExpectNear<T>(e, want, relative, "row-major");
}

double SumOf(const std::vector<double>& row) {
  double sum = 0;
  for (const double value : row) sum += value;
  return sum;
}

TEST(Rows, Reduce) {
  for (const auto& size : {std::pair{8, 64}, {1, 1}, {5, 13}, {7, 33}}) {
    const int rows = size.first;
    const int cols = size.second;
    const auto sum = [](auto& d, auto& a, auto& t) { TROWSUM(d, a, t); };
    const auto top = [](auto& d, auto& a, auto& t) { TROWMAX(d, a, t); };
    const auto low = [](auto& d, auto& a, auto& t) { TROWMIN(d, a, t); };
    CheckRowReduction<float>(rows, cols, sum, SumOf, 1e-6);
    CheckRowReduction<half>(rows, cols, sum, SumOf, 2e-3);
    CheckRowReduction<int32_t>(rows, cols, sum, SumOf, 0);
    CheckRowReduction<float>(
        rows, cols, top, [](const auto& row) { return *std::max_element(row.begin(), row.end()); },
        0);
    CheckRowReduction<int16_t>(
        rows, cols, top, [](const auto& row) { return *std::max_element(row.begin(), row.end()); },
        0);
    CheckRowReduction<float>(
        rows, cols, low, [](const auto& row) { return *std::min_element(row.begin(), row.end()); },
        0);
  }
}

TEST(Rows, ReduceColumns) {
  Matrix<float> a = Sample<float>(5, 13, 4);
  Matrix<float> d(1, 13), e(1, 13);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  AddTo(global, e, "e");
  ExpectClean(RunBody(global, [&] {
    Vec<float, kRows, kCols> x(5, 13);
    Vec<float, 1, kCols> sum(1, 13), top(1, 13);
    TASSIGN(x, 0x0);
    TASSIGN(sum, 0x1000);
    TASSIGN(top, 0x2000);
    TLOAD(x, ViewOf(a));
    TCOLSUM(sum, x);
    TCOLMAX(top, x);
    TSTORE(ViewOf(d), sum);
    TSTORE(ViewOf(e), top);
  }));
  const auto column = [&](int c) {
    std::vector<double> values;
    for (int r = 0; r < 5; ++r) values.push_back(static_cast<double>(a.at(r, c)));
    return values;
  };
  ExpectNear<float>(
      d, [&](int, int c) { return SumOf(column(c)); }, 1e-6, "sum");
  ExpectNear<float>(
      e,
      [&](int, int c) {
        const auto v = column(c);
        return *std::max_element(v.begin(), v.end());
      },
      0, "max");
}

// a op s with one s per row (a column, or a block of 32 bytes per row) and per column.
template <typename T, typename Run, typename Wanted>
void CheckExpansion(bool by_row, Run&& run, Wanted&& wanted, double relative) {
  constexpr int rows = 5, cols = 19;
  Matrix<T> a = Sample<T>(rows, cols, 5);
  Matrix<T> s = by_row ? Sample<T>(rows, 1, 6) : Sample<T>(1, cols, 6);
  for (T& value : s.data)
    if (static_cast<double>(value) == 0) value = static_cast<T>(2);
  Matrix<T> d(rows, cols);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, s, "s");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Vec<T, kRows, kCols> x(rows, cols), z(rows, cols);
    TASSIGN(x, 0x0);
    TASSIGN(z, 0x1000);
    TLOAD(x, ViewOf(a));
    if (by_row) {
      Column<T, 16> column(rows);
      TASSIGN(column, 0x2000);
      GlobalTensor<T, Shape<1, 1, 1, DYNAMIC, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN> from(
          s.data.data(), Shape<1, 1, 1, DYNAMIC, 1>(rows));
      TLOAD(column, from);
      run(z, x, column);
    } else {
      Vec<T, 1, kCols> row(1, cols);
      TASSIGN(row, 0x2000);
      TLOAD(row, ViewOf(s));
      run(z, x, row);
    }
    TSTORE(ViewOf(d), z);
  }));
  ExpectNear<T>(
      d,
      [&](int r, int c) {
        return wanted(static_cast<double>(a.at(r, c)),
                      static_cast<double>(by_row ? s.at(r, 0) : s.at(0, c)));
      },
      relative, "expansion");
}

#define CHECK_EXPANSION(T, BY_ROW, NAME, EXPRESSION, RELATIVE)  \
  CheckExpansion<T>(                                            \
      BY_ROW, [](auto& d, auto& a, auto& s) { NAME(d, a, s); }, \
      [](double x, double y) { return static_cast<double>(EXPRESSION); }, RELATIVE);

TEST(Rows, SpreadAColumn){
    CHECK_EXPANSION(float, true, TROWEXPANDMUL, x* y,
                    1e-6) CHECK_EXPANSION(float, true, TROWEXPANDSUB, x - y, 1e-6)
        CHECK_EXPANSION(float, true, TROWEXPANDDIV, x / y,
                        1e-6) CHECK_EXPANSION(float, true, TROWEXPANDADD, x + y, 1e-6)
            CHECK_EXPANSION(half, true, TROWEXPANDMUL, x* y, 1e-3)
                CHECK_EXPANSION(int32_t, true, TROWEXPANDSUB, x - y, 0)
                    CHECK_EXPANSION(float, true, TROWEXPANDMAX, std::max(x, y), 0)
                        CHECK_EXPANSION(int16_t, true, TROWEXPANDMIN, std::min(x, y), 0)
                            CHECK_EXPANSION(float, true, TROWEXPANDEXPDIF, std::exp(x - y), 1e-6)}

TEST(Rows, SpreadARow){
    CHECK_EXPANSION(float, false, TCOLEXPANDMUL, x* y, 1e-6)
        CHECK_EXPANSION(float, false, TCOLEXPANDADD, x + y, 1e-6)
            CHECK_EXPANSION(float, false, TCOLEXPANDEXPDIF, std::exp(x - y), 1e-6)
                CHECK_EXPANSION(half, false, TCOLEXPANDMUL, x* y, 1e-3)
                    CHECK_EXPANSION(float, false, TCOLEXPANDSUB, x - y, 1e-6)
                        CHECK_EXPANSION(half, false, TCOLEXPANDDIV, x / y, 1e-3)
                            CHECK_EXPANSION(int32_t, false, TCOLEXPANDMAX, std::max(x, y), 0)
                                CHECK_EXPANSION(float, false, TCOLEXPANDMIN, std::min(x, y), 0)}

TEST(Rows, CopyAColumnAndARow) {
  Matrix<half> column = Sample<half>(5, 1, 5), row = Sample<half>(1, 19, 6);
  Matrix<half> by_row(5, 19), by_col(5, 19);
  GlobalMemory global = MemoryOf(column, row, by_row, by_col);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto c = tiles.Load<8, 16>(column);
    auto r = tiles.Load<1, 32>(row);
    auto d = tiles.New<half, 8, 32>(5, 19);
    TROWEXPAND(d, c);
    TSTORE(ViewOf(by_row), d);
    TCOLEXPAND(d, r);
    TSTORE(ViewOf(by_col), d);
  }));
  ExpectNear<half>(
      by_row, [&](int r, int) { return static_cast<double>(column.at(r, 0)); }, 0, "TROWEXPAND");
  ExpectNear<half>(
      by_col, [&](int, int c) { return static_cast<double>(row.at(0, c)); }, 0, "TCOLEXPAND");
}

// Products of small factors, so that they stay exact; the smallest of a column.
template <typename T>
void CheckProducts(double relative) {
  for (const auto& size : {std::pair{8, 64}, {1, 1}, {5, 13}}) {
    const int rows = size.first;
    const int cols = size.second;
    Matrix<T> a(rows, cols);
    for (size_t i = 0; i < a.data.size(); ++i)
      a.data[i] = static_cast<T>(i % 7 == 3 ? 2 : i % 11 == 5 ? -1 : 1);
    Matrix<T> by_row(rows, 1), by_col(1, cols), low(1, cols);
    GlobalMemory global = MemoryOf(a, by_row, by_col, low);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<8, 64>(a);
      auto tmp = tiles.New<T, 8, 64>(rows, cols);
      auto r = tiles.New<T, 8, 16>(rows, 1);
      auto c = tiles.New<T, 1, 64>(1, cols);
      TROWPROD(r, x, tmp);
      TSTORE(ViewOf(by_row), r);
      TCOLPROD(c, x, tmp);
      TSTORE(ViewOf(by_col), c);
      TCOLMIN(c, x, tmp);
      TSTORE(ViewOf(low), c);
    }));
    const auto at = [&](int r, int c) { return static_cast<double>(a.at(r, c)); };
    ExpectNear<T>(
        by_row,
        [&](int r, int) {
          double product = 1;
          for (int c = 0; c < a.cols; ++c) product *= at(r, c);
          return product;
        },
        relative, "TROWPROD");
    ExpectNear<T>(
        by_col,
        [&](int, int c) {
          double product = 1;
          for (int r = 0; r < a.rows; ++r) product *= at(r, c);
          return product;
        },
        relative, "TCOLPROD");
    ExpectNear<T>(
        low,
        [&](int, int c) {
          double least = at(0, c);
          for (int r = 1; r < a.rows; ++r) least = std::min(least, at(r, c));
          return least;
        },
        0, "TCOLMIN");
  }
}

TEST(Rows, MultiplyUp) {
  CheckProducts<float>(1e-6);
  CheckProducts<half>(1e-3);
  CheckProducts<int32_t>(0);
}

TEST(Rows, SpreadBlocksOf32Bytes) {
  // s has 8 columns: element j uses s[i, j mod 8].
  Matrix<float> a = Sample<float>(4, 16, 7);
  Matrix<float> s = Sample<float>(4, 8, 8);
  Matrix<float> d(4, 16);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, s, "s");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Vec<float, 4, 16> x(4, 16), z(4, 16);
    Vec<float, 4, 8> y(4, 8);
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x1000);
    TASSIGN(z, 0x2000);
    TLOAD(x, ViewOf(a));
    TLOAD(y, ViewOf(s));
    TROWEXPANDMUL(z, x, y);
    TSTORE(ViewOf(d), z);
  }));
  ExpectNear<float>(
      d, [&](int r, int c) { return static_cast<double>(a.at(r, c) * s.at(r, c % 8)); }, 1e-6,
      "blocks");
}

}  // namespace
}  // namespace kerf::sim
