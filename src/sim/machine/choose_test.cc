// Instructions that choose, scatter, weave and count, each against a plain loop.
#include <algorithm>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

// --- within UB ---

template <typename T>
void CheckGatherBlocks() {
  constexpr int kBlock = 32 / static_cast<int>(sizeof(T));
  for (const int cols : {64, 64 - kBlock / 2, kBlock + 1}) {
    Matrix<T> a = Sample<T>(8, 64, 1);
    const int blocks = (cols + kBlock - 1) / kBlock;
    Matrix<uint32_t> offsets(3, blocks);
    for (size_t i = 0; i < offsets.data.size(); ++i)
      offsets.data[i] = static_cast<uint32_t>(i * 7 % (8 * 64 / kBlock) * 32);
    Matrix<T> out(3, cols);
    GlobalMemory global = MemoryOf(a, offsets, out);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<8, 64>(a);
      auto at = tiles.Load<4, 16>(offsets);
      auto d = tiles.New<T, 4, 64>(3, cols);
      TGATHERB(d, x, at);
      TSTORE(ViewOf(out), d);
    }));
    ExpectNear<T>(
        out,
        [&](int r, int c) {
          const size_t element =
              offsets.at(r, c / kBlock) / sizeof(T) + static_cast<size_t>(c % kBlock);
          return static_cast<double>(a.data[element]);
        },
        0, "TGATHERB");
  }
}

TEST(Choose, GathersBlocksByByteOffset) {
  CheckGatherBlocks<float>();
  CheckGatherBlocks<half>();
  CheckGatherBlocks<int32_t>();
}

template <typename T, typename I>
void CheckScatter() {
  for (const auto& size : {std::pair{4, 16}, {3, 5}, {1, 1}}) {
    const int rows = size.first;
    const int cols = size.second;
    Matrix<T> a = Sample<T>(rows, cols, 2);
    Matrix<I> places(rows, cols);
    for (size_t i = 0; i < places.data.size(); ++i) places.data[i] = static_cast<I>(i * 11 % 128);
    Matrix<T> out(8, 32), before = Sample<T>(8, 32, 3);
    GlobalMemory global = MemoryOf(a, places, before, out);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<4, 32>(a);
      auto at = tiles.Load<4, 32>(places);
      auto d = tiles.Load<8, 32>(before);
      TSCATTER(d, x, at);
      TSTORE(ViewOf(out), d);
    }));
    Matrix<T> wanted = before;
    for (size_t i = 0; i < places.data.size(); ++i)
      wanted.data[static_cast<size_t>(places.data[i])] = a.data[i];
    ExpectNear<T>(
        out, [&](int r, int c) { return static_cast<double>(wanted.at(r, c)); }, 0, "TSCATTER");
  }
}

TEST(Choose, ScattersToFlatPlaces) {
  CheckScatter<float, int32_t>();
  CheckScatter<half, uint16_t>();
  CheckScatter<int8_t, int16_t>();
}

template <MaskPattern Pattern, ScatterAxis Axis, typename T>
void CheckScatterPattern(int first, int step) {
  const bool down = Axis == ScatterAxis::SCATTER_COL;
  const int rows = 3, cols = 5;
  Matrix<T> a = Sample<T>(rows, cols, 2);
  const int high = down ? rows * step : rows;
  const int wide = down ? cols : cols * step;
  Matrix<T> out(high, wide);
  GlobalMemory global = MemoryOf(a, out);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<4, 32>(a);
    auto d = tiles.New<T, 16, 32>(high, wide);
    TSCATTER<Pattern, Axis>(d, x);
    TSTORE(ViewOf(out), d);
  }));
  ExpectNear<T>(
      out,
      [&](int r, int c) {
        const int place = down ? r : c;
        if (place % step != first) return 0.0;
        return static_cast<double>(down ? a.at(r / step, c) : a.at(r, c / step));
      },
      0, "TSCATTER by pattern");
}

TEST(Choose, ScattersByPatternWithZerosBetween) {
  constexpr auto kRow = ScatterAxis::SCATTER_ROW, kCol = ScatterAxis::SCATTER_COL;
  CheckScatterPattern<MaskPattern::P0101, kRow, float>(0, 2);
  CheckScatterPattern<MaskPattern::P1010, kRow, half>(1, 2);
  CheckScatterPattern<MaskPattern::P0010, kRow, float>(1, 4);
  CheckScatterPattern<MaskPattern::P1000, kCol, int32_t>(3, 4);
  CheckScatterPattern<MaskPattern::P1111, kRow, float>(0, 1);
}

TEST(Choose, GathersWhatComparesWithItsRow) {
  Matrix<float> a = Sample<float>(5, 13, 2), limits(5, 1);
  for (int r = 0; r < 5; ++r) limits.at(r, 0) = static_cast<float>(r) - 2;
  Matrix<int32_t> found(5, 16), counts(5, 1);
  GlobalMemory global = MemoryOf(a, limits, found, counts);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<8, 16>(a);
    auto limit = tiles.Load<8, 8>(limits);
    auto d = tiles.New<int32_t, 8, 16>(5, 16);
    auto count = tiles.New<int32_t, 8, 8>(5, 1);
    auto tmp = tiles.New<float, 8, 16>(5, 13);
    TEXPANDS(d, -1);
    TGATHER<decltype(d), decltype(x), decltype(limit), decltype(count), decltype(tmp), CmpMode::GT>(
        d, x, limit, count, tmp, 100);
    TSTORE(ViewOf(found), d);
    TSTORE(ViewOf(counts), count);
  }));
  for (int r = 0; r < 5; ++r) {
    int next = 0;
    for (int c = 0; c < 13; ++c) {
      if (a.at(r, c) > limits.at(r, 0)) {
        EXPECT_EQ(found.at(r, next), 100 + c) << r << ", " << c;
        ++next;
      }
    }
    EXPECT_EQ(counts.at(r, 0), next) << r;
  }
}

template <typename T>
void CheckCompareWithScalar(CmpMode mode, const std::function<bool(double, double)>& holds) {
  Matrix<T> a = Sample<T>(5, 13, 2), out(5, 13);
  GlobalMemory global = MemoryOf(a, out);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<8, 32>(a);
    auto mask = tiles.New<uint8_t, 8, 32>(5, 32);
    auto tmp = tiles.New<T, 1, 32>(1, 32);
    auto d = tiles.New<T, 8, 32>(5, 13);
    TCMPS(mask, x, 2, mode);
    TSELS(d, mask, x, tmp, 7);
    TSTORE(ViewOf(out), d);
  }));
  ExpectNear<T>(
      out,
      [&](int r, int c) {
        const auto value = static_cast<double>(a.at(r, c));
        return holds(value, 2) ? value : 7;
      },
      0, "TCMPS, TSELS");
}

TEST(Choose, ComparesWithAScalarAndSelects) {
  CheckCompareWithScalar<float>(CmpMode::EQ, std::equal_to<>());
  CheckCompareWithScalar<half>(CmpMode::NE, std::not_equal_to<>());
  CheckCompareWithScalar<int32_t>(CmpMode::LT, std::less<>());
  CheckCompareWithScalar<float>(CmpMode::GT, std::greater<>());
  CheckCompareWithScalar<int16_t>(CmpMode::GE, std::greater_equal<>());
  CheckCompareWithScalar<float>(CmpMode::LE, std::less_equal<>());
}

template <typename T, int Upper>
void CheckTriangle() {
  for (const int diagonal : {0, 2, -3}) {
    for (const auto& size : {std::pair{8, 32}, {5, 13}, {1, 1}}) {
      const int rows = size.first;
      const int cols = size.second;
      Matrix<T> out(rows, cols);
      GlobalMemory global = MemoryOf(out);
      ExpectClean(RunBody(global, [&] {
        Tiles tiles;
        auto d = tiles.New<T, 8, 32>(rows, cols);
        TTRI<decltype(d), Upper>(d, diagonal);
        TSTORE(ViewOf(out), d);
      }));
      ExpectNear<T>(
          out,
          [&](int r, int c) {
            return (Upper == 1 ? c >= r + diagonal : c <= r + diagonal) ? 1.0 : 0.0;
          },
          0, "TTRI");
    }
  }
}

TEST(Make, MakesTriangles) {
  CheckTriangle<float, 0>();
  CheckTriangle<half, 1>();
  CheckTriangle<int16_t, 0>();
  CheckTriangle<int32_t, 1>();
}

template <typename T>
void CheckWeave() {
  for (const int cols : {32, 14}) {
    Matrix<T> a = Sample<T>(5, cols, 1), b = Sample<T>(5, cols, 2);
    Matrix<T> low(5, cols), high(5, cols), back_a(5, cols), back_b(5, cols), even(5, cols / 2),
        odd(5, cols / 2);
    GlobalMemory global = MemoryOf(a, b, low, high, back_a, back_b, even, odd);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<8, 32>(a);
      auto y = tiles.Load<8, 32>(b);
      auto d0 = tiles.New<T, 8, 32>(5, cols);
      auto d1 = tiles.New<T, 8, 32>(5, cols);
      auto e0 = tiles.New<T, 8, 32>(5, cols);
      auto e1 = tiles.New<T, 8, 32>(5, cols);
      auto f0 = tiles.New<T, 8, 32>(5, cols / 2);
      auto f1 = tiles.New<T, 8, 32>(5, cols / 2);
      TINTERLEAVE(d1, d0, y, x);
      TDEINTERLEAVE(e1, e0, d1, d0);
      TDeInterleave(f1, f0, x);
      TSTORE(ViewOf(low), d0);
      TSTORE(ViewOf(high), d1);
      TSTORE(ViewOf(back_a), e0);
      TSTORE(ViewOf(back_b), e1);
      TSTORE(ViewOf(even), f0);
      TSTORE(ViewOf(odd), f1);
      TInterleave(d1, d0, y, x);  // the other spelling
    }));
    const auto woven = [&](int r, int k) {
      return static_cast<double>(k % 2 == 0 ? a.at(r, k / 2) : b.at(r, k / 2));
    };
    ExpectNear<T>(low, woven, 0, "first half");
    ExpectNear<T>(
        high, [&](int r, int c) { return woven(r, cols + c); }, 0, "second half");
    ExpectNear<T>(
        back_a, [&](int r, int c) { return static_cast<double>(a.at(r, c)); }, 0, "back");
    ExpectNear<T>(
        back_b, [&](int r, int c) { return static_cast<double>(b.at(r, c)); }, 0, "back");
    ExpectNear<T>(
        even, [&](int r, int c) { return static_cast<double>(a.at(r, 2 * c)); }, 0, "even");
    ExpectNear<T>(
        odd, [&](int r, int c) { return static_cast<double>(a.at(r, 2 * c + 1)); }, 0, "odd");
  }
}

TEST(Make, WeavesRowsTogetherAndApart) {
  CheckWeave<float>();
  CheckWeave<half>();
  CheckWeave<int8_t>();
}

template <typename T>
void CheckPairSums(double relative) {
  for (const int cols : {32, 13, 1}) {
    Matrix<T> a = Sample<T>(5, cols, 1), out(5, cols);
    GlobalMemory global = MemoryOf(a, out);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto x = tiles.Load<8, 32>(a);
      auto d = tiles.New<T, 8, 32>(5, cols);
      TPAIRREDUCESUM(d, x);
      TSTORE(ViewOf(out), d);
    }));
    ExpectNear<T>(
        out,
        [&](int r, int c) {
          const auto at = [&](int i) { return i < cols ? static_cast<double>(a.at(r, i)) : 0; };
          return 2 * c < cols ? at(2 * c) + at(2 * c + 1) : 0;
        },
        relative, "TPAIRREDUCESUM");
  }
}

TEST(Make, SumsNeighbours) {
  CheckPairSums<float>(1e-6);
  CheckPairSums<half>(1e-3);
}

// The first byte without a filter, the next one among those with the given bytes above.
TEST(Make, CountsBytes) {
  Matrix<uint16_t> a(3, 64);
  Matrix<uint32_t> wide(2, 64);
  std::mt19937 random(3);
  for (auto& x : a.data) x = static_cast<uint16_t>((random() % 3 << 8) | random() % 5);
  for (auto& x : wide.data)
    x = static_cast<uint32_t>((random() % 2 << 24) | (random() % 2 << 16) | random() % 7);
  Matrix<uint8_t> column(3, 1), lines(2, 32);
  for (int r = 0; r < 3; ++r) column.at(r, 0) = static_cast<uint8_t>(r);
  for (int c = 0; c < 32; ++c) {
    lines.at(0, c) = static_cast<uint8_t>(c % 2);
    lines.at(1, c) = 1;
  }
  Matrix<uint32_t> top(3, 256), low(3, 256), second(2, 256);
  GlobalMemory global = MemoryOf(a, wide, column, lines, top, low, second);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<4, 64>(a);
    auto y = tiles.Load<4, 64>(wide);
    auto above = tiles.NewColumn<uint8_t, 32>(3);
    TLOAD(above, ColumnView(column));
    auto filters = tiles.Load<2, 32>(lines);
    auto d = tiles.New<uint32_t, 4, 256>(3, 256);
    auto e = tiles.New<uint32_t, 4, 256>(3, 256);
    auto f = tiles.New<uint32_t, 4, 256>(2, 256);
    THISTOGRAM<HistByte::BYTE_1>(d, x, above);
    THISTOGRAM<HistByte::BYTE_0>(e, x, above);
    THISTOGRAM<HistByte::BYTE_1>(f, y, filters);
    TSTORE(ViewOf(top), d);
    TSTORE(ViewOf(low), e);
    TSTORE(ViewOf(second), f);
  }));
  const auto count = [](auto& m, int r, const auto& which) {
    double n = 0;
    for (int c = 0; c < m.cols; ++c) n += which(m.at(r, c)) ? 1 : 0;
    return n;
  };
  ExpectNear<uint32_t>(
      top, [&](int r, int b) { return count(a, r, [&](int x) { return x >> 8 == b; }); }, 0, "top");
  ExpectNear<uint32_t>(
      low,
      [&](int r, int b) {
        return count(a, r, [&](int x) { return x >> 8 == r && (x & 255) == b; });
      },
      0, "low");
  ExpectNear<uint32_t>(
      second,
      [&](int r, int b) {
        return count(wide, r, [&](uint32_t x) {
          return x >> 24 == static_cast<uint32_t>(r % 2) && (x >> 16 & 255) == 1 &&
                 (x >> 8 & 255) == static_cast<uint32_t>(b);
        });
      },
      0, "second of four");
}

// --- global memory by index ---

template <typename T>
void CheckGatherElements() {
  Matrix<T> table = Sample<T>(7, 20, 1);
  Matrix<int32_t> places(5, 13);
  for (size_t i = 0; i < places.data.size(); ++i)
    places.data[i] = static_cast<int32_t>(i * 9 % 200) - 20;
  Matrix<T> clamped(5, 13), wrapped(5, 13), zeroed(5, 13);
  GlobalMemory global = MemoryOf(table, places, clamped, wrapped, zeroed);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto at = tiles.Load<8, 16>(places);
    auto d = tiles.New<T, 8, 32>(5, 13);
    MGATHER<Coalesce::Elem, GatherOOB::Clamp>(d, ViewOf(table), at);
    TSTORE(ViewOf(clamped), d);
    MGATHER<Coalesce::Elem, GatherOOB::Wrap>(d, ViewOf(table), at);
    TSTORE(ViewOf(wrapped), d);
    MGATHER<Coalesce::Elem, GatherOOB::Zero>(d, ViewOf(table), at);
    TSTORE(ViewOf(zeroed), d);
  }));
  const int all = 140;
  const auto value = [&](int i) { return static_cast<double>(table.data[static_cast<size_t>(i)]); };
  ExpectNear<T>(
      clamped, [&](int r, int c) { return value(std::clamp(places.at(r, c), 0, all - 1)); }, 0,
      "clamp");
  ExpectNear<T>(
      wrapped, [&](int r, int c) { return value((places.at(r, c) % all + all) % all); }, 0, "wrap");
  ExpectNear<T>(
      zeroed,
      [&](int r, int c) {
        const int i = places.at(r, c);
        return i < 0 || i >= all ? 0 : value(i);
      },
      0, "zero");
}

TEST(ByIndex, GathersElements) {
  CheckGatherElements<float>();
  CheckGatherElements<half>();
  CheckGatherElements<int8_t>();
}

TEST(ByIndex, GathersRowsByALineAndByAColumn) {
  Matrix<float> table = Sample<float>(9, 13, 1);
  Matrix<int32_t> places(5, 1);
  for (int r = 0; r < 5; ++r) places.at(r, 0) = 7 - 2 * r < 0 ? 0 : 7 - 2 * r;
  Matrix<float> by_line(5, 13), by_column(5, 13);
  GlobalMemory global = MemoryOf(table, places, by_line, by_column);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto column = tiles.NewColumn<int32_t, 8>(5);
    TLOAD(column, ColumnView(places));
    Matrix<int32_t> line(1, 5);
    auto row = tiles.New<int32_t, 1, 8>(1, 5);
    for (int i = 0; i < 5; ++i) row.SetValue(i, places.at(i, 0));
    auto d = tiles.New<float, 8, 16>(5, 13);
    MGATHER<Coalesce::Row>(d, ViewOf(table), row);
    TSTORE(ViewOf(by_line), d);
    MGATHER<Coalesce::Row>(d, ViewOf(table), column);
    TSTORE(ViewOf(by_column), d);
  }));
  const auto want = [&](int r, int c) { return static_cast<double>(table.at(places.at(r, 0), c)); };
  ExpectNear<float>(by_line, want, 0, "line");
  ExpectNear<float>(by_column, want, 0, "column");
}

TEST(ByIndex, FindsAnIndexOutside) {
  Matrix<float> table(2, 8);
  GlobalMemory global = MemoryOf(table);
  const LaunchResult result = RunBody(global, [&] {
    Tiles tiles;
    auto at = tiles.New<int32_t, 1, 8>(1, 8);
    auto d = tiles.New<float, 1, 8>(1, 8);
    TEXPANDS(at, 16);
    MGATHER<Coalesce::Elem>(d, ViewOf(table), at);
  });
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::kIndex);
}

template <typename T>
void CheckScatterRows(ScatterAtomicOp atomic) {
  Matrix<T> a = Sample<T>(5, 13, 1), table = Sample<T>(9, 13, 2);
  Matrix<T> wanted = table;
  Matrix<int32_t> places(1, 5);
  const int to[] = {3, 8, 3, 11, 0};  // one twice, one outside
  for (int i = 0; i < 5; ++i) {
    places.at(0, i) = to[i];
    for (int c = 0; to[i] < 9 && c < 13; ++c) {
      const T old = wanted.at(to[i], c);
      const T x = a.at(i, c);
      wanted.at(to[i], c) = atomic == ScatterAtomicOp::Add   ? static_cast<T>(old + x)
                            : atomic == ScatterAtomicOp::Max ? std::max(old, x)
                            : atomic == ScatterAtomicOp::Min ? std::min(old, x)
                                                             : x;
    }
  }
  GlobalMemory global = MemoryOf(a, table, places);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<8, 16>(a);
    auto at = tiles.Load<1, 8>(places);
    const auto view = ViewOf(table);
    constexpr auto kSkip = ScatterOOB::Skip;
    if (atomic == ScatterAtomicOp::Add)
      MSCATTER<Coalesce::Row, ScatterAtomicOp::Add, kSkip>(view, x, at);
    else if (atomic == ScatterAtomicOp::Max)
      MSCATTER<Coalesce::Row, ScatterAtomicOp::Max, kSkip>(view, x, at);
    else if (atomic == ScatterAtomicOp::Min)
      MSCATTER<Coalesce::Row, ScatterAtomicOp::Min, kSkip>(view, x, at);
    else
      MSCATTER<Coalesce::Row, ScatterAtomicOp::None, kSkip>(view, x, at);
  }));
  ExpectNear<T>(
      table, [&](int r, int c) { return static_cast<double>(wanted.at(r, c)); }, 1e-6, "MSCATTER");
}

TEST(ByIndex, ScattersRows) {
  CheckScatterRows<float>(ScatterAtomicOp::None);
  CheckScatterRows<float>(ScatterAtomicOp::Add);
  CheckScatterRows<int32_t>(ScatterAtomicOp::Max);
  CheckScatterRows<float>(ScatterAtomicOp::Min);
}

}  // namespace
}  // namespace kerf::sim
