// Eight elements at a time. Each function carries its target: the file is compiled for any x86-64
// and runs only where BestSimd() says so.
#include "loop/verify/tile_kernels.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
// GCC 12's own AVX-512 header warns (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "loop/verify/element.h"

#define KERF_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,f16c")))
#define KERF_AVX512_INLINE KERF_AVX512 __attribute__((always_inline)) static inline

namespace kerf::verify {
namespace {

constexpr size_t kLanes = 8;

struct Float64 {
  static constexpr DType kDType = DType::kFloat64;
  using Storage = double;
  KERF_AVX512_INLINE __m512d Load(const Storage* from) { return _mm512_loadu_pd(from); }
};

struct Float32 {
  static constexpr DType kDType = DType::kFloat32;
  using Storage = float;
  KERF_AVX512_INLINE __m512d Load(const Storage* from) {
    return _mm512_cvtps_pd(_mm256_loadu_ps(from));
  }
};

struct Float16 {
  static constexpr DType kDType = DType::kFloat16;
  using Storage = uint16_t;
  KERF_AVX512_INLINE __m512d Load(const Storage* from) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_cvtps_pd(_mm256_cvtph_ps(halves));
  }
};

struct BFloat16 {
  static constexpr DType kDType = DType::kBFloat16;
  using Storage = uint16_t;
  KERF_AVX512_INLINE __m512d Load(const Storage* from) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m256i words = _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);
    return _mm512_cvtps_pd(_mm256_castsi256_ps(words));
  }
};

struct Sums {
  __m512d max_abs;
  __m512d sum_abs;
  __m512d squares[kClassCount];
};

KERF_AVX512_INLINE void AddTo(TileSums& out, const Sums& sums) {
  TileSums part;
  part.max_abs = _mm512_reduce_max_pd(sums.max_abs);
  part.sum_abs = _mm512_reduce_add_pd(sums.sum_abs);
  for (size_t c = 0; c < kClassCount; ++c) {
    part.sum_squares[c] = _mm512_reduce_add_pd(sums.squares[c]);
  }
  out.Add(part);
}

template <typename Candidate, typename Expected, bool kOwnMagnitude>
KERF_AVX512 void Kernel(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                        TileSums& out, TileFindings& findings) {
  const auto* candidate = static_cast<const typename Candidate::Storage*>(tile.candidate);
  const auto* expected = static_cast<const typename Expected::Storage*>(tile.expected);
  const __m512d relative = _mm512_set1_pd(limits.relative);
  const __m512d ratio = _mm512_set1_pd(notable_ratio);
  const __m512d infinity = _mm512_set1_pd(__builtin_inf());
  const __m512d below1 = _mm512_set1_pd(limits.class_below[0]);
  const __m512d below2 = _mm512_set1_pd(limits.class_below[1]);
  const __m128i lane_numbers = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
  Sums sums{};
  auto* beyond_bytes = reinterpret_cast<uint8_t*>(findings.beyond.data());
  unsigned any_beyond = 0;
  size_t notable_count = 0;
  const size_t whole = tile.count / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    const __m512d wanted = Expected::Load(expected + i);
    const __m512d error = _mm512_abs_pd(_mm512_sub_pd(Candidate::Load(candidate + i), wanted));
    const __m512d size =
        kOwnMagnitude ? _mm512_loadu_pd(tile.magnitude + i) : _mm512_abs_pd(wanted);
    const __m512i exponent = _mm512_srli_epi64(_mm512_castpd_si512(size), 52);
    const __m512d budget =
        _mm512_fmadd_pd(size, relative, _mm512_i64gather_pd(exponent, limits.floors, 8));
    const __mmask8 finite = _mm512_cmp_pd_mask(error, infinity, _CMP_LT_OQ);
    const auto not_finite = static_cast<__mmask8>(~finite);
    const auto beyond =
        static_cast<__mmask8>(_mm512_cmp_pd_mask(error, budget, _CMP_NLE_UQ) | not_finite);
    const auto notable = static_cast<__mmask8>(
        _mm512_cmp_pd_mask(error, _mm512_mul_pd(budget, ratio), _CMP_NLE_UQ) | not_finite);
    beyond_bytes[i / kLanes] = beyond;
    any_beyond |= beyond;
    if (notable != 0) [[unlikely]] {
      const __m128i indices = _mm_add_epi16(lane_numbers, _mm_set1_epi16(static_cast<int16_t>(i)));
      // Without AVX512_VBMI2 there is no compress of 16 bits: widen, compress, narrow.
      const __m256i packed = _mm256_maskz_compress_epi32(notable, _mm256_cvtepu16_epi32(indices));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(findings.notable.data() + notable_count),
                       _mm256_cvtepi32_epi16(packed));
      notable_count += static_cast<size_t>(__builtin_popcount(notable));
    }
    const __m512d counted = _mm512_maskz_mov_pd(finite, error);
    sums.max_abs = _mm512_max_pd(sums.max_abs, counted);
    sums.sum_abs = _mm512_add_pd(sums.sum_abs, counted);
    sums.squares[0] = _mm512_fmadd_pd(counted, counted, sums.squares[0]);
    const __mmask8 small = _mm512_cmp_pd_mask(size, below1, _CMP_LT_OQ);
    const __mmask8 tiny = _mm512_cmp_pd_mask(size, below2, _CMP_LT_OQ);
    sums.squares[1] = _mm512_mask3_fmadd_pd(counted, counted, sums.squares[1], small);
    sums.squares[2] = _mm512_mask3_fmadd_pd(counted, counted, sums.squares[2], tiny);
  }
  AddTo(out, sums);
  findings.any_beyond = any_beyond != 0;
  findings.notable_count = notable_count;
  for (size_t i = whole / kLanes; i < sizeof findings.beyond; ++i) beyond_bytes[i] = 0;
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

TileKernel FindAvx512Kernel(DType candidate, DType expected) {
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
TileKernel FindAvx512Kernel(DType, DType) { return nullptr; }
}  // namespace kerf::verify
#endif
