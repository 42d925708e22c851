// Products of fp4 with scales, with operands and scales as kernels keep them in global memory.
#include "sim/machine/packed_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

// Exponents of scales, and where layout L has them in global memory.
struct Scales {
  Scales(int rows_, int cols_, int seed)
      : rows(rows_), cols(cols_), bytes(static_cast<size_t>(rows_ * cols_)) {
    std::mt19937 random(static_cast<unsigned>(seed));
    for (float8_e8m0_t& x : bytes) x.bits = static_cast<uint8_t>(124 + random() % 7);
  }
  int At(Layout layout, int r, int c) const {
    switch (layout) {
      case Layout::MX_A_ZZ:
        return r / 16 * 16 * cols + c / 2 * 32 + r % 16 * 2 + c % 2;
      case Layout::MX_A_DN:
        return c / 2 * 2 * rows + r * 2 + c % 2;
      case Layout::MX_B_NN:
        return c / 16 * 16 * rows + r / 2 * 32 + c % 16 * 2 + r % 2;
      case Layout::MX_B_ND:
        return r / 2 * 2 * cols + c * 2 + r % 2;
      case Layout::MX_B_DN:
        return c * rows + r;
      default:
        return r * cols + c;
    }
  }
  double Value(Layout layout, int r, int c) const {
    return std::ldexp(1.0, bytes[static_cast<size_t>(At(layout, r, c))].bits - 127);
  }
  int rows, cols;
  std::vector<float8_e8m0_t> bytes;
};

template <Layout L>
auto ScaleView(Scales& scales) {
  using T = float8_e8m0_t;
  using S = TileShape2D<T, DYNAMIC, DYNAMIC, L>;
  using D = BaseShape2D<T, DYNAMIC, DYNAMIC, L>;
  return GlobalTensor<T, S, D, L>(scales.bytes.data(), S(scales.rows, scales.cols),
                                  D(scales.rows, scales.cols));
}

template <typename A, typename B>
struct Problem {
  Problem(int m, int k, int n, bool b_by_column)
      : a(Codes<A>::Random(m, k, 1)),
        b(Codes<B>::Random(k, n, 2, b_by_column)),
        sa((m + 15) / 16 * 16, (k + 63) / 64 * 2, 3),
        sb((k + 63) / 64 * 2, (n + 15) / 16 * 16, 4),
        bias(Sample<float>(1, n, 5)),
        plain(m, n),
        twice(m, n),
        with_bias(m, n),
        vector(1, n),
        global(MemoryOf(bias, plain, twice, with_bias, vector)) {
    a.AddTo(global, "a");
    b.AddTo(global, "b");
    global.AddRegion("sa", sa.bytes.data(), sa.bytes.size());
    global.AddRegion("sb", sb.bytes.data(), sb.bytes.size());
  }
  double Sum(Layout la, Layout lb, int r, int c) const {
    double sum = 0;
    for (int k = 0; k < a.cols; ++k)
      sum += a.Value(r, k) * sa.Value(la, r, k / 32) * b.Value(k, c) * sb.Value(lb, k / 32, c);
    return sum;
  }
  void Expect(Layout la, Layout lb) {
    const auto times = [&](double factor) {
      return [=, this](int r, int c) { return factor * Sum(la, lb, r, c); };
    };
    ExpectNear<float>(plain, times(1), 1e-5, "TMATMUL_MX");
    ExpectNear<float>(twice, times(2), 1e-5, "accumulated");
    ExpectNear<float>(
        with_bias,
        [&](int r, int c) { return Sum(la, lb, r, c) + static_cast<double>(bias.at(0, c)); }, 1e-5,
        "with a bias");
    ExpectNear<float>(vector, times(1), 1e-5, "TGEMV_MX");
  }
  Codes<A> a;
  Codes<B> b;
  Scales sa, sb;
  Matrix<float> bias, plain, twice, with_bias, vector;
  GlobalMemory global;
};

template <typename T, int Rows, int Cols>
using Nz =
    Tile<TileType::Mat, T, Rows, Cols, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
template <typename T, int Rows, int Cols>
using Zn =
    Tile<TileType::Mat, T, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::ColMajor, 512>;
using ScaleA = Tile<TileType::Mat, float8_e8m0_t, 32, 4, BLayout::RowMajor, DYNAMIC, DYNAMIC,
                    SLayout::RowMajor, 32>;
using ScaleB = Tile<TileType::Mat, float8_e8m0_t, 4, 64, BLayout::ColMajor, DYNAMIC, DYNAMIC,
                    SLayout::ColMajor, 32>;

// From L1, where everything lies, to the four results.
template <typename A, typename B, typename MatB>
void Multiply(Problem<A, B>& in, Nz<A, 32, 128>& a1, MatB& b1, ScaleA& sa1, ScaleB& sb1) {
  const int m = in.a.rows;
  const int k = in.a.cols;
  const int n = in.b.cols;
  const int groups = in.sa.cols;
  Tile<TileType::Mat, float, 1, 64, BLayout::RowMajor, 1, DYNAMIC> bias1(n);
  TASSIGN(bias1, 0xa000);
  TLOAD(bias1, ViewOf(in.bias));
  TileLeft<A, 32, 128, DYNAMIC, DYNAMIC> a0(m, k);
  TileRight<B, 128, 64, DYNAMIC, DYNAMIC> b0(k, n);
  TileLeftScale<float8_e8m0_t, 32, 4, DYNAMIC, DYNAMIC> sa0(m, groups);
  TileRightScale<float8_e8m0_t, 4, 64, DYNAMIC, DYNAMIC> sb0(groups, n);
  Tile<TileType::Bias, float, 1, 64, BLayout::RowMajor, 1, DYNAMIC> bias0(n);
  TileAcc<float, 32, 64, DYNAMIC, DYNAMIC> c0(m, n);
  TASSIGN(a0, 0x400);
  TASSIGN(b0, 0x800);
  TASSIGN(sa0, GetScaleAddr(a0.data()));
  TGET_SCALE_ADDR(sb0, b0);
  TASSIGN(bias0, 0x0);
  TASSIGN(c0, 0x0);
  TMOV(a0, a1);
  TEXTRACT(b0, b1, 0, 0);
  TMOV(sa0, sa1);
  TEXTRACT(sb0, sb1, 0, 0);
  TMOV(bias0, bias1);
  TMATMUL_MX(c0, a0, sa0, b0, sb0);
  TSTORE(ViewOf(in.plain), c0);
  TMATMUL_MX(c0, c0, a0, sa0, b0, sb0);
  TSTORE(ViewOf(in.twice), c0);
  TMATMUL_MX(c0, a0, sa0, b0, sb0, bias0);
  TSTORE(ViewOf(in.with_bias), c0);
  a0.SetValidRow(1);
  sa0.SetValidRow(1);
  c0.SetValidRow(1);
  TGEMV_MX(c0, a0, sa0, b0, sb0);
  TSTORE(ViewOf(in.vector), c0);
}

template <typename A, typename B, Layout LA, Layout LB, bool ByColumn>
void Check(int m, int k, int n) {
  Problem<A, B> in(m, k, n, ByColumn);
  ExpectClean(RunBody(
      in.global,
      [&] {
        Nz<A, 32, 128> a1(m, k);
        std::conditional_t<ByColumn, Zn<B, 128, 64>, Nz<B, 128, 64>> b1(k, n);
        ScaleA sa1(m, in.sa.cols);
        ScaleB sb1(in.sb.rows, n);
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x4000);
        TASSIGN(sa1, 0x8000);
        TASSIGN(sb1, 0x9000);
        TLOAD(a1, in.a.View());
        if constexpr (ByColumn)
          TLOAD(b1, in.b.ColumnsView());
        else
          TLOAD(b1, in.b.View());
        TLOAD(sa1, ScaleView<LA>(in.sa));
        TLOAD(sb1, ScaleView<LB>(in.sb));
        Multiply<A, B>(in, a1, b1, sa1, sb1);
      },
      kerf_log::CoreKind::kAic, kA5Memories));
  in.Expect(LA, LB);
}

using E2M1 = float4_e2m1x2_t;
using E1M2 = float4_e1m2x2_t;

TEST(ScaledFp4, MultipliesEveryPairOfTypes) {
  for (const auto& [m, k, n] : {std::tuple{32, 128, 64}, {17, 64, 34}, {1, 128, 6}}) {
    Check<E2M1, E2M1, Layout::MX_A_ZZ, Layout::MX_B_NN, true>(m, k, n);
    Check<E2M1, E1M2, Layout::MX_A_ZZ, Layout::MX_B_NN, true>(m, k, n);
    Check<E1M2, E2M1, Layout::MX_A_ZZ, Layout::MX_B_NN, false>(m, k, n);
    Check<E1M2, E1M2, Layout::MX_A_ZZ, Layout::MX_B_NN, false>(m, k, n);
  }
}

TEST(ScaledFp4, LoadsScalesInEveryLayout) {
  Check<E2M1, E2M1, Layout::MX_A_ND, Layout::MX_B_ND, true>(19, 128, 40);
  Check<E2M1, E2M1, Layout::MX_A_DN, Layout::MX_B_DN, true>(19, 128, 40);
  Check<E2M1, E2M1, Layout::MX_A_ND, Layout::MX_B_DN, false>(32, 128, 64);
}

// Kernels also write the shape of a view of scales as plain rows and columns.
TEST(ScaledFp4, TakesShapesOfRowsAndColumns) {
  Problem<E2M1, E2M1> in(19, 128, 40, true);
  using Sizes = Shape<1, 1, 1, DYNAMIC, DYNAMIC>;
  ExpectClean(RunBody(
      in.global,
      [&] {
        Nz<E2M1, 32, 128> a1(19, 128);
        Zn<E2M1, 128, 64> b1(128, 40);
        ScaleA sa1(19, 4);
        ScaleB sb1(4, 40);
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x4000);
        TASSIGN(sa1, 0x8000);
        TASSIGN(sb1, 0x9000);
        TLOAD(a1, in.a.View());
        TLOAD(b1, in.b.ColumnsView());
        using T = float8_e8m0_t;
        GlobalTensor<T, Sizes, BaseShape2D<T, 32, 4, Layout::MX_A_ND>, Layout::MX_A_ND> a(
            in.sa.bytes.data(), Sizes(19, 4));
        GlobalTensor<T, Sizes, BaseShape2D<T, 4, 48, Layout::MX_B_DN>, Layout::MX_B_DN> b(
            in.sb.bytes.data(), Sizes(4, 40));
        TLOAD(sa1, a);
        TLOAD(sb1, b);
        Multiply<E2M1, E2M1>(in, a1, b1, sa1, sb1);
      },
      kerf_log::CoreKind::kAic, kA5Memories));
  in.Expect(Layout::MX_A_ND, Layout::MX_B_DN);
}

// 6·2^127 and 6·2^-127 are no floats that can be multiplied one after the other.
TEST(ScaledFp4, KeepsScalesThatCancel) {
  Problem<E2M1, E2M1> in(16, 64, 16, true);
  for (E2M1& x : in.a.bytes) x.bits = 0x77;
  for (E2M1& x : in.b.bytes) x.bits = 0x11;
  for (float8_e8m0_t& x : in.sa.bytes) x.bits = 254;
  for (float8_e8m0_t& x : in.sb.bytes) x.bits = 0;
  ExpectClean(RunBody(
      in.global,
      [&] {
        Nz<E2M1, 32, 128> a1(16, 64);
        Zn<E2M1, 128, 64> b1(64, 16);
        ScaleA sa1(16, 2);
        ScaleB sb1(2, 16);
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x4000);
        TASSIGN(sa1, 0x8000);
        TASSIGN(sb1, 0x9000);
        TLOAD(a1, in.a.View());
        TLOAD(b1, in.b.ColumnsView());
        TLOAD(sa1, ScaleView<Layout::MX_A_ZZ>(in.sa));
        TLOAD(sb1, ScaleView<Layout::MX_B_NN>(in.sb));
        Multiply<E2M1, E2M1>(in, a1, b1, sa1, sb1);
      },
      kerf_log::CoreKind::kAic, kA5Memories));
  EXPECT_EQ(in.plain.at(3, 5), 64 * 6 * 0.5F);
}

}  // namespace
}  // namespace kerf::sim
