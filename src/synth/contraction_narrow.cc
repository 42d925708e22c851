// The forms of a matrix product with a few "short" rows against many "long" ones: stream and dot
// (contraction_matmul.cc).
#include <algorithm>

#include "synth/contraction_matmul.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

constexpr const char* kNarrowHead = R"(
namespace @NAME@_parts {

using Sum = @SUM@;
constexpr int64_t kBatch = @BATCH@, kDepth = @DEPTH@;
constexpr int64_t kShort = @SHORT@;  // @SHORT_WORD@
constexpr int64_t kLong = @LONG@;  // @LONG_WORD@
constexpr int64_t kBlock = @BLOCK@;  // of the long side, for one job
)";

constexpr const char* kStreamBody = R"(
// Every element of the large operand is read once, in the order of memory; the sums stay in the first-level cache.
static void MultiplyBlock(@A@, @B@, int64_t batch, int64_t first, int64_t count@DECLARED@) {
  alignas(64) Sum sums[kShort * kBlock] = {};
  int64_t k = 0;
  for (; k + 4 <= kDepth; k += 4) {
    for (int64_t s = 0; s < kShort; ++s) {
      Sum* to = sums + s * kBlock;
      const Sum f0 = @FACTOR0@, f1 = @FACTOR1@;
      const Sum f2 = @FACTOR2@, f3 = @FACTOR3@;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        to[i] += f0 * @STREAM0@ + f1 * @STREAM1@ +
                 f2 * @STREAM2@ + f3 * @STREAM3@;
      }
    }
  }
  for (; k < kDepth; ++k) {
    for (int64_t s = 0; s < kShort; ++s) {
      Sum* to = sums + s * kBlock;
      const Sum f0 = @FACTOR0@;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) to[i] += f0 * @STREAM0@;
    }
  }
  @STORE_CALL@
}
)";

constexpr const char* kDotBody = R"(
// Vectors run along the sums, which are contiguous in both operands; four rows share what is loaded of the fifth.
static void MultiplyBlock(@A@, @B@, int64_t batch, int64_t first, int64_t count@DECLARED@) {
  Sum sums[kShort * kBlock];
  for (int64_t s = 0; s < kShort; ++s) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      Sum s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (int64_t k = 0; k < kDepth; ++k) {
        const Sum factor = @FACTOR0@;
        s0 += factor * @LONG0@;
        s1 += factor * @LONG1@;
        s2 += factor * @LONG2@;
        s3 += factor * @LONG3@;
      }
      Sum* to = sums + s * kBlock + i;
      to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
    for (; i < count; ++i) {
      Sum s0 = 0;
#pragma omp simd reduction(+ : s0)
      for (int64_t k = 0; k < kDepth; ++k) s0 += @FACTOR0@ * @LONG0@;
      sums[s * kBlock + i] = s0;
    }
  }
  @STORE_CALL@
}
)";

constexpr const char* kNarrowTail = R"(
}  // namespace @NAME@_parts

static void @NAME@(@A@, @B@@DECLARED@, int threads) {
  using namespace @NAME@_parts;
  const int team = static_cast<int>(tiles::Least(threads, @MOST_THREADS@));
  constexpr int64_t blocks = tiles::CeilDiv(kLong, kBlock);
#pragma omp parallel for num_threads(team)
  for (int64_t job = 0; job < kBatch * blocks; ++job) {
    const int64_t first = job % blocks * kBlock;
    MultiplyBlock(a, b, job / blocks, first, tiles::Least(kBlock, kLong - first)@PASSED@);
  }
}
)";

}  // namespace

std::string EmitNarrow(const MatmulSpec& spec, FormValues values, bool short_is_a, bool dot) {
  values["SHORT"] = Number(short_is_a ? spec.m : spec.n);
  values["LONG"] = Number(short_is_a ? spec.n : spec.m);
  values["SHORT_WORD"] = short_is_a ? "rows of a" : "columns of b";
  values["LONG_WORD"] = short_is_a ? "columns of b" : "rows of a";
  // A job of a stream reads runs of 4 KiB of each row where there are enough of them.
  const int64_t run = std::clamp<int64_t>((short_is_a ? spec.n : spec.m) / 4 / 64 * 64, 256, 1024);
  values["BLOCK"] = Number(dot ? 64 : run);
  values["SUMS_ROW"] = short_is_a ? "kBlock" : "1";
  values["SUMS_COL"] = short_is_a ? "1" : "kBlock";
  values["STORE_CALL"] =
      "Store(sums, batch, " +
      std::string(short_is_a ? "0, kShort, first, count" : "first, count, 0, kShort") +
      values["PASSED"] + ");";
  for (int i = 0; i < 4; ++i) {
    const std::string number = Number(i);
    const std::string plus = i == 0 ? "" : " + " + number;
    const std::string k = i == 0 ? "k" : "(k" + plus + ")";
    const std::string at = "(first + i)";
    const std::string next = "(first + i" + plus + ")";
    const auto short_text = [&](const std::string& term) {
      return short_is_a ? ProductElement(spec, spec.a, "a", "s", term)
                        : ProductElement(spec, spec.b, "b", term, "s");
    };
    const auto long_text = [&](const std::string& index, const std::string& term) {
      return short_is_a ? ProductElement(spec, spec.b, "b", term, index)
                        : ProductElement(spec, spec.a, "a", index, term);
    };
    values["FACTOR" + number] = short_text(k);
    values["STREAM" + number] = long_text(at, k);
    values["LONG" + number] = long_text(next, "k");
  }
  return Fill(std::string(kNarrowHead) + kStoreSums + (dot ? kDotBody : kStreamBody) + kNarrowTail,
              values);
}

}  // namespace kerf::synth
