// Where the other devices of a communication domain have their windows.
#pragma once

#include <cstdint>

inline constexpr uint32_t COMM_MAX_RANK_NUM = 64;

struct CommContext {
  uint64_t workSpace;
  uint64_t workSpaceSize;
  uint32_t rankId;
  uint32_t rankNum;
  uint64_t winSize;
  uint64_t windowsIn[64];
  uint64_t windowsOut[64];
};
static_assert(sizeof(CommContext) == 1056);
