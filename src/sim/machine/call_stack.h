// Where an instruction was called from: the return addresses of the kernel's own functions, found
// by their frame pointers (kernels are built with them). Lines are found later, once for each
// address (src/sim/exec/call_stacks.h).
#pragma once

#include <cstdint>
#include <span>

namespace kerf::sim {

// The code of a loaded kernel. Addresses in a log are `label` + the offset from `base`.
struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t base = 0;
  uint64_t label = 0;
};
// Of the library with this number: an address tells which one it is from.
constexpr int kLabelShift = 48;
constexpr uint64_t CodeLabel(uint64_t number) { return (number + 1) << kLabelShift; }

struct CallStack {
  static constexpr int kMost = 24;
  uint64_t pc[kMost];  // innermost first
  int depth = 0;
  uint64_t hash = 0;
};

// `frame` is __builtin_frame_address(0) of the function that the kernel called. Ends at the first
// address that is no kernel's and at the end of the stack, so that a broken chain leads nowhere.
inline void WalkStack(const void* frame, uint64_t stack_end, std::span<const CodeRange> code,
                      CallStack& stack) {
  stack.depth = 0;
  stack.hash = 0;
  // A frame holds the frame above it and the address to return to.
  const void* const* words = static_cast<const void* const*>(frame);
  for (auto at = reinterpret_cast<uint64_t>(words);
       stack.depth < CallStack::kMost && at % sizeof at == 0 && at + 16 <= stack_end;
       at = reinterpret_cast<uint64_t>(words)) {
    const auto address = reinterpret_cast<uint64_t>(words[1]);
    uint64_t pc = 0;
    for (const CodeRange& range : code) {
      if (address - range.begin < range.end - range.begin)
        pc = range.label + (address - range.base);
    }
    if (pc == 0) break;
    stack.pc[stack.depth++] = pc;
    stack.hash = (stack.hash ^ pc) * 0xff51afd7ed558ccdU;
    stack.hash ^= stack.hash >> 29;
    if (reinterpret_cast<uint64_t>(words[0]) <= at) break;  // frames lie one above the other
    words = static_cast<const void* const*>(words[0]);
  }
}

}  // namespace kerf::sim
