// 64 bytes at a time: which of them are backslashes, which follow one and which end the run are
// three words of 64 bits; then the backslashes are squeezed out. A block is read before anything is
// written, and goes back at or before its own place: never over bytes that were not read yet.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/json_unescape.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kerf {

#if defined(__x86_64__)
namespace {

constexpr size_t kBlock = 64;

// A bit for each byte of a block.
struct BlockMasks {
  uint64_t ends = 0;  // a quote or a control character: ends the run, or is wrong, unless escaped
  uint64_t slashes = 0;  // backslashes
  uint64_t letters = 0;  // would mean something behind a backslash
};

// Of the backslashes, those that begin an escape: not the second of two.
uint64_t EscapeBegins(uint64_t slashes) {
  if ((slashes & (slashes << 1)) == 0) return slashes;
  uint64_t begins = 0;
  for (uint64_t rest = slashes; rest != 0;) {
    const uint64_t first = rest & (~rest + 1);
    begins |= first;
    rest &= ~(first | (first << 1));
  }
  return begins;
}

// What is known of a text up to some block of it.
class Progress {
 public:
  // What is to be done with a block.
  struct Plan {
    uint64_t begins = 0;   // backslashes that go
    uint64_t escaped = 0;  // gets its meaning behind a backslash
    unsigned kept = kBlock;
    bool exact = false;  // what is not kept must stay as it was
  };

  // `is.letters` is not looked at.
  [[nodiscard]] bool StaysAsItIs(const BlockMasks& is) const {
    return (is.ends | is.slashes | open_) == 0;
  }

  inline Plan Next(const BlockMasks& is) {
    Plan plan;
    plan.begins = EscapeBegins(is.slashes & ~open_);
    plan.escaped = (plan.begins << 1) | open_;
    stops_ = (is.ends & ~plan.escaped) | (plan.escaped & ~is.letters);
    const uint64_t before = stops_ == 0 ? ~uint64_t{0} : (stops_ & (~stops_ + 1)) - 1;
    plan.kept = static_cast<unsigned>(std::popcount(~plan.begins & before));
    escaped_ = plan.escaped;
    open_ = plan.begins >> 63;
    // The caller may want bytes of the block that were not taken: a backslash at its end too.
    plan.exact = (stops_ | open_) != 0;
    return plan;
  }
  [[nodiscard]] bool stopped() const { return stops_ != 0; }
  // `i`: the block it stopped in, or the end of the last one.
  [[nodiscard]] UnescapedInPlace Done(size_t i, size_t written, bool ascii) const {
    if (!stopped()) return {i - open_, written, ascii};
    const auto stop = static_cast<unsigned>(std::countr_zero(stops_));
    // Of an escape that is not known, the backslash too is left.
    return {i + stop - ((escaped_ >> stop) & 1), written, ascii};
  }

 private:
  uint64_t open_ = 0;  // 1: the block before ended with the beginning of an escape
  uint64_t stops_ = 0;
  uint64_t escaped_ = 0;
};

#define KERF_BYTES_512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")))

KERF_BYTES_512 UnescapedInPlace UnescapeBy512(char* text, size_t size) {
  const __m512i low_letters = _mm512_loadu_si512(kPlainJsonEscapes.data());
  const __m512i high_letters = _mm512_loadu_si512(kPlainJsonEscapes.data() + 64);
  __m512i all = _mm512_setzero_si512();
  Progress progress;
  size_t written = 0;
  size_t i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    const __m512i block = _mm512_loadu_si512(text + i);
    all = _mm512_or_si512(all, block);
    BlockMasks is;
    is.ends = _mm512_cmplt_epu8_mask(block, _mm512_set1_epi8(0x20)) |
              _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('"'));
    is.slashes = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('\\'));
    if (progress.StaysAsItIs(is)) {
      _mm512_storeu_si512(text + written, block);
      written += kBlock;
      continue;
    }
    const __m512i meanings = _mm512_permutex2var_epi8(low_letters, block, high_letters);
    is.letters = _mm512_test_epi8_mask(meanings, meanings) & ~_mm512_movepi8_mask(block);
    const Progress::Plan plan = progress.Next(is);
    const __m512i plain = _mm512_maskz_compress_epi8(
        ~plan.begins, _mm512_mask_mov_epi8(block, plan.escaped, meanings));
    if (plan.exact) {
      _mm512_mask_storeu_epi8(text + written, (uint64_t{1} << plan.kept) - 1, plain);
    } else {
      _mm512_storeu_si512(text + written, plain);
    }
    written += plan.kept;
    if (progress.stopped()) break;
  }
  return progress.Done(i, written, _mm512_movepi8_mask(all) == 0);
}

#define KERF_BYTES_256 __attribute__((target("avx2,bmi,bmi2,popcnt")))

// For each set of bytes that are dropped of eight: where the others come from. What is behind them
// does not matter.
constexpr std::array<uint64_t, 256> kSqueeze = [] {
  std::array<uint64_t, 256> table{};
  for (unsigned drop = 0; drop < 256; ++drop) {
    unsigned at = 0;
    for (unsigned from = 0; from < 8; ++from) {
      if ((drop >> from & 1) == 0) table[drop] |= uint64_t{from} << (8 * at++);
    }
  }
  return table;
}();

KERF_BYTES_256 inline uint64_t Bits(__m256i low, __m256i high) {
  return uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(low))} |
         uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(high))} << 32;
}

KERF_BYTES_256 inline __m256i Ends(__m256i block) {
  return _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(0x1F)), block),
                         _mm256_cmpeq_epi8(block, _mm256_set1_epi8('"')));
}

KERF_BYTES_256 inline __m256i Slashes(__m256i block) {
  return _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\'));
}

// A byte of ones for each bit.
KERF_BYTES_256 inline __m256i Spread(uint32_t bits) {
  const __m256i bytes = _mm256_shuffle_epi8(
      _mm256_set1_epi32(static_cast<int>(bits)),
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
  const __m256i one_of_eight = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201U));
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, one_of_eight), one_of_eight);
}

// What each byte means behind a backslash; 0 when nothing. The letters b, f, n, r and t differ in
// bits 1 to 4; signs stand for themselves.
KERF_BYTES_256 inline __m256i Meanings(__m256i block) {
  const __m256i letters = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 'b', 0, 'f', 0, 0, 0, 'n', 0, 'r', 't', 0, 0, 0, 0, 0));
  const __m256i meanings = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, '\b', 0, '\f', 0, 0, 0, '\n', 0, '\r', '\t', 0, 0, 0, 0, 0));
  const __m256i which = _mm256_and_si256(_mm256_srli_epi16(block, 1), _mm256_set1_epi8(0x0F));
  const __m256i is_letter = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(letters, which), block);
  const __m256i is_sign =
      _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(block, _mm256_set1_epi8('"')),
                                      _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\'))),
                      _mm256_cmpeq_epi8(block, _mm256_set1_epi8('/')));
  return _mm256_or_si256(_mm256_and_si256(is_letter, _mm256_shuffle_epi8(meanings, which)),
                         _mm256_and_si256(is_sign, block));
}

// Eight bytes at a time; surplus bytes are overwritten by the next eight.
KERF_BYTES_256 inline char* Squeeze16(__m128i bytes, uint64_t drop, char* to) {
  const uint64_t low = drop & 0xFF;
  const uint64_t high = drop >> 8 & 0xFF;
  constexpr uint64_t kUpperEight = 0x0808080808080808U;
  const __m128i from = _mm_set_epi64x(static_cast<int64_t>(kSqueeze[high] | kUpperEight),
                                      static_cast<int64_t>(kSqueeze[low]));
  const __m128i squeezed = _mm_shuffle_epi8(bytes, from);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), squeezed);
  to += 8 - _mm_popcnt_u64(low);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_unpackhi_epi64(squeezed, squeezed));
  return to + 8 - _mm_popcnt_u64(high);
}

KERF_BYTES_256 inline void Squeeze(__m256i low, __m256i high, uint64_t drop, char* to) {
  to = Squeeze16(_mm256_castsi256_si128(low), drop, to);
  to = Squeeze16(_mm256_extracti128_si256(low, 1), drop >> 16, to);
  to = Squeeze16(_mm256_castsi256_si128(high), drop >> 32, to);
  Squeeze16(_mm256_extracti128_si256(high, 1), drop >> 48, to);
}

KERF_BYTES_256 UnescapedInPlace UnescapeBy256(char* text, size_t size) {
  __m256i all = _mm256_setzero_si256();
  Progress progress;
  size_t written = 0;
  size_t i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    const auto* from = reinterpret_cast<const __m256i*>(text + i);
    const __m256i low = _mm256_loadu_si256(from);
    const __m256i high = _mm256_loadu_si256(from + 1);
    all = _mm256_or_si256(all, _mm256_or_si256(low, high));
    BlockMasks is;
    is.ends = Bits(Ends(low), Ends(high));
    is.slashes = Bits(Slashes(low), Slashes(high));
    if (progress.StaysAsItIs(is)) {
      auto* const to = reinterpret_cast<__m256i*>(text + written);
      _mm256_storeu_si256(to, low);
      _mm256_storeu_si256(to + 1, high);
      written += kBlock;
      continue;
    }
    const __m256i low_meanings = Meanings(low);
    const __m256i high_meanings = Meanings(high);
    const __m256i none = _mm256_setzero_si256();
    is.letters =
        ~Bits(_mm256_cmpeq_epi8(low_meanings, none), _mm256_cmpeq_epi8(high_meanings, none));
    const Progress::Plan plan = progress.Next(is);
    const __m256i low_plain =
        _mm256_blendv_epi8(low, low_meanings, Spread(static_cast<uint32_t>(plan.escaped)));
    const __m256i high_plain =
        _mm256_blendv_epi8(high, high_meanings, Spread(static_cast<uint32_t>(plan.escaped >> 32)));
    char exactly[kBlock];
    Squeeze(low_plain, high_plain, plan.begins, plan.exact ? exactly : text + written);
    if (plan.exact) std::memcpy(text + written, exactly, plan.kept);
    written += plan.kept;
    if (progress.stopped()) break;
  }
  return progress.Done(i, written, _mm256_movemask_epi8(all) == 0);
}

bool Has512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
}

bool Has256() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}

}  // namespace

bool HasUnescapeWidth(UnescapeWidth width) {
  static const bool has_512 = Has512();
  static const bool has_256 = Has256();
  return width == UnescapeWidth::k512 ? has_512 : width == UnescapeWidth::k256 && has_256;
}

UnescapedInPlace UnescapeJsonInPlace(char* text, size_t size, UnescapeWidth widest) {
  if (widest == UnescapeWidth::k512 && HasUnescapeWidth(UnescapeWidth::k512)) {
    return UnescapeBy512(text, size);
  }
  if (widest != UnescapeWidth::kNone && HasUnescapeWidth(UnescapeWidth::k256)) {
    return UnescapeBy256(text, size);
  }
  return {};
}
#else
bool HasUnescapeWidth(UnescapeWidth) { return false; }
UnescapedInPlace UnescapeJsonInPlace(char*, size_t, UnescapeWidth) { return {}; }
#endif

}  // namespace kerf
