// Code has an escape every 30 bytes or so. The ends of runs are looked for 64 bytes at a time, and
// runs are copied in whole blocks whose surplus the next one overwrites.
#include "base/json_unescape.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kerf {
namespace {

constexpr std::array<char, 256> kPlainEscapes = [] {
  std::array<char, 256> table{};
  table['n'] = '\n';
  table['t'] = '\t';
  table['r'] = '\r';
  table['b'] = '\b';
  table['f'] = '\f';
  table['"'] = '"';
  table['\\'] = '\\';
  table['/'] = '/';
  return table;
}();

#if defined(__SSE2__)
constexpr size_t kWide = 64;

// A bit for each of 64 bytes that ends a run.
uint64_t RunEnds(const char* text) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(0x1F);
  uint64_t ends = 0;
  for (size_t part = 0; part < 4; ++part) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + part * 16));
    const __m128i hit =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, slash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(block, space), block));
    ends |= uint64_t{static_cast<uint16_t>(_mm_movemask_epi8(hit))} << (part * 16);
  }
  return ends;
}

#endif

}  // namespace

char PlainJsonEscape(char letter) { return kPlainEscapes[static_cast<unsigned char>(letter)]; }

#if defined(__SSE2__)
size_t UnescapeJson(std::string_view text, std::string& out) {
  constexpr size_t kBuffer = size_t{64} << 10;
  char buffer[kBuffer + 2 * kWide];
  size_t used = 0;
  const auto copy = [&](size_t from, size_t length) {
    std::memcpy(buffer + used, text.data() + from, kWide / 2);
    if (length > kWide / 2) {
      std::memcpy(buffer + used + kWide / 2, text.data() + from + kWide / 2, kWide / 2);
    }
    used += length;
  };
  size_t from = 0;  // of what is not copied yet
  size_t i = 0;
  for (; i + 2 * kWide + 2 <= text.size(); i += kWide) {
    if (used >= kBuffer) {
      out.append(buffer, used);
      used = 0;
    }
    // An escape may reach into this block from the one before.
    uint64_t ends = RunEnds(text.data() + i) & (~uint64_t{0} << (from - i));
    while (ends != 0) {
      const auto bit = static_cast<unsigned>(std::countr_zero(ends));
      const size_t at = i + bit;
      copy(from, at - from);
      from = at;
      const char plain =
          text[at] == '\\' ? kPlainEscapes[static_cast<unsigned char>(text[at + 1])] : '\0';
      if (plain == 0) {
        out.append(buffer, used);
        return from;
      }
      buffer[used++] = plain;
      from += 2;
      ends &= ends - 1;
      ends &= ~(uint64_t{2} << bit);
    }
    if (from < i + kWide) {
      copy(from, i + kWide - from);
      from = i + kWide;
    }
  }
  out.append(buffer, used);
  return from;
}
#else
// Nothing is wrong with taking nothing: callers have a way for what is left.
size_t UnescapeJson(std::string_view, std::string&) { return 0; }
#endif

#if defined(__x86_64__)
namespace {

#define KERF_BYTES_512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2")))

bool HasBytes512() {
  static const bool has =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
  return has;
}

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

// A block is read, its backslashes are dropped, and it goes back at or before its own place: never
// over bytes that were not read yet.
KERF_BYTES_512 UnescapedInPlace UnescapeBlocks(char* text, size_t size) {
  const __m512i low_letters = _mm512_loadu_si512(kPlainEscapes.data());
  const __m512i high_letters = _mm512_loadu_si512(kPlainEscapes.data() + 64);
  UnescapedInPlace done;
  uint64_t open = 0;  // 1: the block before ended with the beginning of an escape
  uint64_t beyond_ascii = 0;
  size_t i = 0;
  for (; i + 64 <= size; i += 64) {
    const __m512i block = _mm512_loadu_si512(text + i);
    const uint64_t high = _mm512_movepi8_mask(block);
    const uint64_t control = _mm512_cmplt_epu8_mask(block, _mm512_set1_epi8(0x20));
    const uint64_t quotes = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('"'));
    const uint64_t slashes = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('\\'));
    const uint64_t begins = EscapeBegins(slashes & ~open);
    const uint64_t escaped = (begins << 1) | open;
    const __m512i letters = _mm512_permutex2var_epi8(low_letters, block, high_letters);
    const uint64_t known = _mm512_test_epi8_mask(letters, letters) & ~high;
    const uint64_t stops = (quotes & ~escaped) | control | (escaped & ~known);
    const uint64_t before = stops == 0 ? ~uint64_t{0} : (stops & (~stops + 1)) - 1;
    const uint64_t keep = ~begins & before;
    const __m512i plain =
        _mm512_maskz_compress_epi8(keep, _mm512_mask_mov_epi8(block, escaped, letters));
    const auto kept = static_cast<unsigned>(std::popcount(keep));
    beyond_ascii |= high & before;
    if ((stops | (begins >> 63)) == 0) {
      _mm512_storeu_si512(text + done.written, plain);
      done.written += kept;
      open = 0;
      continue;
    }
    // Here the caller may want bytes of the block that were not taken: a backslash at its end too.
    _mm512_mask_storeu_epi8(text + done.written, (uint64_t{1} << kept) - 1, plain);
    done.written += kept;
    if (stops != 0) {
      const auto stop = static_cast<unsigned>(std::countr_zero(stops));
      // Of an escape that is not known, the backslash too is left.
      done.taken = i + stop - ((escaped >> stop) & 1);
      done.ascii = beyond_ascii == 0;
      return done;
    }
    open = 1;
  }
  done.taken = i - open;
  done.ascii = beyond_ascii == 0;
  return done;
}

}  // namespace

UnescapedInPlace UnescapeJsonInPlace(char* text, size_t size) {
  return HasBytes512() ? UnescapeBlocks(text, size) : UnescapedInPlace{};
}
#else
UnescapedInPlace UnescapeJsonInPlace(char*, size_t) { return {}; }
#endif

}  // namespace kerf
