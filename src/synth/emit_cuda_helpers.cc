#include "synth/emit_cuda_helpers.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace kerf::synth {
namespace {

struct CudaHelper {
  std::string_view name;
  std::string_view text;
};

// A helper may call those above it.
constexpr CudaHelper kCudaHelpers[] = {
    {"max_nan", R"(// The larger one; NaN wins, as in torch.
template <typename T>
__device__ inline T max_nan(T a, T b) {
  return (a < b || b != b) ? b : a;
}
)"},
    {"min_nan", R"(// The smaller one; NaN wins, as in torch.
template <typename T>
__device__ inline T min_nan(T a, T b) {
  return (b < a || b != b) ? b : a;
}
)"},
    {"fmax_num", R"(// The larger one; NaN loses.
template <typename T>
__device__ inline T fmax_num(T a, T b) {
  return (a < b || a != a) ? b : a;
}
)"},
    {"fmin_num", R"(// The smaller one; NaN loses.
template <typename T>
__device__ inline T fmin_num(T a, T b) {
  return (b < a || a != a) ? b : a;
}
)"},
    {"max_int", R"(template <typename T>
__device__ inline T max_int(T a, T b) {
  return a < b ? b : a;
}
)"},
    {"min_int", R"(template <typename T>
__device__ inline T min_int(T a, T b) {
  return b < a ? b : a;
}
)"},
    {"abs_int", R"(template <typename T>
__device__ inline T abs_int(T a) {
  return a < 0 ? -a : a;
}
)"},
    {"is_nan", R"(template <typename T>
__device__ inline bool is_nan(T x) {
  return x != x;
}
)"},
    {"is_inf", R"(__device__ inline bool is_inf(float x) { return fabsf(x) == INFINITY; }
__device__ inline bool is_inf(double x) { return fabs(x) == (double)INFINITY; }
)"},
    {"first_better",
     R"(// Of two candidates for an extreme, whether the second takes the place: NaN beats all.
template <bool kLargest, typename T>
__device__ inline bool first_better(T best, T value) {
  const bool beats = kLargest ? value > best : value < best;
  return beats || (value != value && best == best);
}
)"},
    {"take_better",
     R"(// Keeps the better of two candidates, the earlier one among equals.
template <bool kLargest, typename T>
__device__ inline void take_better(T& best, int64_t& place, T value, int64_t at) {
  const bool better = first_better<kLargest>(best, value);
  const bool tie = !better && !first_better<kLargest>(value, best) && at < place;
  if (better || tie) {
    best = value;
    place = at;
  }
}
)"},
    {"floor_div", R"(// Python's //: rounds down.
__device__ inline double floor_div(double a, double b) {
  if (b == 0) return a / b;
  const double rest = fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return copysign(0.0, a / b);
  double whole = floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return whole;
}
__device__ inline float floor_div(float a, float b) {
  if (b == 0) return a / b;
  const float rest = fmodf(a, b);
  float quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return copysignf(0.0f, a / b);
  float whole = floorf(quotient);
  if (quotient - whole > 0.5f) whole += 1;
  return whole;
}
template <typename T>
__device__ inline T floor_div(T a, T b) {
  if (b == 0) return 0;  // the reference would have stopped
  const T quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}
)"},
    {"trunc_div", R"(template <typename T>
__device__ inline T trunc_div(T a, T b) {
  return b == 0 ? T(0) : a / b;  // the reference would have stopped at 0
}
)"},
    {"py_mod", R"(// Python's %: the sign of the divisor.
__device__ inline double py_mod(double a, double b) {
  const double rest = fmod(a, b);
  return (rest != 0 && (b < 0) != (rest < 0)) ? rest + b : rest;
}
__device__ inline float py_mod(float a, float b) {
  const float rest = fmodf(a, b);
  return (rest != 0 && (b < 0) != (rest < 0)) ? rest + b : rest;
}
template <typename T>
__device__ inline T py_mod(T a, T b) {
  if (b == 0) return 0;  // the reference would have stopped
  const T rest = a % b;
  return (rest != 0 && (b < 0) != (rest < 0)) ? rest + b : rest;
}
)"},
    {"c_mod", R"(// C's %: the sign of the dividend.
__device__ inline double c_mod(double a, double b) { return fmod(a, b); }
__device__ inline float c_mod(float a, float b) { return fmodf(a, b); }
template <typename T>
__device__ inline T c_mod(T a, T b) {
  return b == 0 ? T(0) : a % b;
}
)"},
    {"int_pow", R"(template <typename T>
__device__ inline T int_pow(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  T result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}
)"},
    {"sigmoid_float",
     R"(__device__ inline float sigmoid_float(float x) { return 1.0f / (1.0f + expf(-x)); }
)"},
    {"sigmoid_double",
     R"(__device__ inline double sigmoid_double(double x) { return 1.0 / (1.0 + exp(-x)); }
)"},
    {"log_add_exp", R"(// log(e^a + e^b) without overflow.
__device__ inline float log_add_exp(float a, float b) {
  const float low = b < a ? b : a;
  const float high = b < a ? a : b;
  if (a != a || b != b) return a + b;
  if (low == high && fabsf(low) == INFINITY) return low;
  return high + log1pf(expf(low - high));
}
__device__ inline double log_add_exp(double a, double b) {
  const double low = b < a ? b : a;
  const double high = b < a ? a : b;
  if (a != a || b != b) return a + b;
  if (low == high && fabs(low) == (double)INFINITY) return low;
  return high + log1p(exp(low - high));
}
)"},
    {"Pack", R"(// Neighbouring elements that are read or written at once.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T at[kCount];
};
template <int kCount, typename T>
__device__ inline Pack<T, kCount> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}
template <int kCount, typename T>
__device__ inline void store_pack(T* to, const Pack<T, kCount>& pack) {
  *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
}
)"},
    {"tensor_cores", R"(#if defined(__CUDA_ARCH__)
// Sixteen bytes from global to shared memory without waiting; zeros when they are not inside.
__device__ inline void copy_pack(void* to, const void* from, bool inside) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes));
}
// Four 8 x 8 matrices of halves: lane i gives the address of row i % 8 of matrix i / 8.
__device__ inline void load_matrices(unsigned (&to)[4], const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(at));
}
__device__ inline void load_transposed(unsigned (&to)[4], const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(at));
}
// sum += a * b for 16 x 16 and 16 x 8 halves, summed in float32.
__device__ inline void multiply_half(float (&sum)[4], const unsigned (&a)[4], const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_bfloat(float (&sum)[4], const unsigned (&a)[4], const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
)"},
    {"warp_join",
     R"(// Joins one value of each of kLanes neighbouring lanes; all of them get the result.
template <int kLanes, typename T, typename Join>
__device__ inline T warp_join(T value, Join join) {
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = join(value, (T)__shfl_xor_sync(0xffffffffu, value, step));
  return value;
}
)"},
    {"block_join",
     R"(// Joins one value of each thread of the block; all of them get the result. `parts` has a place for
// each warp.
template <int kThreads, typename T, typename Join>
__device__ inline T block_join(T value, T* parts, Join join) {
  constexpr int kWarps = kThreads / 32;
  value = warp_join<32>(value, join);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = warp_join<kWarps>(parts[threadIdx.x % kWarps], join);
  __syncthreads();
  return value;
}
)"},
    {"column_join",
     R"(// Joins the values of the threads of one column of the block; all of them get the result.
template <int kRows, typename T, typename Join>
__device__ inline T column_join(T value, T (*parts)[32], Join join) {
  parts[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  for (int half = kRows / 2; half > 0; half /= 2) {
    if (threadIdx.y < half)
      parts[threadIdx.y][threadIdx.x] =
          join(parts[threadIdx.y][threadIdx.x], parts[threadIdx.y + half][threadIdx.x]);
    __syncthreads();
  }
  value = parts[0][threadIdx.x];
  __syncthreads();
  return value;
}
)"},
    {"warp_best", R"(// The best value of the warp and its place, for all lanes.
template <bool kLargest, typename T>
__device__ inline void warp_best(T& best, int64_t& place) {
  for (int step = 16; step > 0; step /= 2) {
    const T value = (T)__shfl_xor_sync(0xffffffffu, best, step);
    const int64_t at = (int64_t)__shfl_xor_sync(0xffffffffu, (long long)place, step);
    take_better<kLargest>(best, place, value, at);
  }
}
)"},
    {"block_best", R"(// The best value of the block and its place, for all threads.
template <bool kLargest, int kThreads, typename T>
__device__ inline void block_best(T& best, int64_t& place, T* bests, int64_t* places) {
  warp_best<kLargest>(best, place);
  if (threadIdx.x % 32 == 0) {
    bests[threadIdx.x / 32] = best;
    places[threadIdx.x / 32] = place;
  }
  __syncthreads();
  for (int warp = 0; warp < kThreads / 32; ++warp)
    take_better<kLargest>(best, place, bests[warp], places[warp]);
  __syncthreads();
}
)"},
    {"column_best", R"(// The best value of one column of the block and its place.
template <bool kLargest, int kRows, typename T>
__device__ inline void column_best(T& best, int64_t& place, T (*bests)[32], int64_t (*places)[32]) {
  bests[threadIdx.y][threadIdx.x] = best;
  places[threadIdx.y][threadIdx.x] = place;
  __syncthreads();
  for (int row = 0; row < kRows; ++row)
    take_better<kLargest>(best, place, bests[row][threadIdx.x], places[row][threadIdx.x]);
  __syncthreads();
}
)"},
    {"warp_scan", R"(// What the lanes up to this one join to.
template <typename T, typename Join>
__device__ inline T warp_scan(T value, Join join) {
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const T before = (T)__shfl_up_sync(0xffffffffu, value, step);
    if (lane >= step) value = join(before, value);
  }
  return value;
}
)"},
    {"team_scan",
     R"(// The running join over the threads: `before` joins `carry` with all earlier threads, and carry
// becomes what everything so far joins to. A team is a warp or a whole block.
template <int kThreads, typename T, typename Join>
__device__ inline T team_scan(T value, T& carry, T* parts, Join join) {
  const int lane = threadIdx.x % 32;
  const T inside = warp_scan(value, join);
  const T left = (T)__shfl_up_sync(0xffffffffu, inside, 1);
  const T all = (T)__shfl_sync(0xffffffffu, inside, 31);
  T before = carry;
  if (kThreads > 32) {
    const int warp = threadIdx.x / 32;
    if (lane == 31) parts[warp] = inside;
    __syncthreads();
    for (int other = 0; other < kThreads / 32; ++other) {
      if (other < warp) before = join(before, parts[other]);
      carry = join(carry, parts[other]);
    }
    __syncthreads();
  } else {
    carry = join(carry, all);
  }
  return lane == 0 ? before : join(before, left);
}
)"},
};

bool CudaCalls(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const char after = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    const char before = at > 0 ? text[at - 1] : ' ';
    if ((after == '(' || after == '<') && before != '_' &&
        std::isalnum(static_cast<unsigned char>(before)) == 0)
      return true;
  }
  return false;
}

}  // namespace

std::string CudaHelperText(const std::set<std::string>& names) {
  constexpr size_t kCount = std::size(kCudaHelpers);
  std::vector<bool> wanted(kCount, false);
  for (const std::string& name : names) {
    const auto* at = std::find_if(std::begin(kCudaHelpers), std::end(kCudaHelpers),
                                  [&](const CudaHelper& helper) { return helper.name == name; });
    KERF_CHECK(at != std::end(kCudaHelpers), "emitted code calls a helper that exists");
    wanted[static_cast<size_t>(at - std::begin(kCudaHelpers))] = true;
  }
  for (size_t i = kCount; i-- > 0;) {
    if (!wanted[i]) continue;
    for (size_t k = 0; k < i; ++k) {
      if (CudaCalls(kCudaHelpers[i].text, kCudaHelpers[k].name)) wanted[k] = true;
    }
  }
  std::string text;
  for (size_t i = 0; i < kCount; ++i) {
    if (wanted[i]) text += std::string(kCudaHelpers[i].text) + "\n";
  }
  return text;
}

}  // namespace kerf::synth
