// The end of a kernel: the scalar unit waits until the last store has left the core.
#pragma once

#include "pto/pto-inst.hpp"

inline void pipe_sync(kerf_pto::Place place = kerf_pto::Place::current()) {
#ifdef __DAV_CUBE__
  set_flag(PIPE_FIX, PIPE_S, EVENT_ID7, place);
  wait_flag(PIPE_FIX, PIPE_S, EVENT_ID7, place);
#else
  set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7, place);
  wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID7, place);
#endif
}
