// Written by kerf's synthesizer: 1 operation in 1 step.
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

// The larger one; NaN wins, as in torch.
template <typename T>
static inline T max_nan(T a, T b) {
  return (a < b || b != b) ? b : a;
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

// Joins the lanes of any other reduction.
template <typename T, int kCount, typename Join>
static inline T fold(T (&lanes)[kCount], Join join) {
  for (int width = kCount / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] = join(lanes[lane], lanes[lane + width]);
  }
  return lanes[0];
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

// maximum, exp(x - maximum), sum of exponentials, inverse sum, softmax.
//   line 8: return torch.softmax(x, dim=1)
// Each turn of the outer loops makes all passes over its own row, which stays in cache with 2 KiB
// of buffers.
void step1_softmax(const float* __restrict input0, float* __restrict softmax, int threads) {
#pragma omp parallel num_threads(threads)
  {
    const auto exp_x_maximum_row = std::make_unique_for_overwrite<float[]>(512);
#pragma omp for schedule(static)
    for (int64_t row = 0; row < 64; ++row) {
      // maximum
      float maximum_acc[kLanes];
      std::fill_n(maximum_acc, kLanes, -std::numeric_limits<float>::infinity());
      {
        const auto turn = [&](int64_t col, int lane) {
          maximum_acc[lane] = max_nan(maximum_acc[lane], input0[row * 512 + col]);
        };
        int64_t at = 0;
        for (; at + kLanes <= 512; at += kLanes) {
#pragma omp simd
          for (int lane = 0; lane < kLanes; ++lane) turn(at + lane, lane);
        }
      }
      const float maximum = fold(maximum_acc, [](float a, float b) { return max_nan(a, b); });
      // exp(x - maximum), sum of exponentials
      float sum_of_exponentials_acc[kLanes] = {};
      {
        const auto turn = [&](int64_t col, int lane) {
          const float exp_x_maximum_now = exp_float(input0[row * 512 + col] - maximum);
          exp_x_maximum_row[col] = exp_x_maximum_now;
          sum_of_exponentials_acc[lane] += exp_x_maximum_now;
        };
        int64_t at = 0;
        for (; at + kLanes <= 512; at += kLanes) {
#pragma omp simd
          for (int lane = 0; lane < kLanes; ++lane) turn(at + lane, lane);
        }
      }
      const float sum_of_exponentials = fold_sum(sum_of_exponentials_acc);
      // inverse sum
      const float inverse_sum = 1.0f / sum_of_exponentials;
      // softmax
#pragma omp simd
      for (int64_t col = 0; col < 512; ++col) {
        softmax[row * 512 + col] = exp_x_maximum_row[col] * inverse_sum;
      }
    }
  }
}

}  // namespace

KERF_KERNEL(call) {
  // Sizes are part of the loops: other ones are refused.
  if (call->n_inputs < 1 || call->n_params < 0 || call->n_outputs != 1) return 1;
  if (!has_shape(call->inputs[0], {64, 512})) return 1;
  const auto* input0 = kerf_data<const float>(call->inputs[0]);
  auto* softmax = kerf_data<float>(call->outputs[0]);
  step1_softmax(input0, softmax, call->threads);
  return 0;
}
