// Products of fp8 with one scale for each row (column) and 32 steps of k, as a5 has them.
#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

template <typename T>
Matrix<T> SmallFloats(int rows, int cols, int seed) {
  Matrix<T> matrix(rows, cols);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (T& x : matrix.data)
    x = static_cast<T>(static_cast<float>(static_cast<int>(random() % 17) - 8) / 4);
  return matrix;
}

Matrix<float8_e8m0_t> Exponents(int rows, int cols, int seed) {
  Matrix<float8_e8m0_t> matrix(rows, cols);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (float8_e8m0_t& x : matrix.data) x.bits = static_cast<uint8_t>(124 + random() % 7);
  return matrix;
}

template <typename A, typename B>
struct Scaled {
  Scaled(int m, int k, int n)
      : a(SmallFloats<A>(m, k, 1)),
        b(SmallFloats<B>(k, n, 2)),
        sa(Exponents(m, (k + 31) / 32, 3)),
        sb(Exponents((k + 31) / 32, n, 4)),
        bias(Sample<float>(1, n, 5)) {}
  double Sum(int r, int c) {
    double sum = 0;
    for (int i = 0; i < a.cols; ++i)
      sum += static_cast<double>(a.at(r, i)) * static_cast<double>(sa.at(r, i / 32)) *
             static_cast<double>(b.at(i, c)) * static_cast<double>(sb.at(i / 32, c));
    return sum;
  }
  Matrix<A> a;
  Matrix<B> b;
  Matrix<float8_e8m0_t> sa, sb;
  Matrix<float> bias;
};

template <typename T, int Rows, int Cols>
using InL1 = Tile<TileType::Mat, T, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC>;

template <typename A, typename B>
void Check(int m, int k, int n) {
  Scaled<A, B> in(m, k, n);
  Matrix<float> plain(m, n), twice(m, n), with_bias(m, n), vector(1, n);
  GlobalMemory global =
      MemoryOf(in.a, in.b, in.sa, in.sb, in.bias, plain, twice, with_bias, vector);
  const int groups = (k + 31) / 32;
  ExpectClean(RunBody(
      global,
      [&] {
        InL1<A, 32, 128> a1(m, k);
        InL1<B, 128, 64> b1(k, n);
        InL1<float8_e8m0_t, 32, 32> sa1(m, groups);
        InL1<float8_e8m0_t, 32, 64> sb1(groups, n);
        InL1<float, 1, 64> bias1(1, n);
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x4000);
        TASSIGN(sa1, 0x8000);
        TASSIGN(sb1, 0x9000);
        TASSIGN(bias1, 0xa000);
        TLOAD(a1, ViewOf(in.a));
        TLOAD(b1, ViewOf(in.b));
        TLOAD(sa1, ViewOf(in.sa));
        TLOAD(sb1, ViewOf(in.sb));
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
        EXPECT_EQ(sa0.Address(), 0x40U);
        EXPECT_EQ(sb0.Address(), 0x80U);
        TMOV(a0, a1);
        TMOV(b0, b1);
        TMOV(sa0, sa1);
        TMOV(sb0, sb1);
        TMOV(bias0, bias1);
        TMATMUL_MX(c0, a0, sa0, b0, sb0);
        TSTORE(ViewOf(plain), c0);
        TMATMUL_MX(c0, c0, a0, sa0, b0, sb0);
        TSTORE(ViewOf(twice), c0);
        TMATMUL_MX<AccPhase::Final>(c0, a0, sa0, b0, sb0, bias0);
        TSTORE(ViewOf(with_bias), c0);
        a0.SetValidRow(1);
        sa0.SetValidRow(1);
        c0.SetValidRow(1);
        TGEMV_MX(c0, a0, sa0, b0, sb0);
        TSTORE(ViewOf(vector), c0);
      },
      kerf_log::CoreKind::kAic, kA5Memories));
  const auto times = [&](double factor) {
    return [&in, factor](int r, int c) { return factor * in.Sum(r, c); };
  };
  ExpectNear<float>(plain, times(1), 1e-5, "TMATMUL_MX");
  ExpectNear<float>(twice, times(2), 1e-5, "accumulated");
  ExpectNear<float>(
      with_bias, [&](int r, int c) { return in.Sum(r, c) + static_cast<double>(in.bias.at(0, c)); },
      1e-5, "with a bias");
  ExpectNear<float>(vector, times(1), 1e-5, "TGEMV_MX");
}

TEST(ScaledProduct, MultipliesByItsScales) {
  for (const auto& [m, k, n] : {std::tuple{32, 128, 64}, {17, 64, 33}, {1, 32, 5}}) {
    Check<float8_e4m3_t, float8_e4m3_t>(m, k, n);
    Check<float8_e5m2_t, float8_e4m3_t>(m, k, n);
    Check<float8_e5m2_t, float8_e5m2_t>(m, k, n);
  }
}

TEST(ScaledProduct, RefusesOperandsOfDifferentWidth) {
  GlobalMemory global;
  const LaunchResult result = RunBody(
      global,
      [&] {
        TileLeft<float4_e2m1x2_t, 16, 64> a;
        TileRight<float8_e4m3_t, 64, 16> b;
        TileLeftScale<float8_e8m0_t, 16, 2> sa;
        TileRightScale<float8_e8m0_t, 2, 16> sb;
        TileAcc<float, 16, 16> c;
        TASSIGN(a, 0x0);
        TASSIGN(b, 0x0);
        TASSIGN(sa, 0x0);
        TASSIGN(sb, 0x0);
        TASSIGN(c, 0x0);
        TMATMUL_MX(c, a, sa, b, sb);
      },
      kerf_log::CoreKind::kAic, kA5Memories);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kUnsupported);
}

}  // namespace
}  // namespace kerf::sim
