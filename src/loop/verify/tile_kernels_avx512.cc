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

#include <algorithm>

#include "loop/verify/element.h"

#define KERF_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,f16c")))
#define KERF_AVX512_INLINE KERF_AVX512 __attribute__((always_inline)) static inline

namespace kerf::verify {
namespace {

constexpr size_t kLanes = 8;

uint32_t WindowBegin(const ElementLimits& limits) {
  return std::clamp<uint32_t>(limits.window_begin, 1, kExponents - kWindow);
}

void FillWindow(const ElementLimits& limits, double* table) {
  const uint32_t begin = WindowBegin(limits);
  table[0] = limits.floors[0];
  for (uint32_t i = 1; i < kWindow; ++i) table[i] = limits.floors[begin + i - 1];
}

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
  KERF_AVX512_INLINE __m512 LoadFloats(const Storage* from) { return _mm512_loadu_ps(from); }
};

struct Float16 {
  static constexpr DType kDType = DType::kFloat16;
  using Storage = uint16_t;
  KERF_AVX512_INLINE __m512d Load(const Storage* from) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_cvtps_pd(_mm256_cvtph_ps(halves));
  }
  KERF_AVX512_INLINE __m512 LoadFloats(const Storage* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
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
  KERF_AVX512_INLINE __m512 LoadFloats(const Storage* from) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }
};

// The floors of the usual exponents in registers; a gather from memory takes several times as long
// as all the rest. The first one is for the exponent 0.
class DoubleWindow {
 public:
  KERF_AVX512 explicit DoubleWindow(const ElementLimits& limits)
      : floors_(limits.floors), before_(_mm512_set1_epi64(WindowBegin(limits) - 1)) {
    double table[kWindow];
    FillWindow(limits, table);
    for (size_t i = 0; i < 4; ++i) table_[i] = _mm512_loadu_pd(table + 8 * i);
  }

  [[nodiscard]] KERF_AVX512 __attribute__((always_inline)) __m512d Floors(__m512d size) const {
    const __m512i exponent = _mm512_srli_epi64(_mm512_castpd_si512(size), 52);
    const __mmask8 not_zero = _mm512_test_epi64_mask(exponent, exponent);
    const __m512i slot = _mm512_maskz_sub_epi64(not_zero, exponent, before_);
    // The slot 0 belongs to the exponent 0, not to the one right below the window.
    const __m512i inside = _mm512_sub_epi64(slot, _mm512_set1_epi64(1));
    if (_mm512_mask_cmpgt_epu64_mask(not_zero, inside, _mm512_set1_epi64(kWindow - 2)) != 0)
        [[unlikely]] {
      return _mm512_i64gather_pd(exponent, floors_, 8);
    }
    const __mmask8 upper = _mm512_cmpgt_epu64_mask(slot, _mm512_set1_epi64(15));
    return _mm512_mask_blend_pd(upper, _mm512_permutex2var_pd(table_[0], slot, table_[1]),
                                _mm512_permutex2var_pd(table_[2], slot, table_[3]));
  }

 private:
  const double* floors_;
  __m512i before_;
  __m512d table_[4];
};

// The same for sixteen float32.
class FloatWindow {
 public:
  KERF_AVX512 explicit FloatWindow(const ElementLimits& limits)
      : floors_(limits.floors),
        before_(_mm512_set1_epi32(static_cast<int>(WindowBegin(limits)) - 1 - kRebias)) {
    double table[kWindow];
    float narrow[kWindow];
    FillWindow(limits, table);
    // A float32 of exponent 0 has at most the exponent kRebias as a double.
    table[0] = limits.floors[kRebias];
    for (size_t i = 0; i < kWindow; ++i) narrow[i] = static_cast<float>(table[i]);
    table_[0] = _mm512_loadu_ps(narrow);
    table_[1] = _mm512_loadu_ps(narrow + 16);
  }

  [[nodiscard]] KERF_AVX512 __attribute__((always_inline)) __m512 Floors(__m512 size) const {
    const __m512i exponent = _mm512_srli_epi32(_mm512_castps_si512(size), 23);
    const __mmask16 not_zero = _mm512_test_epi32_mask(exponent, exponent);
    const __m512i slot = _mm512_maskz_sub_epi32(not_zero, exponent, before_);
    const __m512i inside = _mm512_sub_epi32(slot, _mm512_set1_epi32(1));
    if (_mm512_mask_cmpgt_epu32_mask(not_zero, inside, _mm512_set1_epi32(kWindow - 2)) != 0)
        [[unlikely]] {
      return FromMemory(exponent);
    }
    return _mm512_permutex2var_ps(table_[0], slot, table_[1]);
  }

 private:
  // Exponents of float32 are that much smaller than those of double.
  static constexpr int kRebias = 1023 - 127;

  [[nodiscard]] KERF_AVX512 __attribute__((noinline)) __m512 FromMemory(__m512i exponent) const {
    alignas(64) int exponents[16];
    alignas(64) float result[16];
    _mm512_store_si512(exponents, exponent);
    for (size_t i = 0; i < 16; ++i) result[i] = static_cast<float>(floors_[exponents[i] + kRebias]);
    return _mm512_load_ps(result);
  }

  const double* floors_;
  __m512i before_;
  __m512 table_[2];
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

// The elements from `begin`, too few for a vector.
template <typename Candidate, typename Expected>
void MeasureTail(const Tile& tile, size_t begin, const ElementLimits& limits, double notable_ratio,
                 TileSums& out, TileFindings& findings) {
  double candidate[2 * kLanes];
  double expected[2 * kLanes];
  const size_t rest = tile.count - begin;
  DecodeElements(Candidate::kDType,
                 static_cast<const typename Candidate::Storage*>(tile.candidate) + begin, rest,
                 candidate);
  DecodeElements(Expected::kDType,
                 static_cast<const typename Expected::Storage*>(tile.expected) + begin, rest,
                 expected);
  const double* magnitude = tile.magnitude == nullptr ? nullptr : tile.magnitude + begin;
  MeasureOneByOne(candidate, expected, magnitude, begin, rest, limits, notable_ratio, out,
                  findings);
}

template <typename Candidate, typename Expected, bool kOwnMagnitude>
KERF_AVX512 void Kernel(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                        TileSums& out, TileFindings& findings) {
  const auto* candidate = static_cast<const typename Candidate::Storage*>(tile.candidate);
  const auto* expected = static_cast<const typename Expected::Storage*>(tile.expected);
  const DoubleWindow window(limits);
  const __m512d relative = _mm512_set1_pd(limits.relative);
  const __m512d ratio = _mm512_set1_pd(notable_ratio);
  const __m512d scale = _mm512_set1_pd(limits.error_scale);
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
    const __m512d budget = _mm512_fmadd_pd(size, relative, window.Floors(size));
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
    const __m512d scaled = _mm512_mul_pd(counted, scale);
    sums.squares[0] = _mm512_fmadd_pd(scaled, scaled, sums.squares[0]);
    const __mmask8 small = _mm512_cmp_pd_mask(size, below1, _CMP_LT_OQ);
    const __mmask8 tiny = _mm512_cmp_pd_mask(size, below2, _CMP_LT_OQ);
    sums.squares[1] = _mm512_mask3_fmadd_pd(scaled, scaled, sums.squares[1], small);
    sums.squares[2] = _mm512_mask3_fmadd_pd(scaled, scaled, sums.squares[2], tiny);
  }
  AddTo(out, sums);
  findings.any_beyond = any_beyond != 0;
  findings.notable_count = notable_count;
  for (size_t i = whole / kLanes; i < sizeof findings.beyond; ++i) beyond_bytes[i] = 0;
  if (whole < tile.count) {
    MeasureTail<Candidate, Expected>(tile, whole, limits, notable_ratio, out, findings);
  }
}

KERF_AVX512_INLINE double ReduceAdd(__m512 values) {
  return static_cast<double>(_mm512_reduce_add_ps(values));
}

KERF_AVX512_INLINE __m512 Join(__m256 low, __m256 high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

// 4 KiB ahead, into the second cache: measured on Zen 4, where the processor's own prefetching
// stops at page borders. Beyond the end of a tensor this does nothing.
KERF_AVX512_INLINE void PrefetchAt(const void* data, size_t offset) {
  _mm_prefetch(static_cast<const char*>(data) + offset + 4096, _MM_HINT_T1);
}

// Sixteen elements of a tile: how far the candidate is off, and what was expected.
struct Sixteen {
  __m512 error;
  __m512 size;
};

// Both of one type up to float32: their difference in float32 is exact unless they are far apart.
template <typename Type>
struct AgainstSame {
  using Candidate = Type;
  using Expected = Type;
  KERF_AVX512_INLINE void Prefetch(const Tile& tile, size_t i) {
    PrefetchAt(tile.candidate, i * sizeof(typename Type::Storage));
    PrefetchAt(tile.expected, i * sizeof(typename Type::Storage));
  }
  KERF_AVX512_INLINE Sixteen Load(const Tile& tile, size_t i) {
    const __m512 wanted =
        Type::LoadFloats(static_cast<const typename Type::Storage*>(tile.expected) + i);
    const __m512 got =
        Type::LoadFloats(static_cast<const typename Type::Storage*>(tile.candidate) + i);
    return {_mm512_abs_ps(_mm512_sub_ps(got, wanted)), _mm512_abs_ps(wanted)};
  }
};

// Against a float64 oracle: the difference is taken in double and goes on as float32. The magnitude
// is truncated, not rounded, so that it keeps its exponent and its class.
template <typename Type>
struct AgainstDouble {
  using Candidate = Type;
  using Expected = Float64;
  KERF_AVX512_INLINE void Prefetch(const Tile& tile, size_t i) {
    PrefetchAt(tile.candidate, i * sizeof(typename Type::Storage));
    PrefetchAt(tile.expected, i * sizeof(double));
    PrefetchAt(tile.expected, i * sizeof(double) + 64);
  }
  KERF_AVX512_INLINE Sixteen Load(const Tile& tile, size_t i) {
    const auto* candidate = static_cast<const typename Type::Storage*>(tile.candidate) + i;
    const auto* expected = static_cast<const double*>(tile.expected) + i;
    const __m512d wanted0 = Float64::Load(expected);
    const __m512d wanted1 = Float64::Load(expected + kLanes);
    const __m512d error0 = _mm512_sub_pd(Type::Load(candidate), wanted0);
    const __m512d error1 = _mm512_sub_pd(Type::Load(candidate + kLanes), wanted1);
    constexpr int kTruncate = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    const __m512 size =
        Join(_mm512_cvt_roundpd_ps(wanted0, kTruncate), _mm512_cvt_roundpd_ps(wanted1, kTruncate));
    return {_mm512_abs_ps(Join(_mm512_cvtpd_ps(error0), _mm512_cvtpd_ps(error1))),
            _mm512_abs_ps(size)};
  }
};

class FloatSums {
 public:
  KERF_AVX512 explicit FloatSums(const ElementLimits& limits)
      : below1_(_mm512_set1_ps(static_cast<float>(limits.class_below[0]))),
        below2_(_mm512_set1_ps(static_cast<float>(limits.class_below[1]))),
        scale_(_mm512_set1_ps(static_cast<float>(limits.error_scale))),
        tiny_scale_(_mm512_set1_ps(static_cast<float>(limits.tiny_scale))) {}

  KERF_AVX512 __attribute__((always_inline)) void Add(__m512 error, __m512 size) {
    max_abs_ = _mm512_max_ps(max_abs_, error);
    const __m512 scaled = _mm512_mul_ps(error, scale_);
    sum_abs_ = _mm512_add_ps(sum_abs_, scaled);
    squares_[0] = _mm512_fmadd_ps(scaled, scaled, squares_[0]);
    const __mmask16 small = _mm512_cmp_ps_mask(size, below1_, _CMP_LT_OQ);
    squares_[1] = _mm512_mask3_fmadd_ps(scaled, scaled, squares_[1], small);
    const __mmask16 tiny = _mm512_cmp_ps_mask(size, below2_, _CMP_LT_OQ);
    if (tiny != 0) [[unlikely]] {
      // These may be so much smaller that they need a scale of their own.
      const __m512 tiny_error = _mm512_maskz_mul_ps(tiny, error, tiny_scale_);
      squares_[2] = _mm512_fmadd_ps(tiny_error, tiny_error, squares_[2]);
    }
  }

  // False when an error was not finite, or so large that float32 lost its square.
  KERF_AVX512 bool Finish(const ElementLimits& limits, TileSums& part) const {
    part.max_abs = static_cast<double>(_mm512_reduce_max_ps(max_abs_));
    part.sum_abs = ReduceAdd(sum_abs_) / limits.error_scale;
    const double factor = limits.error_scale / limits.tiny_scale;
    part.sum_squares = {ReduceAdd(squares_[0]), ReduceAdd(squares_[1]),
                        ReduceAdd(squares_[2]) * factor * factor};
    return part.sum_squares[0] + part.sum_squares[2] < __builtin_inf();
  }

 private:
  __m512 below1_;
  __m512 below2_;
  __m512 scale_;
  __m512 tiny_scale_;
  __m512 max_abs_ = _mm512_setzero_ps();
  __m512 sum_abs_ = _mm512_setzero_ps();
  __m512 squares_[kClassCount] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
};

// Appends the numbers of the lanes in `mask`, counted from `first`.
KERF_AVX512_INLINE void AppendNotable(__mmask16 mask, size_t first, TileFindings& findings) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i indices = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(findings.notable.data() + findings.notable_count),
                      _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(mask, indices)));
  findings.notable_count += static_cast<size_t>(__builtin_popcount(mask));
}

// Candidates up to float32, sixteen elements at a time. As long as the line for notable errors is
// not above the budget, an element that is beyond is notable too: one comparison serves both. What
// is not finite spoils the sums, and the tile is done again in double.
template <typename Pair>
KERF_AVX512 void FloatKernel(const Tile& tile, const ElementLimits& limits, double notable_ratio,
                             TileSums& out, TileFindings& findings) {
  using Candidate = typename Pair::Candidate;
  using Expected = typename Pair::Expected;
  constexpr size_t kFloatLanes = 16;
  const FloatWindow window(limits);
  const __m512 relative = _mm512_set1_ps(static_cast<float>(limits.relative));
  const __m512 ratio = _mm512_set1_ps(static_cast<float>(notable_ratio));
  const __m512 lower_ratio = _mm512_min_ps(ratio, _mm512_set1_ps(1));
  FloatSums sums(limits);
  findings.any_beyond = false;
  findings.beyond.fill(0);
  findings.notable_count = 0;
  const size_t whole = tile.count / kFloatLanes * kFloatLanes;
  for (size_t i = 0; i < whole; i += kFloatLanes) {
    Pair::Prefetch(tile, i);
    const auto [error, size] = Pair::Load(tile, i);
    const __m512 budget = _mm512_fmadd_ps(size, relative, window.Floors(size));
    if (_mm512_cmp_ps_mask(error, _mm512_mul_ps(budget, lower_ratio), _CMP_NLE_UQ) != 0)
        [[unlikely]] {
      const __mmask16 beyond = _mm512_cmp_ps_mask(error, budget, _CMP_NLE_UQ);
      findings.beyond[i / 64] |= uint64_t{beyond} << (i % 64);
      findings.any_beyond = findings.any_beyond || beyond != 0;
      AppendNotable(_mm512_cmp_ps_mask(error, _mm512_mul_ps(budget, ratio), _CMP_NLE_UQ), i,
                    findings);
    }
    sums.Add(error, size);
  }
  TileSums part;
  if (!sums.Finish(limits, part)) [[unlikely]] {
    Kernel<Candidate, Expected, false>(tile, limits, notable_ratio, out, findings);
    return;
  }
  out.Add(part);
  if (whole < tile.count) {
    MeasureTail<Candidate, Expected>(tile, whole, limits, notable_ratio, out, findings);
  }
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
  if (expected == Candidate::kDType) return FloatKernel<AgainstSame<Candidate>>;
  if (expected == DType::kFloat64) return FloatKernel<AgainstDouble<Candidate>>;
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
