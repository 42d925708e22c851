// Code has an escape every 30 bytes or so. The ends of runs are looked for 64 bytes at a time, and
// runs are copied in whole blocks whose surplus the next one overwrites.
#include "base/json_unescape.h"

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kerf {
namespace {

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
      const char plain = text[at] == '\\' ? PlainJsonEscape(text[at + 1]) : '\0';
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

}  // namespace kerf
