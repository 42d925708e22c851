// 64 bytes at a time become two masks of bits, one for quotes, one for backslashes. A quote ends
// the string unless the run of backslashes before it is of odd length. To see that for all runs of
// a block at once, each run's start bit is added to the run: the carry ripples to the first bit
// behind it. A run that starts at an odd position and ends before an even one (or the other way
// round) is of odd length.
#include "dataset/json_scan.h"

#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kerf::dataset {
namespace {

size_t FindPlain(const char* text, size_t at, size_t size) {
  for (; at < size; ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

#if defined(__x86_64__)

constexpr size_t kBlock = 64;
constexpr uint64_t kEven = 0x5555'5555'5555'5555ULL;
constexpr uint64_t kOdd = ~kEven;

// The quotes that no backslash stands before. `carry` is 1 when the first byte is escaped by the
// block before, and then says the same for the next block.
[[gnu::always_inline]] inline uint64_t PlainQuotes(uint64_t quotes, uint64_t slashes,
                                                   uint64_t& carry) {
  slashes &= ~carry;
  quotes &= ~carry;
  const uint64_t starts = slashes & ~(slashes << 1);
  uint64_t behind_odd = 0;
  carry = __builtin_add_overflow(slashes, starts & kOdd, &behind_odd) ? 1 : 0;
  const uint64_t behind_even = slashes + (starts & kEven);
  const uint64_t escaped = ((behind_odd & kEven) | (behind_even & kOdd)) & ~slashes;
  return quotes & ~escaped;
}

size_t FindSse2(const char* text, size_t at, size_t size) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  uint64_t carry = 0;
  for (; at + kBlock <= size; at += kBlock) {
    uint64_t quotes = 0;
    uint64_t slashes = 0;
    for (unsigned part = 0; part < 4; ++part) {
      const __m128i bytes =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at + part * 16));
      quotes |= uint64_t{static_cast<uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)))}
                << (part * 16);
      slashes |= uint64_t{static_cast<uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, slash)))}
                 << (part * 16);
    }
    const uint64_t ends = PlainQuotes(quotes, slashes, carry);
    if (ends != 0) return at + static_cast<size_t>(std::countr_zero(ends));
  }
  return FindPlain(text, at + carry, size);
}

__attribute__((target("avx2"))) size_t FindAvx2(const char* text, size_t at, size_t size) {
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i slash = _mm256_set1_epi8('\\');
  uint64_t carry = 0;
  for (; at + kBlock <= size; at += kBlock) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 32));
    const auto mask = [](__m256i hits) __attribute__((target("avx2"))) {
      return uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(hits))};
    };
    const uint64_t quotes =
        mask(_mm256_cmpeq_epi8(low, quote)) | mask(_mm256_cmpeq_epi8(high, quote)) << 32;
    const uint64_t slashes =
        mask(_mm256_cmpeq_epi8(low, slash)) | mask(_mm256_cmpeq_epi8(high, slash)) << 32;
    const uint64_t ends = PlainQuotes(quotes, slashes, carry);
    if (ends != 0) return at + static_cast<size_t>(std::countr_zero(ends));
  }
  return FindPlain(text, at + carry, size);
}

#endif

StringEndFinder BestFinder() {
  // Masks of 512 bits were measured, too: half as fast as two of 256.
  for (const ScanWay way : {ScanWay::kAvx2, ScanWay::kSse2}) {
    if (const StringEndFinder finder = FinderFor(way)) return finder;
  }
  return FindPlain;
}

}  // namespace

StringEndFinder FinderFor(ScanWay way) {
  switch (way) {
    case ScanWay::kPlain:
      return FindPlain;
#if defined(__x86_64__)
    case ScanWay::kSse2:
      return FindSse2;
    case ScanWay::kAvx2:
      return __builtin_cpu_supports("avx2") ? FindAvx2 : nullptr;
#endif
    default:
      return nullptr;
  }
}

size_t FindStringEnd(std::string_view text, size_t at) {
  static const StringEndFinder finder = BestFinder();
  // Names and words are shorter than a block.
  for (const size_t near = at + 16; at < near && at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') return finder(text.data(), at, text.size());
  }
  return at < text.size() ? finder(text.data(), at, text.size()) : std::string_view::npos;
}

}  // namespace kerf::dataset
