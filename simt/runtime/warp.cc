// Warp operations. Lanes run one after another, so an operation is a meeting: each lane leaves its
// value and waits; the last one computes the results of all.
//
// With a mask, the meeting is complete when every lane of the mask that still lives has come.
// Without (HIP's __shfl,
// __activemask), a device in lock step would take the lanes that are converged here. Those are
// known when no lane of the warp can go on elsewhere; where lanes wait at several places, the one
// first in the source goes first, because a branch stands before the place where it joins.
#include "runtime/worker.h"

namespace kerf_simt {
namespace {

uint64_t LaneBit(int lane) { return uint64_t{1} << lane; }

const char* const kOpNames[] = {
    "__syncwarp",   "step",         "__shfl",       "__shfl_up",    "__shfl_down",  "__shfl_xor",
    "__any",        "__all",        "__uni",        "__ballot",     "__activemask", "__match_any",
    "__match_all",  "__reduce_add", "__reduce_min", "__reduce_max", "__reduce_min", "__reduce_max",
    "__reduce_and", "__reduce_or",  "__reduce_xor"};
const char* OpName(WarpOp op) { return kOpNames[static_cast<int>(op)]; }

bool IsShuffle(WarpOp op) { return op >= WarpOp::kShuffle && op <= WarpOp::kShuffleXor; }

// The lane a shuffle reads, or -1 for the lane's own value.
int SourceLane(const Thread& t, int lane) {
  int width = t.width;
  int segment = lane & ~(width - 1);
  switch (t.op) {
    case WarpOp::kShuffle:
      return segment + (t.arg & (width - 1));
    case WarpOp::kShuffleUp:
      return static_cast<unsigned>(t.arg) > static_cast<unsigned>(lane - segment) ? -1
                                                                                  : lane - t.arg;
    case WarpOp::kShuffleDown:
      return static_cast<unsigned>(t.arg) >= static_cast<unsigned>(segment + width - lane)
                 ? -1
                 : lane + t.arg;
    default:
      return (lane ^ t.arg) >= segment + width ? -1 : lane ^ t.arg;
  }
}

uint64_t Combine(WarpOp op, uint64_t a, uint64_t b) {
  auto sa = static_cast<int32_t>(a);
  auto sb = static_cast<int32_t>(b);
  auto ua = static_cast<uint32_t>(a);
  auto ub = static_cast<uint32_t>(b);
  switch (op) {
    case WarpOp::kAdd:
      return static_cast<uint32_t>(ua + ub);
    case WarpOp::kMinSigned:
      return static_cast<uint32_t>(sa < sb ? sa : sb);
    case WarpOp::kMaxSigned:
      return static_cast<uint32_t>(sa > sb ? sa : sb);
    case WarpOp::kMinUnsigned:
      return ua < ub ? ua : ub;
    case WarpOp::kMaxUnsigned:
      return ua > ub ? ua : ub;
    case WarpOp::kAnd:
      return ua & ub;
    case WarpOp::kOr:
      return ua | ub;
    default:
      return ua ^ ub;
  }
}

}  // namespace

uint64_t Worker::WarpCollective(WarpOp op, uint64_t mask, uint64_t value, int arg, int width,
                                int line) {
  int lane = running_ % warp_size_;
  int warp = running_ / warp_size_;
  Warp& w = warps_[warp];
  Thread& t = threads_[running_];
  t.op = op;
  t.mask = mask;
  t.value = value;
  t.arg = arg;
  t.width = width;
  t.line = line;
  if (IsShuffle(op) && (width <= 0 || width > warp_size_ || (width & (width - 1)) != 0)) {
    Fail("bad_warp_call", running_, line,
         Text() << "the width of a shuffle is a power of two up to " << warp_size_ << ", not "
                << width,
         719);
  }
  ready_[running_ / 64] &= ~(uint64_t{1} << (running_ & 63));
  if (mask == 0) {
    w.waiting_here |= LaneBit(lane);
    if (w.waiting_here == w.alive) TryUnmasked(warp);
  } else {
    if ((mask & LaneBit(lane)) == 0) {
      Text detail;
      detail << OpName(op) << "_sync is called by lane " << lane << ", which its mask ";
      detail.Hex(mask) << " does not name";
      Fail("bad_warp_call", running_, line, detail, 719);
    }
    w.waiting |= LaneBit(lane);
    if ((w.waiting & mask & w.alive) == (mask & w.alive)) TryMasked(warp);
  }
  // After a step the lanes go on from the lowest: one that reads a higher lane's element sees it
  // before its change.
  const int next = op == WarpOp::kStep ? Next() : running_;
  if ((ready_[running_ / 64] >> (running_ & 63) & 1) == 0) {
    Block();
  } else if (next != running_) {
    SwitchTo(next);
  }
  return t.result;
}

void Worker::TryMasked(int warp) {
  Warp& w = warps_[warp];
  const Thread* lanes = threads_ + warp * warp_size_;
  uint64_t left = w.waiting;
  while (left != 0) {
    int lane = __builtin_ctzll(left);
    uint64_t group = lanes[lane].mask & w.alive;
    left &= ~group;
    left &= ~LaneBit(lane);
    if ((group & w.waiting) != group) continue;
    CheckSameOperation(warp, group);
    w.waiting &= ~group;
    FinishWarp(warp, group);
  }
}

void Worker::CheckSameOperation(int warp, uint64_t group) {
  const Thread* lanes = threads_ + warp * warp_size_;
  int first = __builtin_ctzll(group);
  for (uint64_t left = group; left != 0; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    const Thread& a = lanes[first];
    const Thread& b = lanes[lane];
    if (a.op == b.op && (a.mask & warps_[warp].alive) == (b.mask & warps_[warp].alive)) continue;
    Text detail;
    detail << "lane " << lane << " calls " << OpName(b.op) << "_sync with mask ";
    detail.Hex(b.mask) << ", lane " << first << " calls " << OpName(a.op) << "_sync with mask ";
    detail.Hex(a.mask) << " in line " << a.line;
    Fail("divergent_warp", warp * warp_size_ + lane, b.line, detail, 719);
  }
}

void Worker::TryUnmasked(int warp) {
  Warp& w = warps_[warp];
  const Thread* lanes = threads_ + warp * warp_size_;
  int first = -1;
  for (uint64_t left = w.waiting_here; left != 0; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    if (first < 0 || lanes[lane].line < lanes[first].line) first = lane;
  }
  uint64_t group = 0;
  for (uint64_t left = w.waiting_here; left != 0; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    if (lanes[lane].line == lanes[first].line && lanes[lane].op == lanes[first].op)
      group |= LaneBit(lane);
  }
  // Complete only if nobody can join any more.
  if (group != w.alive && WarpReady(warp) != 0) return;
  w.waiting_here &= ~group;
  FinishWarp(warp, group);
}

void Worker::FinishWarp(int warp, uint64_t group) {
  ++warps_[warp].epoch;
  Thread* lanes = threads_ + warp * warp_size_;
  const int first = __builtin_ctzll(group);
  const WarpOp op = lanes[first].op;
  if (op == WarpOp::kStep && !launch_->info->hip && (group & (group - 1)) != 0) {
    Warn("implicit_warp_sync", Severity::kWarning, warp * warp_size_ + first, lanes[first].line,
         Text() << "volatile memory is exchanged between the lanes of a warp as if they ran in "
                   "lock step; since Volta "
                   "they need not: __syncwarp() belongs before this");
  }
  uint64_t common = 0;
  if (op >= WarpOp::kAny) common = WarpResult(warp, -1, group);
  for (uint64_t left = group; left != 0; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    bool own = IsShuffle(op) || op == WarpOp::kMatchAny;
    lanes[lane].result = own ? WarpResult(warp, lane, group) : common;
  }
  SetWarpReady(warp, group);
}

// For a shuffle or a match the result of one lane, else that of all (lane -1).
uint64_t Worker::WarpResult(int warp, int lane, uint64_t group) {
  const Thread* lanes = threads_ + warp * warp_size_;
  const Thread& t = lanes[lane < 0 ? __builtin_ctzll(group) : lane];
  if (IsShuffle(t.op)) {
    int source = SourceLane(t, lane);
    if (source < 0) return t.value;
    if ((group >> source & 1) != 0) return lanes[source].value;
    Text detail;
    detail << OpName(t.op) << " reads lane " << source << ", which "
           << ((warps_[warp].alive >> source & 1) != 0 ? "does not take part"
                                                       : "does not exist or has left");
    Warn("inactive_lane", Severity::kWarning, warp * warp_size_ + lane, t.line, detail);
    // What ds_bpermute gives on AMD; undefined in CUDA.
    return t.mask == 0 ? 0 : (uint64_t{kPoison} << 32 | kPoison);
  }
  uint64_t votes = 0;
  uint64_t same = 0;
  uint64_t combined = t.value;
  for (uint64_t left = group; left != 0; left &= left - 1) {
    int i = __builtin_ctzll(left);
    if (lanes[i].value != 0) votes |= LaneBit(i);
    if (lanes[i].value == t.value) same |= LaneBit(i);
    if (i != __builtin_ctzll(group)) combined = Combine(t.op, combined, lanes[i].value);
  }
  switch (t.op) {
    case WarpOp::kSync:
    case WarpOp::kStep:
      return 0;
    case WarpOp::kAny:
      return votes != 0;
    case WarpOp::kAll:
      return votes == group;
    case WarpOp::kUniform:
      return votes == group || votes == 0;
    case WarpOp::kBallot:
      return votes;
    case WarpOp::kActive:
      return group;
    case WarpOp::kMatchAny:
      return same;
    case WarpOp::kMatchAll:
      return same == group ? group : 0;
    default:
      return combined;
  }
}

// Nobody can go on: some lanes wait for others that wait elsewhere.
void Worker::FailStuck() {
  for (int warp = 0; warp * warp_size_ < thread_count_; ++warp) {
    const Warp& w = warps_[warp];
    if (w.waiting == 0) continue;
    int lane = __builtin_ctzll(w.waiting);
    const Thread& t = threads_[warp * warp_size_ + lane];
    uint64_t missing = t.mask & w.alive & ~w.waiting;
    if (missing == 0) continue;
    int other = __builtin_ctzll(missing);
    int thread = warp * warp_size_ + other;
    Text detail;
    detail << OpName(t.op) << "_sync in line " << t.line << " waits for lane " << other
           << " of its mask ";
    detail.Hex(t.mask) << ", but thread ";
    NameThread(detail, thread);
    if ((at_barrier_[thread / 64] >> (thread & 63) & 1) != 0) {
      detail << " waits at the barrier in line " << barrier_line_;
    } else {
      detail << " waits in line " << threads_[thread].line;
    }
    Fail("deadlock", warp * warp_size_ + lane, t.line, detail, 719);
  }
  Fail("deadlock", running_, launch_line(), Text() << "no thread of the block can go on", 719);
}

uint64_t WarpCollective(WarpOp op, uint64_t mask, uint64_t value, int arg, int width, int line) {
  if (worker == nullptr) return value;
  return worker->WarpCollective(op, mask, value, arg, width, line);
}

}  // namespace kerf_simt
