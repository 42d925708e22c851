// How an instruction on tiles becomes work of its pipe: the shape of the work, and the vector
// instructions that do it. Their costs are the chip's (chips/*.yaml).
#pragma once

#include "sim/log/instruction_log.h"

namespace kerf::sim {

enum class WorkKind : uint8_t {
  kFlag,  // set or wait
  kBarrier,
  kScalar,        // one scalar operation
  kScalarAccess,  // scalar access to a memory
  kTransfer,      // between memories, or V when both are UB
  kCube,
  kElementwise,   // one instruction over the valid region
  kSteps,         // `first`, a barrier, `second`, each over the valid region
  kRowReduce,     // fold columns by `first`, then `second` across a repeat
  kRowExpand,     // broadcast by vbrcb, then `first`
  kRowCopy,       // each row's first element into its row
  kColumnReduce,  // a row after the other, each needs the one before
  kColumnExpand,  // `first` on each row with the one row
  kTranspose,
  kSort,
  kDefault,  // no public cost: the chip's default
};

struct OpWork {
  WorkKind kind = WorkKind::kDefault;
  const char* first = nullptr;
  const char* second = nullptr;
};

OpWork WorkOf(Op op);

}  // namespace kerf::sim
