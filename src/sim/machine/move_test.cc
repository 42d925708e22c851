#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

// --- layouts: what goes in by one layout comes out by another, element by element ---

template <typename T, typename TileT>
void CheckRoundTrip(int rows, int cols, const char* what) {
  Matrix<T> a = Sample<T>(rows, cols, 9);
  Matrix<T> d(rows, cols);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    TileT tile(rows, cols);
    TASSIGN(tile, 0x20);
    TLOAD(tile, ViewOf(a));
    TSTORE(ViewOf(d), tile);
  }));
  ExpectNear<T>(
      d, [&](int r, int c) { return static_cast<double>(a.at(r, c)); }, 0, what);
}

template <typename T, BLayout B, SLayout S, int Size = 512>
using Mat = Tile<TileType::Mat, T, 64, 64, B, DYNAMIC, DYNAMIC, S, Size>;

template <typename T>
void CheckLayouts() {
  for (const auto& [rows, cols] : {std::pair{64, 64}, {1, 1}, {17, 33}, {5, 64}}) {
    CheckRoundTrip<T, Mat<T, BLayout::RowMajor, SLayout::NoneBox>>(rows, cols, "ND");
    CheckRoundTrip<T, Mat<T, BLayout::ColMajor, SLayout::NoneBox>>(rows, cols, "DN");
    CheckRoundTrip<T, Mat<T, BLayout::ColMajor, SLayout::RowMajor>>(rows, cols, "NZ");
    CheckRoundTrip<T, Mat<T, BLayout::RowMajor, SLayout::ColMajor>>(rows, cols, "ZN");
    CheckRoundTrip<T, Mat<T, BLayout::RowMajor, SLayout::RowMajor>>(rows, cols, "ZZ");
    CheckRoundTrip<T, Mat<T, BLayout::ColMajor, SLayout::ColMajor>>(rows, cols, "NN");
    CheckRoundTrip<T, Mat<T, BLayout::ColMajor, SLayout::RowMajor, 1024>>(rows, cols, "NZ 1024");
  }
}

TEST(Layouts, KeepEveryElement) {
  CheckLayouts<float>();
  CheckLayouts<half>();
  CheckLayouts<int8_t>();
}

// The offsets of docs: boxes of 16 by 32 bytes, in columns of boxes (NZ) or in rows (ZN, ZZ).
TEST(Layouts, PlaceElementsAsDocumented) {
  TileRef tile{};
  tile.type = Type::kF16;
  tile.rows = 32;
  tile.cols = 48;
  tile.box_rows = 16;
  tile.box_cols = 16;
  const auto at = [&](Form form, int r, int c) {
    tile.form = form;
    return ElementOffset(tile, r, c);
  };
  EXPECT_EQ(at(Form::kNz, 17, 33), (2 * 2 + 1) * 256 + 1 * 16 + 1);
  EXPECT_EQ(at(Form::kZn, 17, 34), (3 * 1 + 2) * 256 + 2 * 16 + 1);
  EXPECT_EQ(at(Form::kZz, 17, 34), (3 * 1 + 2) * 256 + 1 * 16 + 2);
  EXPECT_EQ(at(Form::kNn, 17, 34), (2 * 2 + 1) * 256 + 2 * 16 + 1);
  EXPECT_EQ(at(Form::kNd, 17, 34), 17 * 48 + 34);
  EXPECT_EQ(at(Form::kDn, 17, 34), 34 * 32 + 17);
}

TEST(Load, FollowsFiveDimensions) {
  // 2x3 pieces of 4 rows, each row of 8 with a step of 10, pieces apart by 50 and 200 elements.
  std::vector<float> data(1000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  Matrix<float> d(24, 8);
  GlobalMemory global;
  global.AddRegion("data", data.data(), data.size() * 4);
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    GlobalTensor<float, Shape<1, 2, 3, 4, 8>, Stride<0, 200, 50, 10, 1>> from(data.data());
    Tile<TileType::Vec, float, 24, 8> tile;
    TASSIGN(tile, 0x0);
    TLOAD(tile, from);
    TSTORE(ViewOf(d), tile);
  }));
  ExpectNear<float>(
      d, [](int r, int c) { return r / 12 * 200 + r / 4 % 3 * 50 + r % 4 * 10 + c; }, 0, "5-D");
}

TEST(Store, AddsAtomically) {
  Matrix<float> a = Sample<float>(4, 8, 1);
  Matrix<float> d = Sample<float>(4, 8, 2);
  Matrix<float> before = d;
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    using Data = Tile<TileType::Vec, float, 4, 8>;
    Data tile;
    TASSIGN(tile, 0x0);
    TLOAD(tile, ViewOf(a));
    TSTORE<Data, View<float>, AtomicType::AtomicAdd>(ViewOf(d), tile);
  }));
  ExpectNear<float>(
      d, [&](int r, int c) { return static_cast<double>(a.at(r, c) + before.at(r, c)); }, 0, "sum");
}

TEST(Move, ExtractsWindowsAcrossLayouts) {
  Matrix<half> a = Sample<half>(64, 64, 3);
  Matrix<float> d(16, 32);
  Matrix<half> eye(32, 32);
  for (int i = 0; i < 32; ++i) eye.at(i, i) = 1;
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, eye, "eye");
  AddTo(global, d, "d");
  ExpectClean(RunBody(
      global,
      [&] {
        Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor, 512> a1;
        Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 512> b1;
        TileLeft<half, 16, 32> a0;
        TileRight<half, 32, 32> b0;
        TileAcc<float, 16, 32> c0;
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x10000);
        TASSIGN(a0, 0x0);
        TASSIGN(b0, 0x0);
        TASSIGN(c0, 0x0);
        TLOAD(a1, ViewOf(a));
        TLOAD(b1, ViewOf(eye));
        TEXTRACT(a0, a1, 48, 16);
        TMOV(b0, b1);
        TMATMUL(c0, a0, b0);
        TSTORE(ViewOf(d), c0);
      },
      kerf_log::CoreKind::kAic));
  ExpectNear<float>(
      d, [&](int r, int c) { return static_cast<double>(a.at(48 + r, 16 + c)); }, 0, "window");
}

TEST(Move, RefusesAWindowOutside) {
  GlobalMemory global;
  const LaunchResult result = RunBody(global, [&] {
    Tile<TileType::Vec, float, 8, 8> a, d;
    TASSIGN(a, 0x0);
    TASSIGN(d, 0x1000);
    TEXPANDS(a, 1.0F);
    TEXTRACT(d, a, 1, 0);
  });
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kShape);
}

// One address under three tiles, as kernels mask a partial block.
TEST(FillPad, MasksInPlaceWithMinusInfinity) {
  Matrix<float> a = Sample<float>(4, 16, 4);
  Matrix<float> d(4, 16);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Tile<TileType::Vec, float, 4, 16> whole;
    Tile<TileType::Vec, float, 4, 16, BLayout::RowMajor, 4, DYNAMIC> part(5);
    Tile<TileType::Vec, float, 4, 16, BLayout::RowMajor, 4, 16, SLayout::NoneBox, 512,
         PadValue::Min>
        padded;
    TASSIGN(whole, 0x0);
    TASSIGN(part, 0x0);
    TASSIGN(padded, 0x0);
    TLOAD(whole, ViewOf(a));
    TFILLPAD_INPLACE(padded, part);
    TSTORE(ViewOf(d), whole);
  }));
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 16; ++c) {
      if (c < 5)
        EXPECT_EQ(d.at(r, c), a.at(r, c));
      else
        EXPECT_EQ(d.at(r, c), -INFINITY);
    }
  }
}

TEST(FillPad, FillsIntegersWithTheirLimits) {
  Matrix<int16_t> a = Sample<int16_t>(2, 16, 5);
  Matrix<int16_t> d(4, 32);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Tile<TileType::Vec, int16_t, 4, 32, BLayout::RowMajor, 2, 16> from;
    Tile<TileType::Vec, int16_t, 4, 32, BLayout::RowMajor, 4, 32, SLayout::NoneBox, 512,
         PadValue::Max>
        to;
    TASSIGN(from, 0x0);
    TASSIGN(to, 0x1000);
    TLOAD(from, ViewOf(a));
    TFILLPAD(to, from);
    TSTORE(ViewOf(d), to);
  }));
  ExpectNear<int16_t>(
      d, [&](int r, int c) { return r < 2 && c < 16 ? a.at(r, c) : 32767; }, 0, "limit");
}

// The bytes of a column as a row, and back.
TEST(Reshape, SharesTheBytes) {
  Matrix<float> d(16, 1);
  GlobalMemory global;
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor> column;
    Tile<TileType::Vec, float, 1, 16> row;
    TASSIGN(column, 0x40);
    TRESHAPE(row, column);
    TEXPANDS(row, 2.0F);
    TADDS(column, column, 1.0F);
    GlobalTensor<float, Shape<1, 1, 1, 16, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN> to(d.data.data());
    TSTORE(to, column);
  }));
  ExpectNear<float>(
      d, [](int, int) { return 3; }, 0, "shared");
}

// --- products ---

template <typename In, typename Out>
void CheckProduct(int m, int k, int n, double relative) {
  Matrix<In> a = Sample<In>(m, k, 6);
  Matrix<In> b = Sample<In>(k, n, 7);
  Matrix<Out> d(m, n), e(m, n);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, b, "b");
  AddTo(global, d, "d");
  AddTo(global, e, "e");
  ExpectClean(RunBody(
      global,
      [&] {
        Tile<TileType::Mat, In, 64, 64, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>
            a1(m, k), b1(k, n);
        TileLeft<In, 64, 64, DYNAMIC, DYNAMIC> a0(m, k);
        TileRight<In, 64, 64, DYNAMIC, DYNAMIC> b0(k, n);
        TileAcc<Out, 64, 64, DYNAMIC, DYNAMIC> c0(m, n);
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x10000);
        TASSIGN(a0, 0x0);
        TASSIGN(b0, 0x0);
        TASSIGN(c0, 0x0);
        TLOAD(a1, ViewOf(a));
        TLOAD(b1, ViewOf(b));
        TMOV(a0, a1);
        TMOV(b0, b1);
        TMATMUL(c0, a0, b0);
        TSTORE(ViewOf(d), c0);
        TMATMUL_ACC(c0, a0, b0);
        TSTORE(ViewOf(e), c0);
      },
      kerf_log::CoreKind::kAic));
  const auto want = [&](int r, int c) {
    double sum = 0;
    for (int i = 0; i < k; ++i)
      sum += static_cast<double>(a.at(r, i)) * static_cast<double>(b.at(i, c));
    return sum;
  };
  ExpectNear<Out>(d, want, relative, "product");
  ExpectNear<Out>(
      e, [&](int r, int c) { return 2 * want(r, c); }, relative, "accumulated");
}

TEST(Product, MultipliesAndAccumulates) {
  for (const auto& [m, k, n] : {std::tuple{64, 64, 64}, {1, 1, 1}, {17, 33, 5}, {16, 16, 16}}) {
    CheckProduct<half, float>(m, k, n, 1e-6);
    CheckProduct<bfloat16_t, float>(m, k, n, 1e-6);
    CheckProduct<float, float>(m, k, n, 1e-6);
    CheckProduct<int8_t, int32_t>(m, k, n, 0);
  }
}

TEST(Product, StoresNarrowerAndQuantized) {
  Matrix<half> a = Sample<half>(16, 16, 6), b = Sample<half>(16, 16, 7);
  Matrix<bfloat16_t> narrow(16, 16);
  Matrix<int8_t> quantized(16, 16);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, b, "b");
  AddTo(global, narrow, "narrow");
  AddTo(global, quantized, "quantized");
  ExpectClean(RunBody(
      global,
      [&] {
        Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512> a1, b1;
        TileLeft<half, 16, 16> a0;
        TileRight<half, 16, 16> b0;
        TileAcc<float, 16, 16> c0;
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x1000);
        TASSIGN(a0, 0x0);
        TASSIGN(b0, 0x0);
        TASSIGN(c0, 0x0);
        TLOAD(a1, ViewOf(a));
        TLOAD(b1, ViewOf(b));
        TMOV(a0, a1);
        TMOV(b0, b1);
        TMATMUL(c0, a0, b0);
        TSTORE(ViewOf(narrow), c0);
        TSTORE(ViewOf(quantized), c0, uint64_t{kerf_pto::BitsOfFloat(0.5F)});
      },
      kerf_log::CoreKind::kAic));
  const auto want = [&](int r, int c) {
    double sum = 0;
    for (int i = 0; i < 16; ++i)
      sum += static_cast<double>(a.at(r, i)) * static_cast<double>(b.at(i, c));
    return sum;
  };
  ExpectNear<bfloat16_t>(narrow, want, 0.005, "bfloat16");
  ExpectNear<int8_t>(
      quantized,
      [&](int r, int c) {
        return std::min(127.0, std::max(-128.0, std::nearbyint(want(r, c) * 0.5)));
      },
      0, "int8");
}

}  // namespace
}  // namespace kerf::sim
