// What every emitted contraction stands on: vector width, tile shapes, scratch memory, conversions
// and the two register kernels. They are templates, so that a function pays only for what it uses.
#include "synth/contraction.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

constexpr const char* kPrelude = R"(#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace tiles {

@WIDTH@

template <typename T>
struct Simd {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  // May lie anywhere in an array of T.
  typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};

template <typename T>
constexpr int kLanes = kVectorBytes / sizeof(T);

constexpr int64_t CeilDiv(int64_t value, int64_t by) { return (value + by - 1) / by; }
constexpr int64_t RoundUp(int64_t value, int64_t to) { return CeilDiv(value, to) * to; }
constexpr int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t Most(int64_t a, int64_t b) { return a < b ? b : a; }

// A tile of sums is rows × vectors registers; the rest holds one row of vectors and a factor.
constexpr int MostRows(int vectors) {
  constexpr int registers = kVectorBytes == 64 ? 28 : 12;
  return vectors == 1 ? registers - 4 : registers / vectors;
}

// The vectors of a tile for matrices of `cols` columns: two, unless one or three leave fewer lanes idle.
template <typename T>
constexpr int TileVectors(int64_t cols) {
  const int64_t one = RoundUp(cols, kLanes<T>);
  const int64_t two = RoundUp(cols, 2 * kLanes<T>);
  const int64_t three = RoundUp(cols, 3 * kLanes<T>);
  return one < two && one < three ? 1 : three < two ? 3 : 2;
}

// The rows of a tile: as many as the registers hold, spread evenly over the matrix.
constexpr int TileRows(int64_t rows, int vectors) {
  return rows == 0 ? 1 : static_cast<int>(CeilDiv(rows, CeilDiv(rows, MostRows(vectors))));
}

// Memory of this thread that stays between calls, because fresh pages cost a fault each. A slot has one user at
// a time: what a function puts there is gone when the next one asks for the slot.
template <typename T>
T* Scratch(int slot, int64_t count) {
  struct Buffer {
    void* data = nullptr;
    size_t bytes = 0;
    ~Buffer() { std::free(data); }
  };
  static thread_local Buffer buffers[4];
  Buffer& buffer = buffers[slot];
  const size_t bytes = RoundUp(count * sizeof(T) + kVectorBytes, 4096);
  if (buffer.bytes < bytes) {
    std::free(buffer.data);
    buffer.bytes = 0;
    buffer.data = std::aligned_alloc(4096, bytes);
    if (buffer.data == nullptr) throw std::bad_alloc();
    std::memset(buffer.data, 0, bytes);
    buffer.bytes = bytes;
  }
  return static_cast<T*>(buffer.data);
}

inline float FromBits(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t ToBits(float value) { return std::bit_cast<uint32_t>(value); }

@HALF@
@PRODUCT@
@CONVOLUTION@
@EXPONENTIAL@
}  // namespace tiles
)";

constexpr const char* kHalf = R"(
inline float FromBfloat(uint16_t bits) { return FromBits(static_cast<uint32_t>(bits) << 16); }

// The exponent is moved by a multiplication, which is exact and takes subnormal halves along; infinities and NaNs
// (exponent 31) come out at 2^16 and more, and get the exponent of float's.
inline float FromHalf(uint16_t bits) {
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  uint32_t moved = ToBits(FromBits(magnitude) * 0x1p112f);
  moved |= magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return FromBits(moved | static_cast<uint32_t>(bits & 0x8000) << 16);
}
)";

constexpr const char* kProduct = R"(
// sums[i][j] (+)= sum over k of a[i * a_row + k * a_step] * b[k * b_step + j], for rows × (vectors * lanes) sums
// that stay in registers all the while. Rows of sums are sums_row apart; b may lie anywhere.
template <typename T, int rows, int vectors, int64_t a_row, int64_t a_step, int64_t b_step,
          int64_t sums_row>
inline void MultiplyTile(int64_t depth, const T* a, const T* b, T* sums, bool first) {
  using Vector = typename Simd<T>::Vector;
  using Unaligned = typename Simd<T>::Unaligned;
  constexpr int lanes = kLanes<T>;
  Vector sum[rows][vectors];
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 32
    for (int j = 0; j < vectors; ++j) {
      sum[i][j] = first ? Vector{} : *reinterpret_cast<Unaligned*>(sums + i * sums_row + j * lanes);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector row[vectors];
#pragma GCC unroll 32
    for (int j = 0; j < vectors; ++j) {
      row[j] = *reinterpret_cast<const Unaligned*>(b + k * b_step + j * lanes);
    }
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {
      const T factor = a[i * a_row + k * a_step];
#pragma GCC unroll 32
      for (int j = 0; j < vectors; ++j) sum[i][j] += factor * row[j];
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 32
    for (int j = 0; j < vectors; ++j) {
      *reinterpret_cast<Unaligned*>(sums + i * sums_row + j * lanes) = sum[i][j];
    }
  }
}
)";

constexpr const char* kConvolution = R"(
// The vectors of a tile of a convolution: with few channels (rows) the registers hold more pixels.
template <typename T>
constexpr int PixelVectors(int64_t channels, int64_t pixels) {
  constexpr int registers = kVectorBytes == 64 ? 31 : 15;
  if (channels > registers / 4) return TileVectors<T>(pixels);
  const int64_t most = registers / (channels + 1);
  const int64_t tiles = CeilDiv(pixels, most * kLanes<T>);
  return static_cast<int>(CeilDiv(pixels, tiles * kLanes<T>));
}

// sums[i][p] = sum over channels c and taps t of
//   weight[i * weight_row + c * taps + t] * image[c * plane + offsets[t] + p]
// A convolution over an image that is laid out so that every tap reads a contiguous run.
template <typename T, int rows, int vectors, int64_t weight_row, int64_t plane, int64_t sums_row>
inline void ConvolveTile(int64_t channels, int64_t taps, const T* weight, const T* image,
                         const int32_t* offsets, T* sums) {
  using Vector = typename Simd<T>::Vector;
  using Unaligned = typename Simd<T>::Unaligned;
  constexpr int lanes = kLanes<T>;
  // Sums of about 128 terms are added up: one long sum would round twice as coarsely.
  const int64_t block = Most(int64_t{1}, 128 / Most(int64_t{1}, taps));
  for (int64_t first = 0; first == 0 || first < channels; first += block) {
    Vector sum[rows][vectors];
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 32
      for (int j = 0; j < vectors; ++j) sum[i][j] = Vector{};
    }
    for (int64_t c = first; c < Least(channels, first + block); ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        const T* run = image + c * plane + offsets[t];
        Vector pixels[vectors];
#pragma GCC unroll 32
        for (int j = 0; j < vectors; ++j) {
          pixels[j] = *reinterpret_cast<const Unaligned*>(run + j * lanes);
        }
#pragma GCC unroll 32
        for (int i = 0; i < rows; ++i) {
          const T factor = weight[i * weight_row];
#pragma GCC unroll 32
          for (int j = 0; j < vectors; ++j) sum[i][j] += factor * pixels[j];
        }
        ++weight;
      }
    }
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 32
      for (int j = 0; j < vectors; ++j) {
        auto& place = *reinterpret_cast<Unaligned*>(sums + i * sums_row + j * lanes);
        place = first == 0 ? sum[i][j] : place + sum[i][j];
      }
    }
  }
}
)";

// Coefficients: Taylor's up to the seventh power, whose rest on |r| <= ln(2) / 2 is below 2^-27.
constexpr const char* kExponential = R"(
// exp(x) for x <= 0, without a branch so that loops become vector code; what is below the normal numbers is 0.
// x = n * ln(2) + r with |r| <= ln(2) / 2; adding 1.5 * 2^23 rounds to a whole n and leaves it in the low bits.
inline float ExpOfNegative(float x) {
  const float in_range = x < -87.0f ? -87.0f : x;
  const float rounded = in_range * 0x1.715476p+0f + 0x1.8p+23f;
  const float n = rounded - 0x1.8p+23f;
  const float r = (in_range - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  float power = 1.0f / 5040;
  power = power * r + 1.0f / 720;
  power = power * r + 1.0f / 120;
  power = power * r + 1.0f / 24;
  power = power * r + 1.0f / 6;
  power = power * r + 0.5f;
  power = power * r + 1.0f;
  power = power * r + 1.0f;
  const float scale = FromBits((ToBits(rounded) << 23) + 0x3f800000u);
  return x < -87.0f ? 0.0f : power * scale;
}
inline double ExpOfNegative(double x) { return std::exp(x); }
)";

constexpr const char* kWidthOfCompiler =
    R"(// Bytes of a vector register: what the compiler may use on this machine.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif)";

}  // namespace

std::string ContractionPrelude(const CpuTarget& target, const std::string& functions) {
  const std::string fixed = "constexpr int kVectorBytes = " + Number(target.vector_bytes) + ";";
  const auto used = [&](const char* word) {
    return functions.empty() || functions.find(word) != std::string::npos;
  };
  return Fill(kPrelude, {{"WIDTH", target.vector_bytes == 0 ? kWidthOfCompiler : fixed},
                         {"PRODUCT", used("MultiplyTile") ? kProduct : ""},
                         {"CONVOLUTION", used("ConvolveTile") ? kConvolution : ""},
                         {"HALF", used("FromHalf") || used("FromBfloat") ? kHalf : ""},
                         {"EXPONENTIAL", used("ExpOfNegative") ? kExponential : ""}});
}

}  // namespace kerf::synth
