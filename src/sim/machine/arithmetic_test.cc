// Instructions on two or three operands, each against a plain loop.
#include <algorithm>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

constexpr int kRows = 6;
constexpr int kCols = 64;

struct Size {
  int rows, cols;
};
constexpr Size kSizes[] = {{1, 1}, {6, 64}, {5, 13}, {3, 33}};

// Small whole numbers, none of them 0 in b; what they are is exact in every type.
template <typename T>
struct Inputs {
  explicit Inputs(Size size, bool positive = false)
      : a(size.rows, size.cols),
        b(size.rows, size.cols),
        c(size.rows, size.cols),
        d(size.rows, size.cols) {
    std::mt19937 random(7);
    const auto fill = [&](Matrix<T>& m, int low, int high) {
      for (T& x : m.data) {
        int value = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
        if (value == 0) value = 1;
        x = static_cast<T>(value);
      }
    };
    const bool plain = positive || std::is_unsigned_v<T>;
    fill(a, plain ? 1 : -20, 20);
    fill(b, plain ? 1 : -5, 5);
    fill(c, plain ? 1 : -9, 9);
    fill(d, plain ? 1 : -7, 7);
  }
  Matrix<T> a, b, c, d;  // d is the destination before
};

// run(d, a, b, c) on tiles; wanted(a, b, c, d) on doubles.
template <typename T, typename Run, typename Wanted>
void Check(const char* name, Run&& run, Wanted&& wanted, double relative, bool positive = false) {
  for (const Size size : kSizes) {
    Inputs<T> in(size, positive);
    Matrix<T> out(size.rows, size.cols);
    GlobalMemory global = MemoryOf(in.a, in.b, in.c, in.d, out);
    ExpectClean(RunBody(global, [&] {
      Tiles tiles;
      auto a = tiles.Load<kRows, kCols>(in.a);
      auto b = tiles.Load<kRows, kCols>(in.b);
      auto c = tiles.Load<kRows, kCols>(in.c);
      auto d = tiles.Load<kRows, kCols>(in.d);
      run(d, a, b, c);
      TSTORE(ViewOf(out), d);
    }));
    ExpectNear<T>(
        out,
        [&](int r, int col) {
          return static_cast<double>(
              wanted(static_cast<double>(in.a.at(r, col)), static_cast<double>(in.b.at(r, col)),
                     static_cast<double>(in.c.at(r, col)), static_cast<double>(in.d.at(r, col))));
        },
        relative, name);
  }
}

// The names of the operands are those of the loop.
#define CHECK(T, CALL, EXPRESSION, RELATIVE)                                              \
  Check<T>(                                                                               \
      #CALL " " #T,                                                                       \
      []([[maybe_unused]] auto& d, [[maybe_unused]] auto& a, [[maybe_unused]] auto& b,    \
         [[maybe_unused]] auto& c) { CALL; },                                             \
      []([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c, \
         [[maybe_unused]] double d) { return EXPRESSION; },                               \
      RELATIVE)

double FloorRemainder(double a, double b) { return a - std::floor(a / b) * b; }

TEST(Arithmetic, RemainderHasTheSignOfTheDivisor) {
  CHECK(float, TREM(d, a, b), FloorRemainder(a, b), 1e-6);
  CHECK(int32_t, TREM(d, a, b, c), FloorRemainder(a, b), 0);
  CHECK(int16_t, TREM(d, a, b), FloorRemainder(a, b), 0);
  CHECK(int32_t, TREMS(d, a, -3), FloorRemainder(a, -3), 0);
  CHECK(float, TREMS(d, a, 3.0F, c), FloorRemainder(a, 3), 1e-6);
  CHECK(uint16_t, TREM<RemAlgorithm::DEFAULT>(d, a, b), FloorRemainder(a, b), 0);
}

TEST(Arithmetic, FmodHasTheSignOfTheDividend) {
  CHECK(float, TFMOD(d, a, b), std::fmod(a, b), 1e-6);
  CHECK(half, TFMOD(d, a, b), std::fmod(a, b), 1e-3);
  CHECK(int32_t, TFMOD(d, a, b), std::fmod(a, b), 0);
  CHECK(float, TFMODS(d, a, -3.0F), std::fmod(a, -3), 1e-6);
  CHECK(float, TFMODS<FmodSAlgorithm::HIGH_PRECISION>(d, a, 4.0F), std::fmod(a, 4), 1e-6);
}

TEST(Arithmetic, RaisesToPowers) {
  Check<float>(
      "TPOW", [](auto& d, auto& a, auto& b, auto& c) { TPOW(d, a, b, c); },
      [](double a, double b, double, double) { return std::pow(a, b); }, 1e-5, true);
  CHECK(int32_t, TPOWS(d, a, 3, c), a * a * a, 0);
  CHECK(float, TPOWS(d, a, 2.0F), a* a, 1e-6);
}

TEST(Arithmetic, ShiftsBits) {
  CHECK(uint32_t, TSHL(d, a, b),
        static_cast<double>(static_cast<uint32_t>(a) << static_cast<int>(b)), 0);
  CHECK(uint16_t, TSHR(d, a, b), std::floor(a / std::pow(2, b)), 0);
  CHECK(int32_t, TSHLS(d, a, 3), a * 8, 0);
  CHECK(int16_t, TSHRS(d, a, 2), std::floor(a / 4), 0);
  CHECK(int32_t, TSHRS(d, a, 1), std::floor(a / 2), 0);
}

// A shift out of the type leaves nothing, whatever is wider in between.
TEST(Arithmetic, ShiftsOutOfTheType) {
  CHECK(uint8_t, TSHLS(d, a, 7), std::fmod(a * 128, 256), 0);
  CHECK(int16_t, TSHLS(d, a, 16), 0.0, 0);
  CHECK(uint32_t, TSHRS(d, a, 32), 0.0, 0);
}

TEST(Arithmetic, WorksOnBitsWithAScalar) {
  CHECK(int32_t, TANDS(d, a, 6), static_cast<double>(static_cast<int32_t>(a) & 6), 0);
  CHECK(uint16_t, TORS(d, a, 9), static_cast<double>(static_cast<uint16_t>(a) | 9), 0);
  CHECK(int16_t, TXORS(d, a, 5, c), static_cast<double>(static_cast<int16_t>(a) ^ 5), 0);
  CHECK(int16_t, TNOT(d, a), static_cast<double>(~static_cast<int16_t>(a)), 0);
  CHECK(uint8_t, TNOT(d, a), 255 - a, 0);
}

TEST(Arithmetic, LeavesPositiveNumbersAndScalesNegativeOnes) {
  CHECK(float, TPRELU(d, a, b, c), a > 0 ? a : a * b, 1e-6);
  CHECK(half, TLRELU(d, a, 0.5F), a > 0 ? a : a * 0.5, 1e-3);
}

TEST(Fused, AddsThree) {
  CHECK(float, TADDC(d, a, b, c), a + b + c, 1e-6);
  CHECK(int16_t, TADDC(d, a, b, c), a + b + c, 0);
  CHECK(half, TSUBC(d, a, b, c), a - b + c, 1e-3);
  CHECK(int32_t, TSUBC(d, a, b, c), a - b + c, 0);
  CHECK(float, TADDSC(d, a, 2.5F, b), a + 2.5 + b, 1e-6);
  CHECK(int32_t, TADDSC(d, a, 7, b), a + 7 + b, 0);
  CHECK(float, TSUBSC(d, a, 2.5F, b), a - 2.5 + b, 1e-6);
  CHECK(int16_t, TSUBSC(d, a, 7, b), a - 7 + b, 0);
}

TEST(Fused, MultipliesAndAddsToTheDestination) {
  CHECK(float, TAXPY(d, a, 1.5F), 1.5 * a + d, 1e-6);
  CHECK(half, TAXPY(d, a, 2.0F), 2 * a + d, 1e-3);
  CHECK(float, TFUSEDMULADD(d, a, b), a* d + b, 1e-6);
  CHECK(half, TFUSEDMULADDRELU(d, a, b), std::max(a * d + b, 0.0), 1e-3);
  CHECK(float, TMULADDDST(d, a, b), a* b + d, 1e-6);
  CHECK(float, TSUBRELU(d, a, b), std::max(a - b, 0.0), 1e-6);
}

// A half source is added to a float destination without rounding.
TEST(Fused, WidensWhatItAdds) {
  Inputs<half> in({5, 13});
  Matrix<float> d = Sample<float>(5, 13, 4), out(5, 13);
  GlobalMemory global = MemoryOf(in.a, d, out);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto a = tiles.Load<kRows, kCols>(in.a);
    auto to = tiles.Load<kRows, kCols>(d);
    TAXPY(to, a, static_cast<half>(0.25F));
    TSTORE(ViewOf(out), to);
  }));
  ExpectNear<float>(
      out,
      [&](int r, int c) {
        return 0.25 * static_cast<double>(in.a.at(r, c)) + static_cast<double>(d.at(r, c));
      },
      1e-6, "TAXPY");
}

template <typename From, typename To>
void CheckAddReluConvert(float scale, double limit) {
  Matrix<From> a = Sample<From>(5, 13, 5), b = Sample<From>(5, 13, 6);
  for (auto* m : {&a, &b})
    for (From& x : m->data) x = static_cast<From>(static_cast<float>(x) * scale);
  Matrix<To> out(5, 13);
  GlobalMemory global = MemoryOf(a, b, out);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<kRows, kCols>(a);
    auto y = tiles.Load<kRows, kCols>(b);
    auto d = tiles.New<To, kRows, kCols>(5, 13);
    TADDRELUCONV(d, x, y);
    TSTORE(ViewOf(out), d);
  }));
  ExpectNear<To>(
      out,
      [&](int r, int c) {
        const double sum = static_cast<double>(a.at(r, c)) + static_cast<double>(b.at(r, c));
        const double kept = std::min(std::max(sum, 0.0), limit);
        return std::is_integral_v<To> ? std::nearbyint(kept) : kept;
      },
      1e-3, "TADDRELUCONV");
}

TEST(Fused, AddsAndNarrowsWithinTheType) {
  CheckAddReluConvert<float, half>(1, 65504);
  CheckAddReluConvert<float, half>(30000, 65504);
  CheckAddReluConvert<half, int8_t>(10, 127);
  CheckAddReluConvert<int16_t, int8_t>(30, 127);
}

TEST(Fused, AddsAndDequantizes) {
  Matrix<int32_t> a = Sample<int32_t>(5, 13, 5), b = Sample<int32_t>(5, 13, 6);
  Matrix<half> out(5, 13);
  GlobalMemory global = MemoryOf(a, b, out);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<kRows, kCols>(a);
    auto y = tiles.Load<kRows, kCols>(b);
    auto tmp = tiles.New<int32_t, kRows, kCols>(5, 13);
    auto d = tiles.New<half, kRows, kCols>(5, 13);
    TADDDEQRELU(d, x, y, 0.125F, tmp);
    TSTORE(ViewOf(out), d);
  }));
  ExpectNear<half>(
      out, [&](int r, int c) { return std::max((a.at(r, c) + b.at(r, c)) * 0.125, 0.0); }, 1e-3,
      "TADDDEQRELU");
}

// An instruction that reads its destination says so when nothing has written it.
TEST(Fused, FindsADestinationThatHoldsNothing) {
  GlobalMemory global;
  const LaunchResult result = RunBody(global, [&] {
    Tiles tiles;
    auto a = tiles.New<float, 1, 8>(1, 8);
    auto d = tiles.New<float, 1, 8>(1, 8);
    TEXPANDS(a, 1.0F);
    TAXPY(d, a, 1.0F);
  });
  ASSERT_EQ(result.findings.size(), 1U) << Text(result.findings);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kUnwrittenRead);
}

}  // namespace
}  // namespace kerf::sim
