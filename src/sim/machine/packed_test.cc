// Values of 4 bits: two in a byte, in every layout, from and to other types.
#include "sim/machine/packed_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

template <typename T, int Rows, int Cols>
using Nz =
    Tile<TileType::Mat, T, Rows, Cols, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
template <typename T, int Rows, int Cols>
using Zn =
    Tile<TileType::Mat, T, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::ColMajor, 512>;

template <typename T>
void ExpectSame(const Codes<T>& got, const Codes<T>& want, int row0 = 0, int col0 = 0) {
  for (int r = 0; r < got.rows; ++r) {
    for (int c = 0; c < got.cols; ++c)
      ASSERT_EQ(got.Code(r, c), want.Code(row0 + r, col0 + c)) << r << ", " << c;
  }
}

void CheckCopy(int rows, int cols) {
  auto in = Codes<float4_e2m1x2_t>::Random(rows, cols, 1);
  Codes<float4_e2m1x2_t> out(rows, cols);
  GlobalMemory global;
  in.AddTo(global, "in");
  out.AddTo(global, "out");
  ExpectClean(RunBody(
      global,
      [&] {
        Vec<float4_e2m1x2_t, 8, 64> tile(rows, cols);
        TASSIGN(tile, 0x20);
        TLOAD(tile, in.View());
        TSTORE(out.View(), tile);
      },
      kerf_log::CoreKind::kAiv, kA5Memories));
  ExpectSame(out, in);
}

TEST(Packed, LoadsAndStoresHalvesOfBytes) {
  for (const auto& [rows, cols] : {std::pair{8, 64}, {5, 30}, {3, 7}, {1, 1}})
    CheckCopy(rows, cols);
}

TEST(Packed, TakesHalfAByteOfItsMemory) {
  GlobalMemory global;
  const auto at = [&](uint64_t address) {
    return RunBody(
        global,
        [&] {
          Tile<TileType::Mat, float4_e2m1x2_t, 256, 256, BLayout::ColMajor, 256, 256,
               SLayout::RowMajor, 512>
              tile;
          TASSIGN(tile, address);
        },
        kerf_log::CoreKind::kAic, kA5Memories);
  };
  constexpr uint64_t kL1 = uint64_t{512} * 1024;
  ExpectClean(at(kL1 - 256 * 256 / 2));
  const LaunchResult behind = at(kL1 - 256 * 256 / 2 + 32);
  ASSERT_EQ(behind.findings.size(), 1U);
  EXPECT_EQ(behind.findings[0].kind, FindingKind::kOutOfRange);
}

// A row of a box has 32 bytes, hence 64 values.
TEST(Packed, BoxesHoldSixtyFourValuesInARow) {
  auto in = Codes<float4_e1m2x2_t>::Random(32, 128, 2);
  std::vector<uint8_t> seen;
  GlobalMemory global;
  in.AddTo(global, "in");
  ExpectClean(RunBody(
      global,
      [&] {
        Nz<float4_e1m2x2_t, 32, 128> tile(32, 128);
        TASSIGN(tile, 0);
        TLOAD(tile, in.View());
        const auto* bytes = reinterpret_cast<const uint8_t*>(tile.data());
        seen.assign(bytes, bytes + 2048);
      },
      kerf_log::CoreKind::kAic, kA5Memories));
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 128; ++c) {
      const int at = c / 64 * (32 * 64) + r * 64 + c % 64;
      const uint8_t byte = seen[static_cast<size_t>(at / 2)];
      ASSERT_EQ(at % 2 == 0 ? byte & 15 : byte >> 4, in.Code(r, c)) << r << ", " << c;
    }
  }
}

TEST(Packed, MovesPartsBetweenLayouts) {
  auto in = Codes<float4_e2m1x2_t>::Random(32, 128, 3);
  Codes<float4_e2m1x2_t> part(13, 62), whole(32, 128), turned(32, 128, true);
  GlobalMemory global;
  in.AddTo(global, "in");
  part.AddTo(global, "part");
  whole.AddTo(global, "whole");
  turned.AddTo(global, "turned");
  ExpectClean(RunBody(
      global,
      [&] {
        Vec<float4_e2m1x2_t, 32, 128> plain(32, 128);
        TASSIGN(plain, 0);
        TLOAD(plain, in.View());
        Vec<float4_e2m1x2_t, 16, 64> window(13, 62);
        TASSIGN(window, 0x1000);
        TEXTRACT(window, plain, 4, 65);
        TSTORE(part.View(), window);
        Vec<float4_e2m1x2_t, 32, 128> copy(32, 128);
        TASSIGN(copy, 0x2000);
        TMOV(copy, plain);
        TINSERT(copy, window, 4, 65);
        TSTORE(whole.View(), copy);
        Tile<TileType::Vec, float4_e2m1x2_t, 32, 128, BLayout::ColMajor> columns;
        TASSIGN(columns, 0x3000);
        TMOV(columns, plain);
        TSTORE(turned.ColumnsView(), columns);
      },
      kerf_log::CoreKind::kAiv, kA5Memories));
  ExpectSame(part, in, 4, 65);
  ExpectSame(whole, in);
  ExpectSame(turned, in);
}

TEST(Packed, FindsWhatNobodyWrote) {
  Codes<float4_e2m1x2_t> out(1, 64);
  GlobalMemory global;
  out.AddTo(global, "out");
  const LaunchResult result = RunBody(
      global,
      [&] {
        Vec<float4_e2m1x2_t, 1, 64> tile(1, 64);
        TASSIGN(tile, 0x40);
        TSTORE(out.View(), tile);
      },
      kerf_log::CoreKind::kAiv, kA5Memories);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kUnwrittenRead);
}

TEST(Packed, FindsAViewThatLeavesItsTensor) {
  auto in = Codes<float4_e2m1x2_t>::Random(4, 64, 4);
  GlobalMemory global;
  global.AddRegion("in", in.bytes.data(), in.bytes.size() - 1);
  const LaunchResult result = RunBody(
      global,
      [&] {
        Vec<float4_e2m1x2_t, 4, 64> tile(4, 64);
        TASSIGN(tile, 0);
        TLOAD(tile, in.View());
      },
      kerf_log::CoreKind::kAiv, kA5Memories);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kGlobalRange);
}

// All codes there are, to bfloat16 and back.
template <typename T>
void CheckCodes() {
  Codes<T> in(1, 64);
  for (int i = 0; i < 32; ++i)
    in.bytes[static_cast<size_t>(i)].bits =
        static_cast<uint8_t>(2 * i % 16 | (2 * i + 1) % 16 << 4);
  Matrix<bfloat16_t> wide(1, 64);
  Codes<T> back(1, 64);
  GlobalMemory global = MemoryOf(wide);
  in.AddTo(global, "in");
  back.AddTo(global, "back");
  ExpectClean(RunBody(
      global,
      [&] {
        Vec<T, 1, 64> codes(1, 64);
        Vec<bfloat16_t, 1, 64> values(1, 64);
        TASSIGN(codes, 0);
        TASSIGN(values, 0x100);
        TLOAD(codes, in.View());
        TCVT(values, codes, RoundMode::CAST_NONE);
        TSTORE(ViewOf(wide), values);
        TCVT(codes, values, RoundMode::CAST_RINT);
        TSTORE(back.View(), codes);
      },
      kerf_log::CoreKind::kAiv, kA5Memories));
  for (int c = 0; c < 64; ++c)
    EXPECT_EQ(static_cast<double>(wide.at(0, c)), CodeValue<T>(c % 16)) << c;
  ExpectSame(back, in);
}

TEST(Packed, DecodesEveryCode) {
  CheckCodes<float4_e2m1x2_t>();
  CheckCodes<float4_e1m2x2_t>();
}

struct Rounded {
  float value;
  RoundMode mode;
  double e2m1, e1m2;
};

TEST(Packed, RoundsAsAskedAndSaturates) {
  const Rounded kCases[] = {
      {2.5F, RoundMode::CAST_RINT, 2, 1.75},    {3.5F, RoundMode::CAST_RINT, 4, 1.75},
      {5, RoundMode::CAST_RINT, 4, 1.75},       {5.5F, RoundMode::CAST_RINT, 6, 1.75},
      {100, RoundMode::CAST_RINT, 6, 1.75},     {-100, RoundMode::CAST_RINT, -6, -1.75},
      {0.25F, RoundMode::CAST_RINT, 0, 0.25},   {0.75F, RoundMode::CAST_RINT, 1, 0.75},
      {0.375F, RoundMode::CAST_RINT, 0.5, 0.5}, {0.125F, RoundMode::CAST_RINT, 0, 0},
      {2.5F, RoundMode::CAST_ROUND, 3, 1.75},   {0.125F, RoundMode::CAST_ROUND, 0, 0.25},
      {1.3F, RoundMode::CAST_FLOOR, 1, 1.25},   {-1.3F, RoundMode::CAST_FLOOR, -1.5, -1.5},
      {1.3F, RoundMode::CAST_CEIL, 1.5, 1.5},   {-1.3F, RoundMode::CAST_TRUNC, -1, -1.25},
  };
  for (const Rounded& it : kCases) {
    Matrix<bfloat16_t> in(1, 64);
    in.data.assign(in.data.size(), static_cast<bfloat16_t>(it.value));
    Codes<float4_e2m1x2_t> a(1, 64);
    Codes<float4_e1m2x2_t> b(1, 64);
    GlobalMemory global = MemoryOf(in);
    a.AddTo(global, "a");
    b.AddTo(global, "b");
    ExpectClean(RunBody(
        global,
        [&] {
          Vec<bfloat16_t, 1, 64> x(1, 64);
          Vec<float4_e2m1x2_t, 1, 64> first(1, 64);
          Vec<float4_e1m2x2_t, 1, 64> second(1, 64);
          TASSIGN(x, 0);
          TASSIGN(first, 0x100);
          TASSIGN(second, 0x200);
          TLOAD(x, ViewOf(in));
          TCVT(first, x, it.mode);
          TCVT(second, x, it.mode);
          TSTORE(a.View(), first);
          TSTORE(b.View(), second);
        },
        kerf_log::CoreKind::kAiv, kA5Memories));
    EXPECT_EQ(a.Value(0, 63), it.e2m1) << it.value;
    EXPECT_EQ(b.Value(0, 0), it.e1m2) << it.value;
  }
}

TEST(Packed, ConvertsFourBitIntegers) {
  Matrix<half> in(1, 64), wide(1, 64);
  for (int c = 0; c < 64; ++c) in.at(0, c) = static_cast<half>(static_cast<float>(c - 32) / 2);
  Codes<int4b_t> codes(1, 64);
  GlobalMemory global = MemoryOf(in, wide);
  codes.AddTo(global, "codes");
  ExpectClean(RunBody(global, [&] {
    Vec<half, 1, 64> x(1, 64);
    Vec<int4b_t, 1, 64> small(1, 64);
    TASSIGN(x, 0);
    TASSIGN(small, 0x100);
    TLOAD(x, ViewOf(in));
    TCVT(small, x, RoundMode::CAST_RINT);
    TSTORE(codes.View(), small);
    TCVT(x, small, RoundMode::CAST_NONE);
    TSTORE(ViewOf(wide), x);
  }));
  for (int c = 0; c < 64; ++c) {
    const double want = std::min(7.0, std::max(-8.0, std::nearbyint((c - 32) / 2.0)));
    EXPECT_EQ(codes.Value(0, c), want) << c;
    EXPECT_EQ(static_cast<double>(static_cast<float>(wide.at(0, c))), want) << c;
  }
}

TEST(Packed, QuantizesGroupsOf32ToFp4) {
  Matrix<bfloat16_t> in = Sample<bfloat16_t>(4, 64, 6);
  for (int c = 32; c < 64; ++c) in.at(2, c) = static_cast<bfloat16_t>(0.0F);
  in.at(3, 5) = static_cast<bfloat16_t>(1000.0F);
  Codes<float4_e2m1x2_t> out(4, 64);
  Matrix<uint8_t> exponents(4, 2);
  GlobalMemory global = MemoryOf(in, exponents);
  out.AddTo(global, "out");
  ExpectClean(RunBody(
      global,
      [&] {
        Vec<bfloat16_t, 4, 64> x(4, 64), largest(4, 64), scaling(4, 64);
        Vec<float4_e2m1x2_t, 4, 64> d(4, 64);
        Vec<uint8_t, 4, 32> e(4, 2);
        TASSIGN(x, 0);
        TASSIGN(largest, 0x400);
        TASSIGN(scaling, 0x800);
        TASSIGN(d, 0xc00);
        TASSIGN(e, 0x1000);
        TLOAD(x, ViewOf(in));
        TQUANT<1, MxQuantAlg::OcpMxFp4E2M1>(d, x, &e, &largest, &scaling);
        TSTORE(out.View(), d);
        TSTORE(ViewOf(exponents), e);
      },
      kerf_log::CoreKind::kAiv, kA5Memories));
  for (int r = 0; r < 4; ++r) {
    for (int g = 0; g < 2; ++g) {
      double largest = 0;
      for (int i = 0; i < 32; ++i)
        largest = std::max(largest, std::fabs(static_cast<double>(in.at(r, 32 * g + i))));
      const int wanted = largest == 0 ? 0 : std::max(0, std::ilogb(largest) + 127 - 2);
      ASSERT_EQ(exponents.at(r, g), wanted) << r << ", " << g;
      const double scale = std::ldexp(1.0, wanted - 127);
      for (int i = 0; i < 32; ++i) {
        // The nearest of all codes; of two the even one.
        const double x = static_cast<double>(in.at(r, 32 * g + i)) / scale;
        int best = 0;
        for (int code = 0; code < 8; ++code) {
          const double now = std::fabs(CodeValue<float4_e2m1x2_t>(code) - std::fabs(x));
          const double then = std::fabs(CodeValue<float4_e2m1x2_t>(best) - std::fabs(x));
          if (now < then || (now == then && code % 2 == 0)) best = code;
        }
        const double value = std::copysign(CodeValue<float4_e2m1x2_t>(best), x);
        ASSERT_EQ(out.Value(r, 32 * g + i), value) << r << ", " << g << ", " << i << ": " << x;
      }
    }
  }
}

// What TQUANT leaves in rows, as the cube wants its scales: boxes of 16 rows and two columns.
TEST(Packed, MovesExponentsIntoTheBoxesOfScales) {
  Matrix<uint8_t> in = Sample<uint8_t>(32, 32, 8);
  std::vector<uint8_t> seen;
  GlobalMemory global = MemoryOf(in);
  ExpectClean(RunBody(
      global,
      [&] {
        Vec<uint8_t, 32, 32> rows(32, 4), tmp(32, 32);
        Tile<TileType::Vec, uint8_t, 32, 4, BLayout::RowMajor, 32, 4, SLayout::RowMajor, 32> boxes;
        TASSIGN(rows, 0);
        TASSIGN(tmp, 0x400);
        TASSIGN(boxes, 0x800);
        using Part = Shape<1, 1, 1, 32, 4>;
        TLOAD(rows, (GlobalTensor<uint8_t, Part, Stride<1024, 1024, 1024, 32, 1>>(in.data.data())));
        TMOV(boxes, rows, tmp);
        const auto* bytes = boxes.data();
        seen.assign(bytes, bytes + 128);
      },
      kerf_log::CoreKind::kAiv, kA5Memories));
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 4; ++c) {
      const int at = r / 16 * 64 + c / 2 * 32 + r % 16 * 2 + c % 2;
      ASSERT_EQ(seen[static_cast<size_t>(at)], in.at(r, c)) << r << ", " << c;
    }
  }
}

TEST(Packed, IsRefusedByInstructionsThatDoNotKnowIt) {
  GlobalMemory global;
  const auto run = [&](const std::function<void()>& body) {
    const LaunchResult result = RunBody(global, body, kerf_log::CoreKind::kAiv, kA5Memories);
    ASSERT_EQ(result.findings.size(), 1U);
    EXPECT_EQ(result.findings[0].kind, FindingKind::kUnsupported);
  };
  run([] {
    Vec<float4_e2m1x2_t, 1, 64> x(1, 64);
    TASSIGN(x, 0);
    TADD(x, x, x);
  });
  run([] {
    Vec<hifloat8_t, 1, 64> x(1, 64);
    TASSIGN(x, 0);
    TMAX(x, x, x);
  });
  run([] {
    Vec<float4_e2m1x2_t, 1, 64> x(1, 64);
    Vec<half, 1, 64> y(1, 64);
    TASSIGN(x, 0);
    TASSIGN(y, 0x100);
    TCVT(x, y, RoundMode::CAST_RINT);
  });
}

}  // namespace
}  // namespace kerf::sim
