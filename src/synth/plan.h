// Program → loops. A plan is a list of groups, run one after the other; a group is one nest of
// outer loops around passes over a row that stays in cache (docs/synth.md).
//
//   softmax:  for row:                       outer loop, shared by the threads
//               for col: maximum             pass
//               for col: exp, sum            pass of two statements
//               inverse = 1 / sum            pass without loops
//               for col: store               pass
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "synth/program.h"

namespace kerf::synth {

struct PlanOptions {
  int threads = 2;
  int64_t cache_bytes = 1 << 20;  // of one core
  int variant = 0;
  // Of a GPU: how many blocks a reduction shall at least be cut into; 0 on a CPU.
  int64_t blocks = 0;
  // Of a group each reduction gives one value for every turn of the outer loops, never a row.
  bool whole_rows = false;
  std::set<int> inlined;  // tensors that are recomputed, whatever that costs
};

// One tensor's loops before fusion: a variable for each axis, or several where a reshape splits it.
struct StageVar {
  int id = 0;
  int64_t extent = 1;
  int dim = -1;        // the tensor's axis, -1 when reduced
  int64_t weight = 1;  // the axis' index is the sum of variable * weight
};

struct Stage {
  int tensor = 0;
  std::vector<StageVar> vars;  // kept ones first, then the reduced
  ExprPtr body;
  std::vector<Index> at;  // indices of the element
};

struct Loop {
  int var = 0;
  int64_t extent = 1;
};

// How often the innermost body of a nest runs.
int64_t LoopTurns(const std::vector<Loop>& loops);

// Holds where low <= index < high.
struct Guard {
  Index index;
  int64_t low = 0;
  int64_t high = 0;
};

struct Statement {
  int tensor = 0;
  ExprPtr value;
  std::vector<Index> at;
  std::vector<Guard> guards;  // of a reduction: other terms add nothing
};

struct Pass {
  std::vector<Loop> loops;
  size_t kept = 0;  // the first loops that a reduction does not join
  std::vector<Statement> statements;
  // The kept loop innermost, sums in a row buffer: for rows that lie side by side in memory.
  bool interchanged = false;
};

// Where a tensor lives while the kernel runs.
enum class Place {
  kNowhere,   // always inlined
  kGlobal,    // an argument, a result or a temporary of the whole kernel
  kScalar,    // one value for each turn of the outer loops
  kRow,       // a buffer of the thread, for each turn of the outer loops
  kRegister,  // one value in the pass that makes and uses it
};

struct Storage {
  Place place = Place::kNowhere;
  bool also_scalar = false;  // a global one that its own group reads from a scalar
  int group = -1;
  int pass = -1;
  // Row buffers: coordinates of an element, and how many there are.
  std::vector<StageVar> row;
  int64_t row_elements = 1;
};

struct Group {
  std::vector<Loop> outer;
  std::vector<Pass> passes;
  bool parallel = false;
  // The outer loop whose elements fill vectors, -1 when the innermost loop of each pass does.
  int lane = -1;
  int64_t lane_tile = 0;
  int special = -1;       // the tensor whose algorithm this group is, -1 for loops
  std::vector<int> rows;  // tensors with row buffers
};

struct Plan {
  Program program;
  std::vector<Group> groups;
  std::vector<Storage> storage;  // by tensor
  PlanOptions options;
};

Plan MakePlan(Program program, const PlanOptions& options);

// The place of an element in the memory of its tensor.
Index PlaceOf(const Plan& plan, int tensor, const std::vector<Index>& indices);

}  // namespace kerf::synth
