// What every kernel here begins with: where a tensor argument's elements are, and scalars as
// numbers.
#pragma once

#include <cstdint>

#include "tensor.h"

template <typename T>
inline __aicore__ __gm__ T* Elements(__gm__ int64_t* args, int slot) {
  auto* tensor = reinterpret_cast<__gm__ ChipTensor*>(args[slot]);
  return reinterpret_cast<__gm__ T*>(tensor->buffer.addr) + tensor->start_offset;
}

inline __aicore__ uint32_t Extent(__gm__ int64_t* args, int slot, int dim) {
  return reinterpret_cast<__gm__ ChipTensor*>(args[slot])->shapes[dim];
}
