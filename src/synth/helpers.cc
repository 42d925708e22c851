// Accuracies are in docs/synth.md and are measured by helpers_test.cc. Coefficients are own
// minimax fits (Lawson's iteration on Chebyshev nodes).
#include "synth/helpers.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace kerf::synth {
namespace {

struct Helper {
  std::string_view name;
  std::string_view text;
};

// A helper may call those above it.
constexpr Helper kHelpers[] = {
    {"max_nan", R"(// The larger one; NaN wins, as in torch.
template <typename T>
static inline T max_nan(T a, T b) {
  return (a < b || b != b) ? b : a;
}
)"},
    {"min_nan", R"(// The smaller one; NaN wins, as in torch.
template <typename T>
static inline T min_nan(T a, T b) {
  return (b < a || b != b) ? b : a;
}
)"},
    {"fmax_num", R"(// The larger one; NaN loses.
template <typename T>
static inline T fmax_num(T a, T b) {
  return (a < b || a != a) ? b : a;
}
)"},
    {"fmin_num", R"(// The smaller one; NaN loses.
template <typename T>
static inline T fmin_num(T a, T b) {
  return (b < a || a != a) ? b : a;
}
)"},
    {"max_int", R"(template <typename T>
static inline T max_int(T a, T b) {
  return a < b ? b : a;
}
)"},
    {"min_int", R"(template <typename T>
static inline T min_int(T a, T b) {
  return b < a ? b : a;
}
)"},
    {"is_nan", R"(template <typename T>
static inline bool is_nan(T x) {
  return x != x;
}
)"},
    {"is_inf", R"(template <typename T>
static inline bool is_inf(T x) {
  return std::abs(x) == std::numeric_limits<T>::infinity();
}
)"},
    {"fold_sum",
     R"(// Joins the lanes of a sum in pairs; floats in double precision, because it costs nothing here.
template <typename T, int kCount>
static inline T fold_sum(const T (&lanes)[kCount]) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
  Wide sums[kCount / 2];
  for (int lane = 0; lane < kCount / 2; ++lane)
    sums[lane] = static_cast<Wide>(lanes[lane]) + static_cast<Wide>(lanes[lane + kCount / 2]);
  for (int width = kCount / 4; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return static_cast<T>(sums[0]);
}
)"},
    {"fold", R"(// Joins the lanes of any other reduction.
template <typename T, int kCount, typename Join>
static inline T fold(T (&lanes)[kCount], Join join) {
  for (int width = kCount / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] = join(lanes[lane], lanes[lane + width]);
  }
  return lanes[0];
}
)"},
    {"first_better",
     R"(// Of two candidates for an extreme, whether the second takes the place: NaN beats all, and among
// equals the first one stands.
template <bool kLargest, typename T>
static inline bool first_better(T best, T value) {
  const bool beats = kLargest ? value > best : value < best;
  return beats || (value != value && best == best);
}
)"},
    {"ceil_div", R"(// a / b rounded up; b > 0.
static inline int64_t ceil_div(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}
)"},
    {"floor_div", R"(// Python's //: rounds down.
template <typename T>
static inline T floor_div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    T whole = std::floor(quotient);
    if (quotient - whole > T(0.5)) whole += 1;
    return whole;
  } else {
    if (b == 0) return 0;  // the reference would have stopped
    const T quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
  }
}
)"},
    {"trunc_div", R"(template <typename T>
static inline T trunc_div(T a, T b) {
  return b == 0 ? T(0) : a / b;  // the reference would have stopped at 0
}
)"},
    {"py_mod", R"(// Python's %: the sign of the divisor.
template <typename T>
static inline T py_mod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = std::fmod(a, b);
    return (rest != 0 && (b < 0) != (rest < 0)) ? rest + b : rest;
  } else {
    if (b == 0) return 0;  // the reference would have stopped
    const T rest = a % b;
    return (rest != 0 && (b < 0) != (rest < 0)) ? rest + b : rest;
  }
}
)"},
    {"c_mod", R"(// C's %: the sign of the dividend.
template <typename T>
static inline T c_mod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    return b == 0 ? T(0) : a % b;
  }
}
)"},
    {"int_pow", R"(template <typename T>
static inline T int_pow(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  T result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}
)"},
    {"float_of_bits", R"(static inline float float_of_bits(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
static inline uint32_t bits_of_float(float x) { return __builtin_bit_cast(uint32_t, x); }
)"},
    {"load_half",
     R"(// float16 → float32. The exponent is shifted by a multiplication, which also does denormals.
static inline float load_half(uint16_t h) {
  const uint32_t magnitude = uint32_t(h & 0x7fff) << 13;
  const float scaled = float_of_bits(magnitude) * 5.192296858534828e33f;  // 2^112
  const uint32_t special = (h & 0x7c00) == 0x7c00 ? 0x7f800000u | magnitude : bits_of_float(scaled);
  return float_of_bits(special | (uint32_t(h & 0x8000) << 16));
}
)"},
    {"store_half", R"(// float32 → float16, to the nearest, ties to even.
static inline uint16_t store_half(float x) {
  const uint32_t bits = bits_of_float(x);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t size = bits & 0x7fffffff;
  const uint32_t normal = (size - 0x38000000u + 0xfff + ((size >> 13) & 1)) >> 13;
  const uint32_t denormal = bits_of_float(float_of_bits(size) + 0.5f) - 0x3f000000u;
  const uint32_t large = size > 0x7f800000u ? 0x7e00 : 0x7c00;
  const uint32_t finite = size < 0x38800000u ? denormal : normal;
  return static_cast<uint16_t>(sign | (size >= 0x47800000u ? large : finite));
}
)"},
    {"load_bfloat",
     R"(static inline float load_bfloat(uint16_t b) { return float_of_bits(uint32_t(b) << 16); }
)"},
    {"store_bfloat", R"(// float32 → bfloat16, to the nearest, ties to even.
static inline uint16_t store_bfloat(float x) {
  const uint32_t bits = bits_of_float(x);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>(x != x ? 0x7fc0u : rounded);
}
)"},
    {"exp_float",
     R"(// e^x, 1 ulp: 2^n * e^r with |r| <= ln(2)/2, and 2^n in two steps for the ends of the range.
static inline float exp_float(float x) {
  const float c = x > 89.0f ? 89.0f : (x < -104.0f ? -104.0f : x);
  const float n = std::nearbyint(c * 1.44269504f);
  float r = std::fma(n, -0.693145752f, c);
  r = std::fma(n, -1.42860677e-6f, r);
  float p = 0.00139505193f;
  p = std::fma(p, r, 0.00836890867f);
  p = std::fma(p, r, 0.0416662054f);
  p = std::fma(p, r, 0.166665187f);
  p = std::fma(p, r, 0.50000001f);
  p = std::fma(p * r, r, r) + 1.0f;
  const int32_t k = static_cast<int32_t>(n);
  const int32_t half = k >> 1;
  return p * float_of_bits(uint32_t(half + 127) << 23) *
         float_of_bits(uint32_t(k - half + 127) << 23);
}
)"},
    {"exp2_float", R"(// 2^x, 1 ulp.
static inline float exp2_float(float x) {
  const float c = x > 129.0f ? 129.0f : (x < -151.0f ? -151.0f : x);
  const float n = std::nearbyint(c);
  const float r = (c - n) * 0.693147181f;
  float p = 1.98412698e-4f;
  p = std::fma(p, r, 1.38888889e-3f);
  p = std::fma(p, r, 8.33333333e-3f);
  p = std::fma(p, r, 4.16666667e-2f);
  p = std::fma(p, r, 1.66666667e-1f);
  p = std::fma(p, r, 0.5f);
  p = std::fma(p, r, 1.0f);
  p = std::fma(p, r, 1.0f);
  const int32_t k = static_cast<int32_t>(n);
  const int32_t half = k >> 1;
  const float y = p * float_of_bits(uint32_t(half + 127) << 23) *
                  float_of_bits(uint32_t(k - half + 127) << 23);
  return x != x ? x : y;
}
)"},
    {"expm1_float", R"(// e^x - 1, 2 ulp, also where e^x is near 1.
static inline float expm1_float(float x) {
  const float c = x > 88.8f ? 88.8f : (x < -20.0f ? -20.0f : x);
  const float n = std::nearbyint(c * 1.44269504f);
  float r = std::fma(n, -0.693145752f, c);
  r = std::fma(n, -1.42860677e-6f, r);
  float p = 0.000199127185f;
  p = std::fma(p, r, 0.0013941033f);
  p = std::fma(p, r, 0.0083332757f);
  p = std::fma(p, r, 0.0416663544f);
  p = std::fma(p, r, 0.166666668f);
  p = std::fma(p, r, 0.500000005f);
  p = std::fma(p * r, r, r);
  // Half the scale, and twice the rest: 2^128 is no float.
  const float half = float_of_bits(uint32_t(static_cast<int32_t>(n) + 126) << 23);
  return 2.0f * std::fma(p, half, half - 0.5f);
}
)"},
    {"log_float",
     R"(// ln x, 1 ulp: the exponent, and ln m = 2s + s^3 P(s^2) with s = (m - 1) / (m + 1).
static inline float log_float(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const uint32_t bits = bits_of_float(tiny ? x * 8388608.0f : x);
  const int32_t shift = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = float_of_bits(bits - (uint32_t(shift) << 23));
  const float e = static_cast<float>(shift) - (tiny ? 23.0f : 0.0f);
  const float f = m - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  float p = 0.233386313f;
  p = std::fma(p, z, 0.285505063f);
  p = std::fma(p, z, 0.400001248f);
  p = std::fma(p, z, 0.666666666f);
  // ln m = f - s * (f - z * P): the leading term is exact.
  const float tail = s * std::fma(z, p, -f);
  float y = std::fma(e, 1.42860677e-6f, tail);
  y = std::fma(e, 0.693145752f, f + y);
  y = x == std::numeric_limits<float>::infinity() ? x : y;
  y = x == 0.0f ? -std::numeric_limits<float>::infinity() : y;
  return (x < 0.0f || x != x) ? std::numeric_limits<float>::quiet_NaN() : y;
}
)"},
    {"log2_float", R"(static inline float log2_float(float x) { return log_float(x) * 1.44269504f; }
)"},
    {"log10_float",
     R"(static inline float log10_float(float x) { return log_float(x) * 0.434294482f; }
)"},
    {"log1p_float", R"(// ln(1 + x), 2 ulp: what 1 + x loses is put back.
static inline float log1p_float(float x) {
  const float u = 1.0f + x;
  const float lost = (x - (u - 1.0f)) / u;
  const bool plain = !(u > 0.0f) || u == std::numeric_limits<float>::infinity();
  return log_float(u) + (plain ? 0.0f : lost);
}
)"},
    {"tanh_float", R"(// 2 ulp: x + x^3 P(x^2) below 0.65, t / (t + 2) with t = e^(2|x|) - 1 above.
static inline float tanh_float(float x) {
  const float size = std::fabs(x);
  const float z = x * x;
  float p = 0.00205957327f;
  p = std::fma(p, z, -0.00808561672f);
  p = std::fma(p, z, 0.0216633984f);
  p = std::fma(p, z, -0.0539399415f);
  p = std::fma(p, z, 0.133331522f);
  p = std::fma(p, z, -0.333333294f);
  const float near = std::fma(p * z, x, x);
  const float t = exp_float(2.0f * (size > 10.0f ? 10.0f : size)) - 1.0f;
  const float far = std::copysign(t / (t + 2.0f), x);
  return size < 0.65f ? near : (x != x ? x : far);
}
)"},
    {"sigmoid_float",
     R"(static inline float sigmoid_float(float x) { return 1.0f / (1.0f + exp_float(-x)); }
)"},
    {"erf_float", R"(// 2 ulp: x P(x^2) below 1, 1 - e^Q(x) above.
static inline float erf_float(float x) {
  const float size = std::fabs(x);
  const float z = x * x;
  float p = -9.64151169e-06f;
  p = std::fma(p, z, 0.000112569463f);
  p = std::fma(p, z, -0.000848282862f);
  p = std::fma(p, z, 0.00522094542f);
  p = std::fma(p, z, -0.0268654f);
  p = std::fma(p, z, 0.11283782f);
  p = std::fma(p, z, -0.376126384f);
  p = std::fma(p, z, 1.12837917f);
  const float t = (size > 4.0f ? 4.0f : size) - 1.0f;
  float q = 9.38223373e-07f;
  q = std::fma(q, t, -6.58597738e-06f);
  q = std::fma(q, t, -3.29170883e-06f);
  q = std::fma(q, t, 0.00026323067f);
  q = std::fma(q, t, -0.00199136279f);
  q = std::fma(q, t, 0.0100376787f);
  q = std::fma(q, t, -0.0415616055f);
  q = std::fma(q, t, -0.843107243f);
  q = std::fma(q, t, -2.63896751f);
  q = std::fma(q, t, -1.84960551f);
  const float far = std::copysign(1.0f - exp_float(q), x);
  return size < 1.0f ? p * x : (x != x ? x : far);
}
)"},
    {"one_plus_erf_float",
     R"(// 1 + erf(x), as GELU uses it: e^Q(|x|) is erfc(|x|), so that nothing cancels below zero. 3 ulp
// above -1; up to 50 ulp at -4, where 1 + erf(x) in float32 is 0; 0 below that.
static inline float one_plus_erf_float(float x) {
  const float size = std::fabs(x);
  const float t = size > 4.0f ? 4.0f : size;
  float q = 7.9987252e-08f;
  q = std::fma(q, t, -2.1002586e-06f);
  q = std::fma(q, t, 2.4520476e-05f);
  q = std::fma(q, t, -0.00016622082f);
  q = std::fma(q, t, 0.00070199429f);
  q = std::fma(q, t, -0.0016807840f);
  q = std::fma(q, t, 7.4328258e-05f);
  q = std::fma(q, t, 0.019267054f);
  q = std::fma(q, t, -0.10283897f);
  q = std::fma(q, t, -0.63660514f);
  q = std::fma(q, t, -1.1283803f) * t;
  // e^q = 2^n * e^r; q is between -19 and 0, where 2^n is a float.
  const float n = std::nearbyint(q * 1.44269504f);
  float r = std::fma(n, -0.693145752f, q);
  r = std::fma(n, -1.42860677e-6f, r);
  float p = 0.00139505193f;
  p = std::fma(p, r, 0.00836890867f);
  p = std::fma(p, r, 0.0416662054f);
  p = std::fma(p, r, 0.166665187f);
  p = std::fma(p, r, 0.50000001f);
  p = std::fma(p * r, r, r) + 1.0f;
  const float scaled = p * float_of_bits(uint32_t(static_cast<int32_t>(n) + 127) << 23);
  const float below = size > 4.0f ? 0.0f : scaled;
  return x < 0.0f ? below : 2.0f - below;
}
)"},
    {"sin_cos_float",
     R"(// sin(x + turn * pi/2), 1 ulp. The quarter turns are taken off in double precision.
static inline float sin_cos_float(float x, int turn) {
  const double n = std::nearbyint(static_cast<double>(x) * 0.63661977236758134);
  double r = std::fma(n, -1.5707963267948966, static_cast<double>(x));
  r = std::fma(n, -6.123233995736766e-17, r);
  const int64_t quarter = static_cast<int64_t>(n) + turn;
  const float a = static_cast<float>(r);
  const float z = a * a;
  float s = 2.72469459e-06f;
  s = std::fma(s, z, -0.000198400638f);
  s = std::fma(s, z, 0.00833333183f);
  s = std::fma(s, z, -0.166666667f);
  s = std::fma(s * z, a, a);
  float c = -2.72984624e-07f;
  c = std::fma(c, z, 2.48005811e-05f);
  c = std::fma(c, z, -0.00138888876f);
  c = std::fma(c, z, 0.0416666667f);
  c = std::fma(c * z, z, std::fma(z, -0.5f, 1.0f));
  const float y = (quarter & 1) != 0 ? c : s;
  return (quarter & 2) != 0 ? -y : y;
}
static inline float sin_float(float x) { return sin_cos_float(x, 0); }
static inline float cos_float(float x) { return sin_cos_float(x, 1); }
)"},
    {"log_add_exp", R"(// log(e^a + e^b) without overflow.
template <typename T>
static inline T log_add_exp(T a, T b) {
  const T low = b < a ? b : a;
  const T high = b < a ? a : b;
  if (a != a || b != b) return a + b;
  if (low == high && std::isinf(low)) return low;
  return high + std::log1p(std::exp(low - high));
}
)"},
    {"sigmoid_double",
     R"(static inline double sigmoid_double(double x) { return 1.0 / (1.0 + std::exp(-x)); }
)"},
    {"erfinv",
     R"(// The inverse of erf: a first guess, then two steps of Newton's method in double precision.
static inline double erfinv(double y) {
  if (std::fabs(y) == 1.0) return std::copysign(std::numeric_limits<double>::infinity(), y);
  if (!(std::fabs(y) < 1.0)) return std::numeric_limits<double>::quiet_NaN();
  const double w = std::log((1.0 - y) * (1.0 + y));
  const double a = 2.0 / (3.14159265358979324 * 0.147) + 0.5 * w;
  double x = std::copysign(std::sqrt(std::sqrt(a * a - w / 0.147) - a), y);
  for (int step = 0; step < 3; ++step) {
    const double above = (1.0 - std::fabs(y)) - std::erfc(std::fabs(x));  // of |x|
    const double off = std::fabs(y) > 0.5 ? (y < 0 ? -above : above) : std::erf(x) - y;
    x -= off / (1.12837916709551257 * std::exp(-x * x));
  }
  return x;
}
)"},
};

bool Calls(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const char after = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    const char before = at > 0 ? text[at - 1] : ' ';
    if ((after == '(' || after == '<') && before != '_' && std::isalnum(before) == 0 &&
        before != ':')
      return true;
  }
  return false;
}

bool CallsAny(std::string_view text, const Helper& helper) {
  if (helper.name == "float_of_bits")
    return Calls(text, "float_of_bits") || Calls(text, "bits_of_float");
  return Calls(text, helper.name);
}

}  // namespace

std::string HelperText(const std::set<std::string>& names) {
  constexpr size_t kCount = std::size(kHelpers);
  std::vector<bool> wanted(kCount, false);
  for (const std::string& name : names) {
    const auto* at = std::find_if(std::begin(kHelpers), std::end(kHelpers),
                                  [&](const Helper& helper) { return helper.name == name; });
    KERF_CHECK(at != std::end(kHelpers), "emitted code calls a helper that exists");
    wanted[static_cast<size_t>(at - std::begin(kHelpers))] = true;
  }
  for (size_t i = kCount; i-- > 0;) {
    if (!wanted[i]) continue;
    for (size_t k = 0; k < i; ++k) {
      if (CallsAny(kHelpers[i].text, kHelpers[k])) wanted[k] = true;
    }
  }
  std::string text;
  for (size_t i = 0; i < kCount; ++i) {
    if (wanted[i]) text += std::string(kHelpers[i].text) + "\n";
  }
  return text;
}

}  // namespace kerf::synth
