// What a kernel finds on a core: its block and its lane, set by the stub of a launch.
#pragma once

#include <cstdint>

enum event_t { EVENT_ID0 };
enum pipe_t { PIPE_S };

inline int64_t g_block = 0;
inline int64_t g_lane = 0;

inline int64_t get_block_idx() { return g_block; }
inline int64_t get_subblockdim() { return 2; }
inline int64_t get_subblockid() { return g_lane; }
