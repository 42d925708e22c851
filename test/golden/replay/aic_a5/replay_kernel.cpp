// The kernel under test, and the entry that a launch calls. Written by kerf; safe to edit.
//
// The compiler makes a cube and a vector version of this file. A source that belongs on one kind of
// core is seen by that version only: the other's has no such instructions.
#include <cstdint>

#ifndef AICORE
#define AICORE [aicore]
#endif

#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 310
#endif
#ifndef PTO_NPU_ARCH_A5
#define PTO_NPU_ARCH_A5
#endif
#ifndef EVENT_ID7
#define EVENT_ID7 ((::event_t)7)
#endif
#ifndef PIPE_FIX
#define PIPE_FIX ((::pipe_t)10)
#endif

#ifdef __DAV_CUBE__
#include <cce_aicore_intrinsics.h>
#include "/scenes/kernels/cube.cpp"
#endif  // __DAV_CUBE__

extern "C" __global__ AICORE void replay_entry(__gm__ int64_t* args) {
#ifdef __DAV_CUBE__
  kernel_entry(args);
#endif
}
