// What the runtime tells a kernel beside its arguments: slots 48 and 49.
#pragma once

#include <cstdint>

#include "kerf_pto/enums.h"

inline constexpr int SPMD_LOCAL_CONTEXT_INDEX = 48;
inline constexpr int SPMD_GLOBAL_CONTEXT_INDEX = 49;
inline constexpr int DMA_WORKSPACE_SDMA = 0;
inline constexpr int DMA_WORKSPACE_URMA = 1;

struct AsyncCtx {
  uint64_t slab[7];
};

struct LocalContext {
#ifdef PTO_NPU_ARCH_A5
  int32_t s_block_idx;
  int32_t s_block_num;
#else
  int32_t block_idx;
  int32_t block_num;
#endif
  AsyncCtx async;
};

struct GlobalContext {
  int32_t sub_block_id;
  uint64_t dma_workspace[2];
};

inline LocalContext* kerf_local_context(int64_t* args) {
  return reinterpret_cast<LocalContext*>(args[SPMD_LOCAL_CONTEXT_INDEX]);
}
inline GlobalContext* kerf_global_context(int64_t* args) {
  return reinterpret_cast<GlobalContext*>(args[SPMD_GLOBAL_CONTEXT_INDEX]);
}

inline int32_t get_block_idx(int64_t* args) {
  return *reinterpret_cast<int32_t*>(kerf_local_context(args));
}
inline int32_t get_block_num(int64_t* args) {
  return reinterpret_cast<int32_t*>(kerf_local_context(args))[1];
}
inline int32_t get_sub_block_id(int64_t* args) { return kerf_global_context(args)->sub_block_id; }
inline uint8_t* get_dma_workspace(int64_t* args, int kind) {
  return reinterpret_cast<uint8_t*>(kerf_global_context(args)->dma_workspace[kind]);
}
