// Products with a bias, of a vector, with scales; what leaves L0C; windows; quantization.
#include <algorithm>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

template <typename T>
using Left =
    Tile<TileType::Mat, T, 64, 64, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
template <typename T>
using Line = Tile<TileType::Mat, T, 1, 64, BLayout::RowMajor, 1, DYNAMIC>;

template <typename In, typename Out>
struct Operands {
  Operands(int m, int k, int n)
      : a(Sample<In>(m, k, 6)), b(Sample<In>(k, n, 7)), bias(Sample<Out>(1, n, 8)) {}
  double Sum(int r, int c) {
    double sum = 0;
    for (int i = 0; i < a.cols; ++i)
      sum += static_cast<double>(a.at(r, i)) * static_cast<double>(b.at(i, c));
    return sum;
  }
  Matrix<In> a, b;
  Matrix<Out> bias;
};

// Loads both operands and calls body(c, a, b) with their tiles in L0.
template <typename In, typename Out, typename Body>
void OnCube(Operands<In, Out>& in, GlobalMemory& global, Body&& body) {
  ExpectClean(RunBody(
      global,
      [&] {
        Left<In> a1(in.a.rows, in.a.cols), b1(in.b.rows, in.b.cols);
        TileLeft<In, 64, 64, DYNAMIC, DYNAMIC> a0(in.a.rows, in.a.cols);
        TileRight<In, 64, 64, DYNAMIC, DYNAMIC> b0(in.b.rows, in.b.cols);
        TileAcc<Out, 64, 64, DYNAMIC, DYNAMIC> c0(in.a.rows, in.b.cols);
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x10000);
        TASSIGN(a0, 0x0);
        TASSIGN(b0, 0x0);
        TASSIGN(c0, 0x0);
        TLOAD(a1, ViewOf(in.a));
        TLOAD(b1, ViewOf(in.b));
        TMOV(a0, a1);
        TMOV(b0, b1);
        body(c0, a0, b0);
      },
      kerf_log::CoreKind::kAic));
}

// Tile<TileType::Bias> filled from global memory through L1.
template <typename Out>
auto LoadBias(Matrix<Out>& bias) {
  Line<Out> line(bias.cols);
  Tile<TileType::Bias, Out, 1, 64, BLayout::RowMajor, 1, DYNAMIC> tile(bias.cols);
  TASSIGN(line, 0x20000);
  TASSIGN(tile, 0x0);
  TLOAD(line, ViewOf(bias));
  TMOV(tile, line);
  return tile;
}

template <typename In, typename Out>
void CheckBias(int m, int k, int n, double relative) {
  Operands<In, Out> in(m, k, n);
  Matrix<Out> out(m, n);
  GlobalMemory global = MemoryOf(in.a, in.b, in.bias, out);
  OnCube(in, global, [&](auto& c, auto& a, auto& b) {
    auto bias = LoadBias(in.bias);
    TMATMUL_BIAS(c, a, b, bias);
    TSTORE(ViewOf(out), c);
  });
  ExpectNear<Out>(
      out, [&](int r, int c) { return in.Sum(r, c) + static_cast<double>(in.bias.at(0, c)); },
      relative, "TMATMUL_BIAS");
}

TEST(Products, AddABias) {
  for (const auto& [m, k, n] : {std::tuple{64, 64, 64}, {1, 1, 1}, {17, 33, 5}}) {
    CheckBias<half, float>(m, k, n, 1e-6);
    CheckBias<bfloat16_t, float>(m, k, n, 1e-6);
    CheckBias<int8_t, int32_t>(m, k, n, 0);
  }
}

template <typename In, typename Out>
void CheckVector(int k, int n, double relative) {
  Operands<In, Out> in(1, k, n);
  Matrix<Out> plain(1, n), twice(1, n), with_bias(1, n), out_of_place(1, n);
  GlobalMemory global = MemoryOf(in.a, in.b, in.bias, plain, twice, with_bias, out_of_place);
  OnCube(in, global, [&](auto& c, auto& a, auto& b) {
    TGEMV(c, a, b);
    TSTORE(ViewOf(plain), c);
    TGEMV_ACC(c, a, b);
    TSTORE(ViewOf(twice), c);
    TileAcc<Out, 64, 64, DYNAMIC, DYNAMIC> other(1, n);
    TASSIGN(other, 0x8000);
    TGEMV_ACC(other, c, a, b);
    TSTORE(ViewOf(out_of_place), other);
    auto bias = LoadBias(in.bias);
    TGEMV_BIAS(c, a, b, bias);
    TSTORE(ViewOf(with_bias), c);
  });
  const auto times = [&](double factor) {
    return [&in, factor](int r, int c) { return factor * in.Sum(r, c); };
  };
  ExpectNear<Out>(plain, times(1), relative, "TGEMV");
  ExpectNear<Out>(twice, times(2), relative, "TGEMV_ACC");
  ExpectNear<Out>(out_of_place, times(3), relative, "TGEMV_ACC into another tile");
  ExpectNear<Out>(
      with_bias, [&](int r, int c) { return in.Sum(r, c) + static_cast<double>(in.bias.at(0, c)); },
      relative, "TGEMV_BIAS");
}

TEST(Products, OfAVector) {
  for (const auto& [k, n] : {std::pair{64, 64}, {1, 1}, {33, 5}}) {
    CheckVector<half, float>(k, n, 1e-6);
    CheckVector<float, float>(k, n, 1e-6);
    CheckVector<int8_t, int32_t>(k, n, 0);
  }
}

TEST(Products, OfAVectorRefuseAMatrix) {
  Operands<half, float> in(16, 16, 16);
  GlobalMemory global = MemoryOf(in.a, in.b);
  const LaunchResult result = RunBody(
      global,
      [&] {
        TileLeft<half, 16, 16> a;
        TileRight<half, 16, 16> b;
        TileAcc<float, 16, 16> c;
        TASSIGN(a, 0x0);
        TASSIGN(b, 0x0);
        TASSIGN(c, 0x0);
        TGEMV(c, a, b);
      },
      kerf_log::CoreKind::kAic);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::kShape);
}

// --- out of L0C ---

TEST(Fixpipe, ScalesEachColumnByItsParameter) {
  Operands<half, float> in(17, 16, 33);
  Matrix<uint64_t> parameters(1, 33);
  const auto scale = [](int c) { return 0.25F * static_cast<float>(c % 5 + 1); };
  for (int c = 0; c < 33; ++c) parameters.at(0, c) = kerf_pto::BitsOfFloat(scale(c));
  Matrix<int8_t> bytes(17, 33), moved(17, 33);
  Matrix<half> halves(17, 33), window(8, 8);
  GlobalMemory global = MemoryOf(in.a, in.b, parameters, bytes, moved, halves, window);
  OnCube(in, global, [&](auto& c, auto& a, auto& b) {
    Line<uint64_t> line(33);
    Tile<TileType::Scaling, uint64_t, 1, 64, BLayout::RowMajor, 1, DYNAMIC> fp(33);
    TASSIGN(line, 0x20000);
    TASSIGN(fp, 0x0);
    TLOAD(line, ViewOf(parameters));
    TMOV(fp, line);
    TMATMUL(c, a, b);
    TSTORE_FP<std::remove_reference_t<decltype(c)>, View<int8_t>, decltype(fp)>(ViewOf(bytes), c,
                                                                                fp);
    Left<int8_t> in_l1(17, 33);
    Left<half> whole(17, 33);
    Left<half> part(8, 8);
    TASSIGN(in_l1, 0x30000);
    TASSIGN(whole, 0x40000);
    TASSIGN(part, 0x50000);
    TMOV_FP(in_l1, c, fp);
    TSTORE(ViewOf(moved), in_l1);
    TINSERT_FP(whole, c, fp, 0, 0);
    TSTORE(ViewOf(halves), whole);
    TEXTRACT_FP(part, c, fp, 9, 3);
    TSTORE(ViewOf(window), part);
  });
  const auto value = [&](int r, int c) { return in.Sum(r, c) * static_cast<double>(scale(c)); };
  const auto byte = [&](int r, int c) {
    return std::clamp(std::nearbyint(value(r, c)), -128.0, 127.0);
  };
  ExpectNear<int8_t>(bytes, byte, 0, "TSTORE_FP");
  ExpectNear<int8_t>(moved, byte, 0, "TMOV_FP");
  ExpectNear<half>(halves, value, 1e-3, "TINSERT_FP");
  ExpectNear<half>(
      window, [&](int r, int c) { return value(9 + r, 3 + c); }, 1e-3, "TEXTRACT_FP");
}

TEST(Fixpipe, InsertsWindowsWithReluAndAScale) {
  Operands<half, float> in(16, 16, 16);
  Matrix<half> out(48, 48);
  Matrix<int8_t> bytes(16, 16);
  GlobalMemory global = MemoryOf(in.a, in.b, out, bytes);
  OnCube(in, global, [&](auto& c, auto& a, auto& b) {
    using Acc = std::remove_reference_t<decltype(c)>;
    using Whole = Left<half>;
    Whole whole(48, 48);
    Left<int8_t> scaled(16, 16);
    TASSIGN(whole, 0x30000);
    TASSIGN(scaled, 0x40000);
    TEXPANDS(whole, static_cast<half>(0.5F));
    TMATMUL(c, a, b);
    TINSERT(whole, c, 16, 32);
    TINSERT<Whole, Acc, ReluPreMode::NormalRelu>(whole, c, 0, 0);
    TSTORE(ViewOf(out), whole);
    TINSERT(scaled, c, uint64_t{kerf_pto::BitsOfFloat(0.5F)}, 0, 0);
    TSTORE(ViewOf(bytes), scaled);
  });
  ExpectNear<half>(
      out,
      [&](int r, int c) {
        if (r < 16 && c < 16) return std::max(in.Sum(r, c), 0.0);
        if (r >= 16 && r < 32 && c >= 32) return in.Sum(r - 16, c - 32);
        return 0.5;
      },
      1e-3, "TINSERT");
  ExpectNear<int8_t>(
      bytes,
      [&](int r, int c) { return std::clamp(std::nearbyint(in.Sum(r, c) * 0.5), -128.0, 127.0); },
      0, "scaled");
}

// a5: from L0C into UB of the vector cores, all of it to one or a half to each.
template <AccToVecMode Mode>
void CheckToVector(int rows, int cols,
                   const std::function<double(Operands<half, float>&, int, int, int)>& wanted) {
  Operands<half, float> in(16, 16, 32);
  Matrix<float> lanes[2] = {Matrix<float>(rows, cols), Matrix<float>(rows, cols)};
  GlobalMemory global = MemoryOf(in.a, in.b, lanes[0], lanes[1]);
  kerf_pto_bind(&test_core);
  LaunchConfig config;
  config.memories = &kA5Memories;
  Launch launch(config, global, &test_core);
  using To = Vec<float, 16, 32>;
  const auto cube = [&] {
    Left<half> a1(16, 16), b1(16, 32);
    TileLeft<half, 16, 16> a0;
    TileRight<half, 16, 32> b0;
    using Acc = TileAcc<float, 16, 32>;
    Acc c0;
    TASSIGN(a1, 0x0);
    TASSIGN(b1, 0x10000);
    TASSIGN(a0, 0x0);
    TASSIGN(b0, 0x0);
    TASSIGN(c0, 0x0);
    TLOAD(a1, ViewOf(in.a));
    TLOAD(b1, ViewOf(in.b));
    TMOV(a0, a1);
    TMOV(b0, b1);
    TMATMUL(c0, a0, b0);
    To to(rows, cols);
    TASSIGN(to, 0x40);
    TMOV<To, Acc, Mode>(to, c0);
    set_intra_block(PIPE_FIX, 1);
    set_intra_block(PIPE_FIX, 1 + 16);
  };
  launch.AddCore({kerf_log::CoreKind::kAic, 0, 0, cube, nullptr, nullptr});
  const bool both = Mode == AccToVecMode::DualModeSplitM || Mode == AccToVecMode::DualModeSplitN;
  for (uint8_t lane = 0; lane < 2; ++lane) {
    const bool reads = both || lane == (Mode == AccToVecMode::SingleModeVec1 ? 1 : 0);
    const auto vector = [&, lane, reads] {
      wait_intra_block(PIPE_V, 1);
      To tile(rows, cols);
      TASSIGN(tile, 0x40);
      if (reads) TSTORE(ViewOf(lanes[lane]), tile);
    };
    launch.AddCore({kerf_log::CoreKind::kAiv, 0, lane, vector, nullptr, nullptr});
  }
  ExpectClean(launch.Run());
  for (int lane = 0; lane < 2; ++lane) {
    if (!both && lane != (Mode == AccToVecMode::SingleModeVec1 ? 1 : 0)) continue;
    ExpectNear<float>(
        lanes[lane], [&](int r, int c) { return wanted(in, lane, r, c); }, 1e-6,
        "to a vector core");
  }
}

TEST(Fixpipe, ReachesTheVectorCores) {
  const auto whole = [](auto& in, int, int r, int c) { return in.Sum(r, c); };
  CheckToVector<AccToVecMode::SingleModeVec0>(16, 32, whole);
  CheckToVector<AccToVecMode::SingleModeVec1>(16, 32, whole);
  CheckToVector<AccToVecMode::DualModeSplitM>(
      8, 32, [](auto& in, int lane, int r, int c) { return in.Sum(8 * lane + r, c); });
  CheckToVector<AccToVecMode::DualModeSplitN>(
      16, 16, [](auto& in, int lane, int r, int c) { return in.Sum(r, 16 * lane + c); });
}

TEST(Fixpipe, FindsThatThereIsNoVectorCore) {
  Operands<half, float> in(16, 16, 16);
  GlobalMemory global = MemoryOf(in.a, in.b);
  const LaunchResult result = RunBody(
      global,
      [&] {
        TileAcc<float, 16, 16> c;
        Vec<float, 16, 16> to(16, 16);
        TASSIGN(c, 0x0);
        TASSIGN(to, 0x0);
        TMOV(to, c);
      },
      kerf_log::CoreKind::kAic, kA5Memories);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::kOutOfRange);
}

TEST(Fixpipe, RefusesAWindowOutside) {
  GlobalMemory global;
  const LaunchResult result = RunBody(global, [&] {
    Tile<TileType::Vec, float, 8, 8> a, d;
    TASSIGN(a, 0x0);
    TASSIGN(d, 0x1000);
    TEXPANDS(a, 1.0F);
    TINSERT(d, a, 0, 1);
  });
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kShape);
}

// --- parts of tiles ---

TEST(Views, APartSharesTheBytesOfTheWhole) {
  Matrix<float> a = Sample<float>(8, 16, 3), out(8, 16);
  GlobalMemory global = MemoryOf(a, out);
  ExpectClean(RunBody(global, [&] {
    Tile<TileType::Vec, float, 8, 16> whole;
    Tile<TileType::Vec, float, 4, 16, BLayout::RowMajor, 2, 8> part;
    TASSIGN(whole, 0x40);
    TLOAD(whole, ViewOf(a));
    TSUBVIEW(part, whole, 3, 8);
    TADDS(part, part, 100.0F);
    TSTORE(ViewOf(out), whole);
  }));
  ExpectNear<float>(
      out,
      [&](int r, int c) {
        const bool in_part = (r == 3 || r == 4) && c >= 8;
        return static_cast<double>(a.at(r, c)) + (in_part ? 100 : 0);
      },
      0, "TSUBVIEW");
}

TEST(Views, FillsAWiderTile) {
  Matrix<float> a = Sample<float>(3, 8, 3), out(5, 16);
  GlobalMemory global = MemoryOf(a, out);
  ExpectClean(RunBody(global, [&] {
    Vec<float, 4, 8> from(3, 8);
    Tile<TileType::Vec, float, 5, 16, BLayout::RowMajor, 5, 16, SLayout::NoneBox, 512,
         PadValue::Zero>
        to;
    TASSIGN(from, 0x0);
    TASSIGN(to, 0x1000);
    TLOAD(from, ViewOf(a));
    TFILLPAD_EXPAND(to, from);
    TSTORE(ViewOf(out), to);
  }));
  ExpectNear<float>(
      out, [&](int r, int c) { return r < 3 && c < 8 ? static_cast<double>(a.at(r, c)) : 0; }, 0,
      "TFILLPAD_EXPAND");
}

// --- quantization on the vector pipe ---

TEST(Quantize, ToBytesAndBack) {
  Matrix<float> a = Sample<float>(5, 13, 2), scales(5, 1), offsets(5, 1);
  for (int r = 0; r < 5; ++r) {
    scales.at(r, 0) = 0.05F * static_cast<float>(r + 1);
    offsets.at(r, 0) = static_cast<float>(100 + r);
  }
  Matrix<int8_t> symmetric(5, 13);
  Matrix<uint8_t> asymmetric(5, 13);
  Matrix<float> back(5, 13);
  GlobalMemory global = MemoryOf(a, scales, offsets, symmetric, asymmetric, back);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<8, 32>(a);
    auto scale = tiles.NewColumn<float, 8>(5);
    auto offset = tiles.NewColumn<float, 8>(5);
    TLOAD(scale, ColumnView(scales));
    TLOAD(offset, ColumnView(offsets));
    auto bytes = tiles.New<int8_t, 8, 32>(5, 13);
    auto shifted = tiles.New<uint8_t, 8, 32>(5, 13);
    auto tmp = tiles.New<float, 8, 32>(5, 13);
    auto again = tiles.New<float, 8, 32>(5, 13);
    auto none = tiles.NewColumn<float, 8>(5);
    for (int r = 0; r < 5; ++r) none.SetValue(r, 0.0F);
    TQUANT<QuantType::INT8_SYM>(bytes, x, scale);
    TQUANT<QuantType::INT8_ASYM>(shifted, x, scale, tmp, &offset);
    TDEQUANT(again, bytes, scale, none);
    TSTORE(ViewOf(symmetric), bytes);
    TSTORE(ViewOf(asymmetric), shifted);
    TSTORE(ViewOf(back), again);
  }));
  const auto steps = [&](int r, int c) {
    return std::nearbyint(static_cast<double>(a.at(r, c) / scales.at(r, 0)));
  };
  const auto byte = [&](int r, int c) { return std::clamp(steps(r, c), -128.0, 127.0); };
  ExpectNear<int8_t>(symmetric, byte, 0, "symmetric");
  ExpectNear<uint8_t>(
      asymmetric,
      [&](int r, int c) {
        return std::clamp(steps(r, c) + static_cast<double>(offsets.at(r, 0)), 0.0, 255.0);
      },
      0, "asymmetric");
  ExpectNear<float>(
      back, [&](int r, int c) { return byte(r, c) * static_cast<double>(scales.at(r, 0)); }, 1e-6,
      "back");
}

TEST(Quantize, BackFromSixteenBits) {
  Matrix<int16_t> a = Sample<int16_t>(3, 7, 2);
  Matrix<float> scales(3, 1), offsets(3, 1), out(3, 7);
  for (int r = 0; r < 3; ++r) {
    scales.at(r, 0) = 0.5F * static_cast<float>(r + 1);
    offsets.at(r, 0) = static_cast<float>(r);
  }
  GlobalMemory global = MemoryOf(a, scales, offsets, out);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<4, 16>(a);
    auto scale = tiles.Load<4, 8>(scales);
    auto offset = tiles.Load<4, 8>(offsets);
    auto d = tiles.New<float, 4, 16>(3, 7);
    TDEQUANT(d, x, scale, offset);
    TSTORE(ViewOf(out), d);
  }));
  ExpectNear<float>(
      out,
      [&](int r, int c) {
        return (a.at(r, c) - static_cast<double>(offsets.at(r, 0))) *
               static_cast<double>(scales.at(r, 0));
      },
      1e-6, "TDEQUANT");
}

// Groups of 32 with one exponent: what comes back is within an eighth of the group's largest.
template <int Axis>
void CheckMx() {
  Matrix<float> a(64, 64);
  std::mt19937 random(4);
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 64; ++c)
      a.at(r, c) = std::ldexp(static_cast<float>(static_cast<int>(random() % 200) - 100),
                              (Axis == 1 ? c : r) / 32 * 9 - 12);
  Matrix<uint8_t> values(64, 64);
  Matrix<uint8_t> exponents(Axis == 1 ? 64 : 2, Axis == 1 ? 2 : 64);
  GlobalMemory global = MemoryOf(a, values, exponents);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<64, 64>(a);
    auto d = tiles.New<uint8_t, 64, 64>(64, 64);
    auto e = tiles.New<uint8_t, 64, 64>(exponents.rows, exponents.cols);
    auto largest = tiles.New<float, 64, 64>(exponents.rows, exponents.cols);
    auto scaling = tiles.New<float, 64, 64>(exponents.rows, exponents.cols);
    TQUANT<Axis, MxQuantAlg::OcpMxFp8E4M3>(d, x, &e, &largest, &scaling);
    TSTORE(ViewOf(values), d);
    TSTORE(ViewOf(exponents), e);
  }));
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) {
      const auto group = [&](int i) {
        return std::fabs(Axis == 1 ? a.at(r, c / 32 * 32 + i) : a.at(r / 32 * 32 + i, c));
      };
      float top = 0;
      for (int i = 0; i < 32; ++i) top = std::max(top, group(i));
      const int shared = Axis == 1 ? exponents.at(r, c / 32) : exponents.at(r / 32, c);
      ASSERT_EQ(shared, static_cast<int>(std::floor(std::log2(top))) + 127 - 8);
      const float back =
          std::ldexp(kerf_pto::DecodeSmall(values.at(r, c), kerf_pto::kE4M3Format), shared - 127);
      ASSERT_NEAR(back, a.at(r, c), static_cast<double>(top) / 8) << r << ", " << c;
    }
  }
}

TEST(Quantize, ToMxAlongRowsAndColumns) {
  CheckMx<1>();
  CheckMx<0>();
}

}  // namespace
}  // namespace kerf::sim
