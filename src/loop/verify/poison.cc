#include "loop/verify/poison.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "loop/verify/element.h"

namespace kerf::verify {
namespace {

// SplitMix64: neighbouring seeds give unrelated words.
uint64_t Mix(uint64_t seed) {
  seed += 0x9E3779B97F4A7C15;
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB;
  return seed ^ (seed >> 31);
}

uint64_t WordFor(DType dtype, uint64_t seed) {
  const uint64_t random = Mix(seed);
  // Some low bits of the payload are always set: no NaN that arithmetic makes looks like this.
  switch (ComponentType(dtype)) {
    case DType::kFloat64:
      return random | 0x7FF8000000000000 | 0x5A5;
    case DType::kFloat32:
      return (random & 0xFFFFFFFF) | 0x7FC00000 | 0x5A5;
    case DType::kFloat16:
      return (random & 0xFFFF) | 0x7E00 | 0x5A;
    case DType::kBFloat16:
      return (random & 0xFFFF) | 0x7FC0 | 0x15;
    case DType::kFloat8E5M2:
      return (random & 0x80) | 0x7D;
    case DType::kFloat8E4M3:
      return (random & 0x80) | 0x7F;
    case DType::kBool:
      return (random & 0xFF) | 0x42;
    default:
      return random;
  }
}

}  // namespace

PoisonPattern::PoisonPattern(DType dtype, uint64_t seed)
    : word_(WordFor(dtype, seed)),
      bytes_(static_cast<uint32_t>(DTypeBytes(ComponentType(dtype)))) {}

void PoisonPattern::Fill(const TensorSpec& spec, void* data) const {
  KERF_CHECK(DTypeBytes(ComponentType(spec.dtype)) == bytes_, "a pattern is for one dtype");
  // A block that stays in the cache, then copies of it.
  constexpr uint64_t kBlock = 16384;  // a multiple of every size
  auto* at = static_cast<char*>(data);
  const uint64_t bytes = spec.bytes();
  const uint64_t first = std::min(bytes, kBlock);
  for (uint64_t done = 0; done < first; done += bytes_) std::memcpy(at + done, &word_, bytes_);
  for (uint64_t done = first; done < bytes; done += kBlock) {
    std::memcpy(at + done, at, std::min(kBlock, bytes - done));
  }
}

bool PoisonPattern::Matches(const void* component) const {
  return std::memcmp(component, &word_, bytes_) == 0;
}

}  // namespace kerf::verify
