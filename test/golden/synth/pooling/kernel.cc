// Written by kerf's synthesizer: 2 operations in 1 step.
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

bool has_shape(const DLTensor& tensor, std::initializer_list<int64_t> shape) {
  return tensor.data != nullptr && tensor.ndim == static_cast<int32_t>(shape.size()) &&
         std::equal(shape.begin(), shape.end(), tensor.shape);
}

// The larger one; NaN wins, as in torch.
template <typename T>
static inline T max_nan(T a, T b) {
  return (a < b || b != b) ? b : a;
}

// a / b rounded up; b > 0.
static inline int64_t ceil_div(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

// maximum of the window.
//   line 8: return F.max_pool2d(torch.relu(x), 3, 2, 1)
// Vectors are filled across 17 neighbouring columns, because memory is contiguous there.
void step1_max_pool2d_with_indices(const float* __restrict input0, float* __restrict max_pool2d_with_indices, int threads) {
  constexpr int64_t kColumns = 17;
  constexpr int64_t kTile = 17;
  for (int64_t i0 = 0; i0 < 16; ++i0) {
    for (int64_t i1 = 0; i1 < 15; ++i1) {
      constexpr int64_t col0 = 0, col_end = kColumns;
      float max_pool2d_with_indices_acc[kTile];
      std::fill_n(max_pool2d_with_indices_acc, kTile, -std::numeric_limits<float>::infinity());
      for (int64_t k0 = std::max<int64_t>(0, -i1 * 2 + 1); k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
#pragma omp simd
          for (int64_t col = std::max<int64_t>(col0, ceil_div(-k1 + 1, 2)); col < std::min<int64_t>(col_end, ceil_div(-k1 + 35, 2)); ++col) {
            max_pool2d_with_indices_acc[col - col0] = max_nan(max_pool2d_with_indices_acc[col - col0], max_nan(input0[i0 * 1020 + i1 * 68 + k0 * 34 + col * 2 + k1 - 35], 0.0f));
          }
        }
      }
#pragma omp simd
      for (int64_t col = col0; col < col_end; ++col) {
        max_pool2d_with_indices[i0 * 255 + i1 * 17 + col] = max_pool2d_with_indices_acc[col - col0];
      }
    }
  }
  (void)threads;
}

}  // namespace

KERF_KERNEL(call) {
  // Sizes are part of the loops: other ones are refused.
  if (call->n_inputs < 1 || call->n_params < 0 || call->n_outputs != 1) return 1;
  if (!has_shape(call->inputs[0], {2, 8, 30, 34})) return 1;
  const auto* input0 = kerf_data<const float>(call->inputs[0]);
  auto* max_pool2d_with_indices = kerf_data<float>(call->outputs[0]);
  step1_max_pool2d_with_indices(input0, max_pool2d_with_indices, call->threads);
  return 0;
}
