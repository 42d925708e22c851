// TPipe: queues between the cube core and the vector cores of a cluster.
//
// On a2a3 the ring lies in global memory. A push stores the tile in slot i % SlotNum and signals
// FlagID; a pop waits for that, loads the tile and, every Period tiles, signals FlagID + 1 (space).
// With both directions the vector cores' ring stands behind the cube's, and uses FlagID + 2 and
// + 3.
//
// On a5 the ring lies in the consumer's own memory: UB of each vector core, L1 of the cube. A push
// writes into it, a pop only waits and says where the tile is, TFREE gives the slot back. The _GM
// directions keep it in global memory. Signals go from one core to one other: those of vector core
// 1 have 16 more in their number. Whoever pops tells at the start that all slots are free; whoever
// pushes takes what is left of these signals at the end.
#pragma once

#include <cstddef>

#include "kerf_pto/move.h"

namespace kerf_pto {

#ifdef __DAV_CUBE__
inline constexpr bool kOnCube = true;
#else
inline constexpr bool kOnCube = false;
#endif
#ifdef PTO_NPU_ARCH_A5
inline constexpr bool kA5 = true;
#else
inline constexpr bool kA5 = false;
#endif

// One end of a queue. Kernels may switch its signals off and move its tiles within a slot.
struct QueueEnd {
  int64_t tile_id = 0;
  int64_t entry_offset = 0;
  int64_t waits = 0;  // of free slots, so far
  int64_t freed = 0;  // a5: slots given back
  bool allocate = true, record = true, wait = true, free = true;
  int64_t getTileId() const { return tile_id; }
  void setTileId(int64_t id) { tile_id = id; }
  // Upstream takes a tile's number and an axis too.
  template <typename... Rest>
  void setTileId(int64_t id, Rest...) {
    tile_id = id;
  }
  void setEntryOffset(int64_t bytes) { entry_offset = bytes; }
  void setAllocateStatus(bool on) { allocate = on; }
  void setRecordStatus(bool on) { record = on; }
  void setWaitStatus(bool on) { wait = on; }
  void setFreeStatus(bool on) { free = on; }
};

constexpr bool IsSplit(pto::TileSplitAxis axis) {
  return axis != pto::TileSplitAxis::TILE_NO_SPLIT;
}
constexpr bool IsBeside(pto::TileSplitAxis axis) {
  return axis == pto::TileSplitAxis::TILE_LEFT_RIGHT ||
         axis == pto::TileSplitAxis::TILE_LEFT_RIGHT_ODD;
}

// To the other end. `both` is whether the cube speaks with both vector cores; a2a3 always does.
inline void Signal(pipe_t pipe, uint32_t id, uint32_t queue, bool both, const Place& place) {
  const auto pipe_id = static_cast<uint8_t>(pipe);
  if constexpr (!kA5) {
    (void)both;
    TheCore().Flag({Op::ffts_cross_core_sync, pipe_id, pipe_id, id, 2, queue + 1, SiteOf(place)});
  } else {
    for (uint32_t lane = 0; lane < (kOnCube && both ? 2U : 1U); ++lane)
      TheCore().Flag(
          {Op::set_intra_block, pipe_id, pipe_id, id + 16 * lane, 2, queue + 1, SiteOf(place)});
  }
}
// a2a3 blocks the whole core, a5 only the pipe.
inline void Await(pipe_t pipe, uint32_t id, uint32_t queue, bool both, const Place& place) {
  if constexpr (!kA5) {
    (void)pipe;
    (void)both;
    TheCore().Flag({Op::wait_flag_dev, PIPE_S, PIPE_S, id, 2, queue + 1, SiteOf(place)});
  } else {
    const auto pipe_id = static_cast<uint8_t>(pipe);
    for (uint32_t lane = 0; lane < (kOnCube && both ? 2U : 1U); ++lane)
      TheCore().Flag(
          {Op::wait_intra_block, pipe_id, pipe_id, id + 16 * lane, 2, queue + 1, SiteOf(place)});
  }
}

}  // namespace kerf_pto

namespace pto {

template <uint32_t FlagID, uint8_t Dir, uint32_t SlotSize, uint32_t SlotNum,
          uint32_t LocalSlotNum = 2, bool IsNoSplit = false, bool EnUnitFlag = false>
struct TPipe {
  static constexpr uint32_t flagID = FlagID;
  static constexpr uint8_t direction = Dir;
  static constexpr uint32_t slotSize = SlotSize;
  static constexpr uint32_t slotNum = SlotNum;
  static constexpr int64_t Period = SlotNum <= 2 ? SlotNum : SlotNum / 2;
  static constexpr bool Both = Dir == Direction::DIR_BOTH || Dir == Direction::DIR_BOTH_GM;
  static constexpr bool CubePushes = Dir == Direction::DIR_C2V || Dir == Direction::DIR_C2V_GM;
  static constexpr bool OnChip = kerf_pto::kA5 && Dir <= Direction::DIR_BOTH;
  static constexpr bool TwoLanes = !IsNoSplit;
  // Whether this core's pushes (pops) go to the second ring.
  static constexpr bool PushSecond = Both && !kerf_pto::kOnCube;
  static constexpr bool PopSecond = Both && kerf_pto::kOnCube;
  static constexpr uint32_t PushFlag = FlagID + (PushSecond ? 2 : 0);
  static constexpr uint32_t PopFlag = FlagID + (PopSecond ? 2 : 0);
  static constexpr bool Pushes = Both || CubePushes == kerf_pto::kOnCube;
  static constexpr bool Pops = Both || CubePushes != kerf_pto::kOnCube;
  static constexpr pipe_t PushPipe = kerf_pto::kOnCube ? PIPE_FIX : PIPE_MTE3;
  static constexpr pipe_t PopPipe = !OnChip ? PIPE_MTE2 : kerf_pto::kOnCube ? PIPE_MTE1 : PIPE_V;

  static_assert(Dir != Direction::DIR_V2C_CTRL,
                "kerf: queues of control tiles are not simulated yet; they would be added in "
                "pto/kerf_pto/queue.h");

  kerf_pto::QueueEnd prod;
  kerf_pto::QueueEnd cons;

  template <typename G, typename U, typename L>
  TPipe(G* slots, U ub_base, L l1_base, KERF_PTO_AT)
      : place_(place),
        slots_(reinterpret_cast<char*>(slots)),
        ub_base_(static_cast<uint64_t>(ub_base)),
        l1_base_(static_cast<uint64_t>(l1_base)) {
    Grant();
  }
  template <typename U, typename L>
  TPipe(std::nullptr_t, U ub_base, L l1_base, KERF_PTO_AT)
      : TPipe(static_cast<char*>(nullptr), ub_base, l1_base, place) {}
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;
  // Takes the signals of space that nobody waited for, so that the next queue begins with none.
  ~TPipe() {
    if (!Pushes || !prod.allocate) return;
    int64_t left = prod.tile_id / Period - prod.waits;
    if constexpr (kerf_pto::kA5) left += SlotNum / Period;
    for (; left > 0; --left) kerf_pto::Await(PushPipe, PushFlag + 1, PushFlag, TwoLanes, place_);
  }

  char* PushSlot() {
    return slots_ + (PushSecond ? int64_t{SlotNum} * SlotSize : 0) +
           prod.tile_id % SlotNum * SlotSize + prod.entry_offset;
  }
  char* PopSlot() {
    return slots_ + (PopSecond ? int64_t{SlotNum} * SlotSize : 0) +
           cons.tile_id % SlotNum * SlotSize + cons.entry_offset;
  }
  // Where a popped tile lies in this core's memory.
  uint64_t LocalSlot() const {
    const uint64_t base = kerf_pto::kOnCube ? l1_base_ : ub_base_;
    if constexpr (OnChip)
      return base + static_cast<uint64_t>(cons.tile_id % SlotNum * SlotSize + cons.entry_offset);
    return base + cons.tile_id % LocalSlotNum * SlotSize;
  }
  // a5: where a pushed one lies in the other core's.
  uint64_t RemoteSlot() const {
    const uint64_t base = kerf_pto::kOnCube ? ub_base_ : l1_base_;
    return base + static_cast<uint64_t>(prod.tile_id % SlotNum * SlotSize + prod.entry_offset);
  }

  void AwaitSpace(const kerf_pto::Place& place) {
    const bool filling = !kerf_pto::kA5 && prod.tile_id < SlotNum;
    if (!prod.allocate || filling || prod.tile_id % Period != 0) return;
    ++prod.waits;
    kerf_pto::Await(PushPipe, PushFlag + 1, PushFlag, TwoLanes, place);
  }
  void Pushed(const kerf_pto::Place& place) {
    if (prod.record) kerf_pto::Signal(PushPipe, PushFlag, PushFlag, TwoLanes, place);
    ++prod.tile_id;
  }
  void AwaitData(const kerf_pto::Place& place) {
    if (cons.wait) kerf_pto::Await(PopPipe, PopFlag, PopFlag, TwoLanes, place);
  }
  void Popped(const kerf_pto::Place& place) {
    ++cons.tile_id;
    if (!OnChip) Freed(place);
  }
  void Freed(const kerf_pto::Place& place) {
    if (cons.free && ++cons.freed % Period == 0)
      kerf_pto::Signal(PopPipe, PopFlag + 1, PopFlag, TwoLanes, place);
  }

 private:
  // a5: all slots are free.
  void Grant() {
    if constexpr (kerf_pto::kA5 && Pops) {
      for (int64_t i = 0; i < SlotNum / Period; ++i)
        kerf_pto::Signal(PopPipe, PopFlag + 1, PopFlag, TwoLanes, place_);
    }
  }

  kerf_pto::Place place_;  // where it was made: where it ends has no line of its own
  char* slots_;
  uint64_t ub_base_;
  uint64_t l1_base_;
};

}  // namespace pto
