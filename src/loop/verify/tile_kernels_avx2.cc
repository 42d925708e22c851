// Four elements at a time, for processors without AVX-512. Each function carries its target: the
// file is compiled for any x86-64 and runs only where BestSimd() says so.
#include "loop/verify/tile_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "loop/verify/element.h"

#define KERF_AVX2 __attribute__((target("avx2,fma,f16c")))
#define KERF_AVX2_INLINE KERF_AVX2 __attribute__((always_inline)) static inline

namespace kerf::verify {
namespace {

constexpr size_t kLanes = 4;

struct Float64 {
  static constexpr DType kDType = DType::kFloat64;
  using Storage = double;
  KERF_AVX2_INLINE __m256d Load(const Storage* from) { return _mm256_loadu_pd(from); }
};

struct Float32 {
  static constexpr DType kDType = DType::kFloat32;
  using Storage = float;
  KERF_AVX2_INLINE __m256d Load(const Storage* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
};

struct Float16 {
  static constexpr DType kDType = DType::kFloat16;
  using Storage = uint16_t;
  KERF_AVX2_INLINE __m256d Load(const Storage* from) {
    const __m128i halves = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtps_pd(_mm_cvtph_ps(halves));
  }
};

struct BFloat16 {
  static constexpr DType kDType = DType::kBFloat16;
  using Storage = uint16_t;
  KERF_AVX2_INLINE __m256d Load(const Storage* from) {
    const __m128i halves = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(halves), 16)));
  }
};

KERF_AVX2_INLINE double Reduce(__m256d values, bool maximum) {
  double lanes[kLanes];
  _mm256_storeu_pd(lanes, values);
  double result = lanes[0];
  for (size_t i = 1; i < kLanes; ++i) {
    result = maximum ? (lanes[i] > result ? lanes[i] : result) : result + lanes[i];
  }
  return result;
}

template <typename Candidate, typename Expected, bool kOwnMagnitude>
KERF_AVX2 void Kernel(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                      TileSums& out, TileFindings& findings) {
  const auto* candidate = static_cast<const typename Candidate::Storage*>(tile.candidate);
  const auto* expected = static_cast<const typename Expected::Storage*>(tile.expected);
  const __m256d sign = _mm256_set1_pd(-0.0);
  const __m256d relative = _mm256_set1_pd(limits.relative);
  const __m256d ratio = _mm256_set1_pd(notable_ratio);
  const __m256d scale = _mm256_set1_pd(limits.error_scale);
  const __m256d infinity = _mm256_set1_pd(__builtin_inf());
  const __m256d below1 = _mm256_set1_pd(limits.class_below[0]);
  const __m256d below2 = _mm256_set1_pd(limits.class_below[1]);
  __m256d max_abs = _mm256_setzero_pd();
  __m256d sum_abs = _mm256_setzero_pd();
  __m256d squares0 = _mm256_setzero_pd();
  __m256d squares1 = _mm256_setzero_pd();
  __m256d squares2 = _mm256_setzero_pd();
  findings.beyond.fill(0);
  unsigned any_beyond = 0;
  size_t notable_count = 0;
  const size_t whole = tile.count / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    const __m256d wanted = Expected::Load(expected + i);
    const __m256d error =
        _mm256_andnot_pd(sign, _mm256_sub_pd(Candidate::Load(candidate + i), wanted));
    const __m256d size =
        kOwnMagnitude ? _mm256_loadu_pd(tile.magnitude + i) : _mm256_andnot_pd(sign, wanted);
    const __m256i exponent = _mm256_srli_epi64(_mm256_castpd_si256(size), 52);
    const __m256d budget =
        _mm256_fmadd_pd(size, relative, _mm256_i64gather_pd(limits.floors, exponent, 8));
    const __m256d finite = _mm256_cmp_pd(error, infinity, _CMP_LT_OQ);
    const auto not_finite = static_cast<unsigned>(_mm256_movemask_pd(finite)) ^ 15U;
    const unsigned beyond =
        static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(error, budget, _CMP_NLE_UQ))) |
        not_finite;
    unsigned notable = static_cast<unsigned>(_mm256_movemask_pd(
                           _mm256_cmp_pd(error, _mm256_mul_pd(budget, ratio), _CMP_NLE_UQ))) |
                       not_finite;
    findings.beyond[i / 64] |= static_cast<uint64_t>(beyond) << (i % 64);
    any_beyond |= beyond;
    for (; notable != 0; notable &= notable - 1) {
      findings.notable[notable_count++] =
          static_cast<uint16_t>(i + static_cast<size_t>(__builtin_ctz(notable)));
    }
    const __m256d counted = _mm256_and_pd(error, finite);
    max_abs = _mm256_max_pd(max_abs, counted);
    sum_abs = _mm256_add_pd(sum_abs, counted);
    const __m256d scaled = _mm256_mul_pd(counted, scale);
    squares0 = _mm256_fmadd_pd(scaled, scaled, squares0);
    const __m256d small = _mm256_and_pd(scaled, _mm256_cmp_pd(size, below1, _CMP_LT_OQ));
    const __m256d tiny = _mm256_and_pd(scaled, _mm256_cmp_pd(size, below2, _CMP_LT_OQ));
    squares1 = _mm256_fmadd_pd(small, small, squares1);
    squares2 = _mm256_fmadd_pd(tiny, tiny, squares2);
  }
  TileSums part;
  part.max_abs = Reduce(max_abs, true);
  part.sum_abs = Reduce(sum_abs, false);
  part.sum_squares = {Reduce(squares0, false), Reduce(squares1, false), Reduce(squares2, false)};
  out.Add(part);
  findings.any_beyond = any_beyond != 0;
  findings.notable_count = notable_count;
  if (whole == tile.count) return;
  double candidate_tail[kLanes];
  double expected_tail[kLanes];
  const size_t rest = tile.count - whole;
  DecodeElements(Candidate::kDType, candidate + whole, rest, candidate_tail);
  DecodeElements(Expected::kDType, expected + whole, rest, expected_tail);
  MeasureOneByOne(candidate_tail, expected_tail, kOwnMagnitude ? tile.magnitude + whole : nullptr,
                  whole, rest, limits, notable_ratio, out, findings);
}

void DoubleKernel(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                  TileSums& out, TileFindings& findings) {
  if (tile.magnitude != nullptr) {
    Kernel<Float64, Float64, true>(tile, limits, notable_ratio, out, findings);
  } else {
    Kernel<Float64, Float64, false>(tile, limits, notable_ratio, out, findings);
  }
}

template <typename Candidate>
TileKernel WithExpected(DType expected) {
  if (expected == Candidate::kDType) return Kernel<Candidate, Candidate, false>;
  if (expected == DType::kFloat64) return Kernel<Candidate, Float64, false>;
  return nullptr;
}

}  // namespace

TileKernel FindAvx2Kernel(DType candidate, DType expected) {
  switch (candidate) {
    case DType::kFloat64:
      return expected == DType::kFloat64 ? DoubleKernel : nullptr;
    case DType::kFloat32:
      return WithExpected<Float32>(expected);
    case DType::kFloat16:
      return WithExpected<Float16>(expected);
    case DType::kBFloat16:
      return WithExpected<BFloat16>(expected);
    default:
      return nullptr;
  }
}

}  // namespace kerf::verify
#else
namespace kerf::verify {
TileKernel FindAvx2Kernel(DType, DType) { return nullptr; }
}  // namespace kerf::verify
#endif
