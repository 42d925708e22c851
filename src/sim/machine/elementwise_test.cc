#include <algorithm>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

constexpr int kRows = 6;
constexpr int kCols = 64;

// d = op(a, b) over a valid region of `rows` by `cols`; `wanted` in double.
template <typename T, typename Run, typename Wanted>
void CheckBinary(int rows, int cols, const char* name, Run&& run, Wanted&& wanted,
                 double relative) {
  Matrix<T> a = Sample<T>(rows, cols, 1);
  Matrix<T> b = Sample<T>(rows, cols, 2);
  for (T& value : b.data) {
    if (static_cast<double>(value) == 0) value = static_cast<T>(1);
  }
  Matrix<T> d(rows, cols);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, b, "b");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Vec<T, kRows, kCols> x(rows, cols), y(rows, cols), z(rows, cols);
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x1000);
    TASSIGN(z, 0x2000);
    TLOAD(x, ViewOf(a));
    TLOAD(y, ViewOf(b));
    run(z, x, y);
    TSTORE(ViewOf(d), z);
  }));
  ExpectNear<T>(
      d,
      [&](int r, int c) {
        return wanted(static_cast<double>(a.at(r, c)), static_cast<double>(b.at(r, c)));
      },
      relative, name);
}

#define CHECK_BINARY(T, NAME, EXPRESSION, RELATIVE)                                 \
  for (const auto& [rows, cols] : {std::pair{1, 1}, {6, 64}, {5, 13}, {3, 33}}) {   \
    CheckBinary<T>(                                                                 \
        rows, cols, #NAME " " #T, [](auto& d, auto& a, auto& b) { NAME(d, a, b); }, \
        []([[maybe_unused]] double x, [[maybe_unused]] double y) {                  \
          return static_cast<double>(EXPRESSION);                                   \
        },                                                                          \
        RELATIVE);                                                                  \
  }
#define CHECK_BINARY_TYPES(NAME, EXPRESSION)  \
  CHECK_BINARY(float, NAME, EXPRESSION, 1e-6) \
  CHECK_BINARY(half, NAME, EXPRESSION, 1e-3)  \
  CHECK_BINARY(int32_t, NAME, EXPRESSION, 0)  \
  CHECK_BINARY(int16_t, NAME, EXPRESSION, 0)

TEST(Elementwise, AddsSubtractsMultiplies){
    CHECK_BINARY_TYPES(TADD, x + y) CHECK_BINARY_TYPES(TSUB, x - y) CHECK_BINARY_TYPES(TMUL, x* y)}

TEST(Elementwise, TakesTheLargerAndTheSmaller){CHECK_BINARY_TYPES(TMAX, std::max(x, y))
                                                   CHECK_BINARY_TYPES(TMIN, std::min(x, y))}

TEST(Elementwise, Divides){CHECK_BINARY(float, TDIV, x / y, 1e-6)
                               CHECK_BINARY(half, TDIV, x / y, 1e-3)
                                   CHECK_BINARY(int32_t, TDIV, std::trunc(x / y), 0)}

TEST(Elementwise, WorksOnBits){
    CHECK_BINARY(int32_t, TAND, static_cast<int32_t>(x) & static_cast<int32_t>(y), 0)
        CHECK_BINARY(int16_t, TOR, static_cast<int16_t>(x) | static_cast<int16_t>(y), 0)
            CHECK_BINARY(int32_t, TXOR, static_cast<int32_t>(x) ^ static_cast<int32_t>(y), 0)}

TEST(Elementwise, TakesScalarsOfTheTilesType) {
#define CHECK_SCALAR(T, NAME, S, EXPRESSION, RELATIVE)                     \
  CheckBinary<T>(                                                          \
      5, 13, #NAME " " #T, [](auto& d, auto& a, auto&) { NAME(d, a, S); }, \
      [](double x, double) { return static_cast<double>(EXPRESSION); }, RELATIVE);
  CHECK_SCALAR(float, TADDS, 2.5F, x + 2.5, 1e-6)
  CHECK_SCALAR(half, TADDS, 2.5F, x + 2.5, 1e-3)
  CHECK_SCALAR(int32_t, TADDS, 3, x + 3, 0)
  CHECK_SCALAR(float, TSUBS, 2.5F, x - 2.5, 1e-6)
  CHECK_SCALAR(float, TMULS, -0.5F, x * -0.5, 1e-6)
  CHECK_SCALAR(int16_t, TMULS, 3, x * 3, 0)
  CHECK_SCALAR(float, TDIVS, 3.0F, x / 3, 1e-6)
  CHECK_SCALAR(float, TMAXS, 1.0F, std::max(x, 1.0), 0)
  CHECK_SCALAR(int32_t, TMINS, 1, std::min(x, 1.0), 0)
  CheckBinary<float>(
      5, 13, "TDIVS reversed", [](auto& d, auto&, auto& b) { TDIVS(d, 3.0F, b); },
      [](double, double y) { return 3 / y; }, 1e-6);
}

TEST(Elementwise, TakesFunctionsOfOneTile) {
#define CHECK_UNARY(T, NAME, EXPRESSION, RELATIVE) \
  CheckBinary<T>(                                  \
      5, 13, #NAME " " #T,                         \
      [](auto& d, auto&, auto& b) {                \
        TMUL(b, b, b);                             \
        NAME(d, b);                                \
      },                                           \
      [](double, double y) {                       \
        const double x = y * y;                    \
        return static_cast<double>(EXPRESSION);    \
      },                                           \
      RELATIVE);
  CHECK_UNARY(float, TEXP, std::exp(x), 1e-6)
  CHECK_UNARY(float, TLOG, std::log(x), 1e-6)
  CHECK_UNARY(half, TLOG, std::log(x), 2e-3)
  CHECK_UNARY(float, TSQRT, std::sqrt(x), 1e-6)
  CHECK_UNARY(float, TRSQRT, 1 / std::sqrt(x), 1e-6)
  CHECK_UNARY(half, TRECIP, 1 / x, 1e-3)
  CHECK_UNARY(float, TNEG, -x, 0)
  CHECK_UNARY(int32_t, TNEG, -x, 0)
  CHECK_UNARY(float, TRELU, x, 0)
  CheckBinary<float>(
      5, 13, "TABS", [](auto& d, auto& a, auto&) { TABS(d, a); },
      [](double x, double) { return std::fabs(x); }, 0);
}

// --- conversions ---

template <typename To, typename From>
std::vector<double> Converted(std::vector<From> values, RoundMode mode,
                              SaturationMode saturation = SaturationMode::ON) {
  Matrix<From> a(1, static_cast<int>(values.size()));
  a.data = std::move(values);
  Matrix<To> d(1, a.cols);
  GlobalMemory global;
  AddTo(global, a, "a");
  AddTo(global, d, "d");
  ExpectClean(RunBody(global, [&] {
    Vec<From, 1, 64> x(1, a.cols);
    Vec<To, 1, 64> z(1, a.cols);
    TASSIGN(x, 0x0);
    TASSIGN(z, 0x1000);
    TLOAD(x, ViewOf(a));
    TCVT(z, x, mode, saturation);
    TSTORE(ViewOf(d), z);
  }));
  std::vector<double> result;
  for (const To& value : d.data) result.push_back(static_cast<double>(value));
  return result;
}

TEST(Convert, RoundsToWholeNumbersInEveryMode) {
  const std::vector<float> values = {0.5F, 1.5F, -0.5F, -1.5F, 2.4F, -2.6F};
  EXPECT_EQ(Converted<int32_t>(values, RoundMode::CAST_RINT),
            (std::vector<double>{0, 2, 0, -2, 2, -3}));
  EXPECT_EQ(Converted<int32_t>(values, RoundMode::CAST_ROUND),
            (std::vector<double>{1, 2, -1, -2, 2, -3}));
  EXPECT_EQ(Converted<int32_t>(values, RoundMode::CAST_FLOOR),
            (std::vector<double>{0, 1, -1, -2, 2, -3}));
  EXPECT_EQ(Converted<int32_t>(values, RoundMode::CAST_CEIL),
            (std::vector<double>{1, 2, 0, -1, 3, -2}));
  EXPECT_EQ(Converted<int32_t>(values, RoundMode::CAST_TRUNC),
            (std::vector<double>{0, 1, 0, -1, 2, -2}));
}

TEST(Convert, SaturatesUnlessToldNotTo) {
  EXPECT_EQ(Converted<int16_t>(std::vector<float>{70000, -70000}, RoundMode::CAST_RINT),
            (std::vector<double>{32767, -32768}));
  EXPECT_EQ(
      Converted<int16_t>(std::vector<float>{65537}, RoundMode::CAST_RINT, SaturationMode::OFF),
      (std::vector<double>{1}));
  EXPECT_EQ(Converted<int8_t>(std::vector<half>{200, -200}, RoundMode::CAST_RINT),
            (std::vector<double>{127, -128}));
}

TEST(Convert, RoundsToBfloat16AsTold) {
  // 1 + 2^-8 lies between 1 and 1 + 2^-7.
  const std::vector<float> middle = {1.00390625F, -1.00390625F};
  EXPECT_EQ(Converted<bfloat16_t>(middle, RoundMode::CAST_RINT), (std::vector<double>{1, -1}));
  EXPECT_EQ(Converted<bfloat16_t>(middle, RoundMode::CAST_ROUND),
            (std::vector<double>{1.0078125, -1.0078125}));
  EXPECT_EQ(Converted<bfloat16_t>(middle, RoundMode::CAST_FLOOR),
            (std::vector<double>{1, -1.0078125}));
  EXPECT_EQ(Converted<bfloat16_t>(middle, RoundMode::CAST_TRUNC), (std::vector<double>{1, -1}));
}

TEST(Convert, WidensExactly) {
  EXPECT_EQ(Converted<float>(std::vector<half>{0.1F}, RoundMode::CAST_NONE),
            (std::vector<double>{0.0999755859375}));
  EXPECT_EQ(Converted<float>(std::vector<int32_t>{-7, 16777217}, RoundMode::CAST_RINT),
            (std::vector<double>{-7, 16777216}));
  EXPECT_EQ(Converted<int64_t>(std::vector<int32_t>{-7}, RoundMode::CAST_RINT),
            (std::vector<double>{-7}));
}

template <typename D, typename A>
void CheckPack(int rows, int cols) {
  Matrix<A> x(rows, cols);
  std::mt19937 random(9);
  for (A& value : x.data) value = static_cast<A>(random());
  Matrix<D> z(rows, cols);
  GlobalMemory global = MemoryOf(x, z);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto a = tiles.Load<8, 64>(x);
    auto d = tiles.New<D, 8, 64>(rows, cols);
    TPACK(d, a);
    TSTORE(ViewOf(z), d);
  }));
  for (size_t i = 0; i < z.data.size(); ++i) ASSERT_EQ(z.data[i], static_cast<D>(x.data[i])) << i;
}

TEST(Convert, PacksTheLowBits) {
  for (const auto& [rows, cols] : {std::pair{8, 64}, {3, 17}, {1, 1}}) {
    CheckPack<int16_t, int32_t>(rows, cols);
    CheckPack<uint8_t, uint32_t>(rows, cols);
    CheckPack<int8_t, int16_t>(rows, cols);
  }
}

}  // namespace
}  // namespace kerf::sim
