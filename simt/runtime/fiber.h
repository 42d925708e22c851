// A stack of its own and the switch between two of them. Written here because ucontext makes two
// system calls at every switch, and a reduction switches millions of times.
#pragma once

#include <stddef.h>

#include "kerf_simt/qualifiers.h"

namespace kerf_simt {

struct Fiber {
  void* stack_pointer = nullptr;   // where the fiber goes on; meaningless while it runs
  unsigned char* stack = nullptr;  // lowest address; its first page is a guard
  unsigned number = 0;
};

// Address space, of which a thread touches what it uses, mostly a page or two. A device gives a
// thread up to 512 KB of locals; half of that keeps a block of 1024 threads within 256 MB, where a
// sandbox may limit it.
constexpr size_t kStackBytes = 256 * 1024;
constexpr size_t kGuardBytes = 4096;

// Maps a stack. False: no memory.
KERF_SIMT_HIDDEN bool MapStack(Fiber& fiber);
// The next switch to the fiber enters `entry` on an empty stack. `entry` never returns.
KERF_SIMT_HIDDEN void ResetFiber(Fiber& fiber, void (*entry)());
// Leaves the running fiber, whose place is kept in *from, and goes on at `to`.
KERF_SIMT_HIDDEN void SwitchStack(void** from, void* to);

}  // namespace kerf_simt
