// FIPS 180-4. A text is its whole blocks of 64 bytes, then one or two blocks with the rest, a 1
// bit, zeros and the length. Two texts are worked on at a time; whenever one of them ends, the next
// text takes its lane.
#include "base/sha256_lanes.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace kerf {

#if defined(__x86_64__)
namespace {

constexpr size_t kBlock = 64;

alignas(16) constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The eight words of the hash as the instructions want them, highest first.
struct alignas(16) State {
  uint32_t feba[4] = {0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667};
  uint32_t hgdc[4] = {0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372};
};

struct Lane {
  State state;
  const uint8_t* at = nullptr;
  size_t blocks = 0;  // whole ones, at `at`
  bool in_tail = false;
  size_t text = 0;  // its place among the texts
  size_t tail_blocks = 0;
  uint8_t tail[2 * kBlock];

  void Begin(std::string_view bytes, size_t place) {
    state = State{};
    text = place;
    at = reinterpret_cast<const uint8_t*>(bytes.data());
    blocks = bytes.size() / kBlock;
    in_tail = false;
    const size_t rest = bytes.size() % kBlock;
    tail_blocks = rest + 9 <= kBlock ? 1 : 2;
    std::memset(tail, 0, sizeof tail);
    if (rest > 0) std::memcpy(tail, at + blocks * kBlock, rest);
    tail[rest] = 0x80;
    const uint64_t bits = uint64_t{bytes.size()} * 8;
    for (size_t i = 0; i < 8; ++i) {
      tail[tail_blocks * kBlock - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
    }
    if (blocks == 0) EnterTail();
  }

  void EnterTail() {
    at = tail;
    blocks = tail_blocks;
    in_tail = true;
  }

  // False when the text is done.
  bool Advance(size_t done) {
    at += done * kBlock;
    blocks -= done;
    if (blocks > 0) return true;
    if (in_tail) return false;
    EnterTail();
    return true;
  }

  [[nodiscard]] Sha256Digest Digest() const {
    const uint32_t words[8] = {state.feba[3], state.feba[2], state.hgdc[3], state.hgdc[2],
                               state.feba[1], state.feba[0], state.hgdc[1], state.hgdc[0]};
    Sha256Digest digest;
    for (size_t i = 0; i < digest.size(); ++i) {
      digest[i] = static_cast<uint8_t>(words[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
  }
};

__m128i Load(const void* from) { return _mm_load_si128(static_cast<const __m128i*>(from)); }

// `blocks` of each of the lanes. The inner loops are unrolled, so that the instructions of the
// lanes stand side by side and all words stay in registers.
template <size_t kLanes>
__attribute__((target("sha,sse4.1"))) void Compress(const std::array<Lane*, kLanes>& lanes,
                                                    size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i feba[kLanes];
  __m128i hgdc[kLanes];
  const uint8_t* at[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    feba[lane] = Load(lanes[lane]->state.feba);
    hgdc[lane] = Load(lanes[lane]->state.hgdc);
    at[lane] = lanes[lane]->at;
  }
  for (size_t block = 0; block < blocks; ++block) {
    __m128i first[kLanes];
    __m128i second[kLanes];
    __m128i words[kLanes][4];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      first[lane] = feba[lane];
      second[lane] = hgdc[lane];
      for (size_t i = 0; i < 4; ++i) {
        const auto* from = reinterpret_cast<const __m128i*>(at[lane] + block * kBlock + i * 16);
        words[lane][i] = _mm_shuffle_epi8(_mm_loadu_si128(from), swap);
      }
    }
#pragma GCC unroll 16
    for (size_t group = 0; group < 16; ++group) {  // four rounds each
      const __m128i constants = Load(kRoundConstants + group * 4);
#pragma GCC unroll 2
      for (size_t lane = 0; lane < kLanes; ++lane) {
        __m128i* w = words[lane];
        const __m128i sum = _mm_add_epi32(w[group % 4], constants);
        hgdc[lane] = _mm_sha256rnds2_epu32(hgdc[lane], feba[lane], sum);
        feba[lane] = _mm_sha256rnds2_epu32(feba[lane], hgdc[lane], _mm_shuffle_epi32(sum, 0x0E));
        if (group >= 12) continue;
        const __m128i part =
            _mm_add_epi32(_mm_sha256msg1_epu32(w[group % 4], w[(group + 1) % 4]),
                          _mm_alignr_epi8(w[(group + 3) % 4], w[(group + 2) % 4], 4));
        w[group % 4] = _mm_sha256msg2_epu32(part, w[(group + 3) % 4]);
      }
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      feba[lane] = _mm_add_epi32(feba[lane], first[lane]);
      hgdc[lane] = _mm_add_epi32(hgdc[lane], second[lane]);
    }
  }
  for (size_t lane = 0; lane < kLanes; ++lane) {
    _mm_store_si128(reinterpret_cast<__m128i*>(lanes[lane]->state.feba), feba[lane]);
    _mm_store_si128(reinterpret_cast<__m128i*>(lanes[lane]->state.hgdc), hgdc[lane]);
  }
}

bool AskProcessor() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kSha = 1U << 29;
  return __builtin_cpu_supports("sse4.1") != 0 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (b & kSha) != 0;
}

}  // namespace

bool HasSha256Lanes() {
  static const bool has = AskProcessor();
  return has;
}

std::vector<Sha256Digest> Sha256Lanes(const std::vector<std::string_view>& texts) {
  std::vector<Sha256Digest> digests(texts.size());
  Lane lanes[2];
  size_t next = 0;
  const auto begin = [&](Lane& lane) {
    if (next == texts.size()) return false;
    lane.Begin(texts[next], next);
    ++next;
    return true;
  };
  bool active[2] = {begin(lanes[0]), begin(lanes[1])};
  while (active[0] || active[1]) {
    size_t done = 0;
    if (active[0] && active[1]) {
      done = std::min(lanes[0].blocks, lanes[1].blocks);
      Compress<2>({&lanes[0], &lanes[1]}, done);
    } else {
      Lane& last = lanes[active[0] ? 0 : 1];
      done = last.blocks;
      Compress<1>({&last}, done);
    }
    for (size_t i = 0; i < 2; ++i) {
      if (!active[i] || lanes[i].Advance(done)) continue;
      digests[lanes[i].text] = lanes[i].Digest();
      active[i] = begin(lanes[i]);
    }
  }
  return digests;
}

#else

bool HasSha256Lanes() { return false; }

std::vector<Sha256Digest> Sha256Lanes(const std::vector<std::string_view>&) {
  KERF_CHECK(false, "this processor has no instructions for SHA-256 that kerf knows");
  return {};
}

#endif

}  // namespace kerf
