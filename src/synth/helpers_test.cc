// The functions that emitted kernels contain, compiled here from the same text and held against
// double precision.
#include "synth/helpers.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/subprocess.h"

namespace kerf::synth {
namespace {

// Prints the largest error in units of the last place for each function.
constexpr const char* kProgram = R"(
template <typename Own, typename Right>
void Measure(const char* name, Own own, Right right, double from, double to, int steps) {
  double worst = 0;
  for (int i = 0; i <= steps; ++i) {
    const float x = static_cast<float>(from + (to - from) * i / steps);
    const double wanted = right(static_cast<double>(x));
    const double unit = std::ldexp(1.0, std::max(-149, std::ilogb(wanted) - 23));
    worst = std::max(worst, std::fabs(own(x) - wanted) / unit);
  }
  std::printf("%s %.3f\n", name, worst);
}
int main() {
  Measure("exp", exp_float, [](double x) { return std::exp(x); }, -87, 88.6, 400000);
  Measure("exp2", exp2_float, [](double x) { return std::exp2(x); }, -125, 127.9, 400000);
  Measure("expm1", expm1_float, [](double x) { return std::expm1(x); }, -16, 80, 400001);
  Measure("log", log_float, [](double x) { return std::log(x); }, 1e-6, 50, 400000);
  Measure("log", log_float, [](double x) { return std::log(x); }, 1e30, 3e38, 1000);
  Measure("log1p", log1p_float, [](double x) { return std::log1p(x); }, -0.99, 5, 400001);
  Measure("tanh", tanh_float, [](double x) { return std::tanh(x); }, -9, 9, 400001);
  Measure("erf", erf_float, [](double x) { return std::erf(x); }, -4.5, 4.5, 400001);
  const auto one_plus_erf = [](double x) { return std::erfc(-x); };
  Measure("one_plus_erf", one_plus_erf_float, one_plus_erf, -1, 5, 400001);
  Measure("one_plus_erf_tail", one_plus_erf_float, one_plus_erf, -3.99, -1, 400001);
  Measure("sigmoid", sigmoid_float, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 400000);
  Measure("sin", sin_float, [](double x) { return std::sin(x); }, -3, 3, 400001);
  Measure("cos", cos_float, [](double x) { return std::cos(x); }, -1.5, 1.5, 400001);
  int halves = 0;
  for (uint32_t h = 0; h < 65536; ++h) {
    const float x = load_half(static_cast<uint16_t>(h));
    const bool nan = x != x;
    halves += nan ? (load_half(store_half(x)) == load_half(store_half(x))) : store_half(x) != h;
  }
  std::printf("half %d\n", halves);
  std::printf("bfloat %d\n", store_bfloat(1.00390625f) == 0x3f80 && store_bfloat(1.01171875f) == 0x3f82 ? 0 : 1);
  const float infinity = std::numeric_limits<float>::infinity();
  const bool ends = exp_float(-infinity) == 0 && exp_float(infinity) == infinity && log_float(0) == -infinity &&
                    log_float(infinity) == infinity && log_float(-1) != log_float(-1) && tanh_float(infinity) == 1 &&
                    tanh_float(-infinity) == -1 && erf_float(-infinity) == -1 && expm1_float(-infinity) == -1 &&
                    expm1_float(infinity) == infinity && log1p_float(-1) == -infinity && sigmoid_float(-infinity) == 0 &&
                    exp_float(NAN) != exp_float(NAN) && tanh_float(NAN) != tanh_float(NAN) &&
                    erf_float(NAN) != erf_float(NAN) && one_plus_erf_float(-infinity) == 0 && one_plus_erf_float(infinity) == 2 &&
                    one_plus_erf_float(NAN) != one_plus_erf_float(NAN) && max_nan(1.0f, NAN) != max_nan(1.0f, NAN) &&
                    std::fabs(erfinv(0.95) - 1.3859038243496777) < 1e-12;
  std::printf("ends %d\n", ends ? 0 : 1);
}
)";

std::string Source() {
  return "#pragma GCC optimize(\"no-math-errno\", \"no-trapping-math\")\n#include "
         "<algorithm>\n#include <cmath>\n"
         "#include <cstdint>\n#include <cstdio>\n#include <limits>\n" +
         HelperText({"exp_float", "exp2_float", "expm1_float", "log_float", "log1p_float",
                     "tanh_float", "erf_float", "one_plus_erf_float", "sigmoid_float",
                     "sin_cos_float", "load_half", "store_half", "store_bfloat", "max_nan",
                     "erfinv"}) +
         kProgram;
}

TEST(Helpers, AreAccurateAndRightAtTheEnds) {
  const std::string base = ::testing::TempDir() + "/kerf_synth_helpers";
  std::ofstream(base + ".cc") << Source();
  const auto built = RunProcess(
      {.argv = {"c++", "-std=c++20", "-O2", "-ffp-contract=fast", base + ".cc", "-o", base},
       .timeout = std::chrono::seconds(60)});
  ASSERT_TRUE(built.ok()) << built.error().message;
  if (built->exit_code == 127) GTEST_SKIP() << "no C++ compiler";
  ASSERT_EQ(built->exit_code, 0) << built->stderr_text;
  const auto run = RunProcess({.argv = {base}, .timeout = std::chrono::seconds(60)});
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->exit_code, 0);
  std::istringstream lines(run->stdout_text);
  std::string name;
  double worst = 0;
  int seen = 0;
  while (lines >> name >> worst) {
    ++seen;
    const bool exact = name == "half" || name == "bfloat" || name == "ends";
    EXPECT_LE(worst, exact ? 0 : name == "one_plus_erf_tail" ? 50 : 3) << name;
  }
  EXPECT_EQ(seen, 16) << run->stdout_text;
}

TEST(Helpers, BringWhatTheyCall) {
  const std::string text = HelperText({"sigmoid_float"});
  EXPECT_LT(text.find("float_of_bits("), text.find("exp_float("));
  EXPECT_EQ(text.find("log_float"), std::string::npos);
}

}  // namespace
}  // namespace kerf::synth
