// Written by kerf's synthesizer: 3 operations in 1 step.
// Nobody asks for errno or floating-point traps, and integers wrap as the reference's do. None
// of this changes a result.
#pragma GCC optimize("no-math-errno", "no-trapping-math", "wrapv")
#include <kerf/kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

namespace {

// Partial results of a reduction, enough to hide the latency of an addition.
constexpr int kLanes = 32;

bool has_shape(const DLTensor& tensor, std::initializer_list<int64_t> shape) {
  return tensor.data != nullptr && tensor.ndim == static_cast<int32_t>(shape.size()) &&
         std::equal(shape.begin(), shape.end(), tensor.shape);
}

// Joins the lanes of a sum in pairs; floats in double precision, because it costs nothing here.
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

static inline float float_of_bits(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
static inline uint32_t bits_of_float(float x) { return __builtin_bit_cast(uint32_t, x); }

// e^x, 1 ulp: 2^n * e^r with |r| <= ln(2)/2, and 2^n in two steps for the ends of the range.
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

// 2 ulp: x P(x^2) below 1, 1 - e^Q(x) above.
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

// 1 + erf(x), as GELU uses it: e^Q(|x|) is erfc(|x|), so that nothing cancels below zero. 3 ulp
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

// sum for the mean, mean, sum of squared distances from the mean, inverse deviation,
// aten.add.Tensor.
//   line 12: return F.gelu(self.norm(x)) + x
// Each turn of the outer loops makes all passes over its own row, which stays in cache.
void step1_add(const float* __restrict input0, const float* __restrict norm_weight, const float* __restrict norm_bias, float* __restrict add, int threads) {
  for (int64_t row = 0; row < 32; ++row) {
    // sum for the mean
    float sum_for_the_mean_acc[kLanes] = {};
    {
      const auto turn = [&](int64_t col, int lane) {
        sum_for_the_mean_acc[lane] += input0[row * 96 + col];
      };
      int64_t at = 0;
      for (; at + kLanes <= 96; at += kLanes) {
#pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane) turn(at + lane, lane);
      }
    }
    const float sum_for_the_mean = fold_sum(sum_for_the_mean_acc);
    // mean
    const float mean = sum_for_the_mean / 96.0f;
    // sum of squared distances from the mean
    float sum_of_squared_distances_from_the_mean_acc[kLanes] = {};
    {
      const auto turn = [&](int64_t col, int lane) {
        const float v0 = input0[row * 96 + col] - mean;
        sum_of_squared_distances_from_the_mean_acc[lane] += v0 * v0;
      };
      int64_t at = 0;
      for (; at + kLanes <= 96; at += kLanes) {
#pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane) turn(at + lane, lane);
      }
    }
    const float sum_of_squared_distances_from_the_mean = fold_sum(sum_of_squared_distances_from_the_mean_acc);
    // inverse deviation
    const float inverse_deviation = 1.0f / std::sqrt((sum_of_squared_distances_from_the_mean / 96.0f) + 1e-05f);
#pragma omp simd
    for (int64_t col = 0; col < 96; ++col) {
      const float v1 = input0[row * 96 + col];
      const float v2 = (((v1 - mean) * inverse_deviation) * norm_weight[col]) + norm_bias[col];
      add[row * 96 + col] = ((v2 * 0.5f) * one_plus_erf_float(v2 * 0.70710678f)) + v1;
    }
  }
  (void)threads;
}

}  // namespace

KERF_KERNEL(call) {
  // Sizes are part of the loops: other ones are refused.
  if (call->n_inputs < 1 || call->n_params < 2 || call->n_outputs != 1) return 1;
  if (!has_shape(call->inputs[0], {32, 96})) return 1;
  if (!has_shape(call->params[0], {96})) return 1;
  if (!has_shape(call->params[1], {96})) return 1;
  const auto* input0 = kerf_data<const float>(call->inputs[0]);
  const auto* norm_weight = kerf_data<const float>(call->params[0]);
  const auto* norm_bias = kerf_data<const float>(call->params[1]);
  auto* add = kerf_data<float>(call->outputs[0]);
  step1_add(input0, norm_weight, norm_bias, add, call->threads);
  return 0;
}
