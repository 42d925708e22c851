// The descriptor of a tensor argument: 128 bytes, little endian, as the runtime lays them out.
#pragma once

#include <cstdint>
#include <cstring>

#include "kerf_pto/enums.h"

enum class DataType : uint8_t {
  FLOAT32,
  FLOAT16,
  INT32,
  INT16,
  INT8,
  UINT8,
  BFLOAT16,
  INT64,
  UINT64,
  UINT16,
  UINT32,
  BOOL,
  FP8E4M3FN,
  FP8E8M0,
  FP4E2M1
};

inline uint64_t get_element_size(DataType type) {
  constexpr uint64_t kSizes[] = {4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1};
  const auto index = static_cast<uint8_t>(type);
  return index < sizeof kSizes / sizeof kSizes[0] ? kSizes[index] : 0;
}

struct ChipTensorBuffer {
  uint64_t addr;
  uint64_t size;
};

struct alignas(64) ChipTensor {
  ChipTensorBuffer buffer;
  uint64_t owner_task_id;
  uint64_t start_offset;  // elements
  int32_t version;
  uint32_t ndims;
  DataType dtype;
  uint8_t manual_dep;
  uint8_t is_contiguous;
  uint8_t address_space;
  uint32_t shapes[5];
  uint64_t extent_elem_cache;
  uint32_t strides[5];  // elements
  uint8_t reserved[36];

  // The element at these coordinates, one for each dimension.
  template <typename T, typename... Index>
  T& at(Index... index) {
    const uint64_t where[] = {static_cast<uint64_t>(index)...};
    uint64_t offset = start_offset;
    for (uint32_t i = 0; i < sizeof...(Index); ++i) offset += where[i] * strides[i];
    return reinterpret_cast<T*>(buffer.addr)[offset];
  }
};
static_assert(sizeof(ChipTensor) == 128);
using Tensor = ChipTensor;

// A scalar argument, and back: its bytes, the rest zero.
template <typename T>
inline T from_u64(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T>
inline uint64_t to_u64(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
