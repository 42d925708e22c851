// TPipe: queues between the cube core and the vector cores of a cluster.
//
// On a2a3 the ring lies in global memory. A push stores the tile in slot i % SlotNum and signals
// FlagID; a pop waits for that, loads the tile and, every Period tiles, signals FlagID + 1 (space).
// With both directions the vector cores' ring stands behind the cube's, and uses FlagID + 2 and
// + 3.
#pragma once

#include "kerf_pto/move.h"

#ifdef PTO_NPU_ARCH_A5
#define KERF_PTO_QUEUE_HERE                                                                       \
  static_assert(kerf_pto::kNeverQueue<PipeT>,                                                     \
                "kerf: the a5 form of TPipe (rings in UB and L1) is not simulated yet; it would " \
                "be added in pto/kerf_pto/fifo.h");
#else
#define KERF_PTO_QUEUE_HERE
#endif

namespace kerf_pto {

template <typename T>
inline constexpr bool kNeverQueue = false;

#ifdef __DAV_CUBE__
inline constexpr bool kOnCube = true;
#else
inline constexpr bool kOnCube = false;
#endif

// One end of a queue. Kernels may switch its signals off and move its tiles within a slot.
struct QueueEnd {
  int64_t tile_id = 0;
  int64_t entry_offset = 0;
  int64_t waits = 0;  // of free slots, so far
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

inline void Signal(pipe_t pipe, uint32_t id, uint32_t queue, const Place& place) {
  TheCore().Flag({Op::ffts_cross_core_sync, static_cast<uint8_t>(pipe), static_cast<uint8_t>(pipe),
                  id, 2, queue + 1, SiteOf(place)});
}
inline void Await(uint32_t id, uint32_t queue, const Place& place) {
  TheCore().Flag({Op::wait_flag_dev, PIPE_S, PIPE_S, id, 2, queue + 1, SiteOf(place)});
}

// What a tile looks like in a slot: rows of its valid columns, and where a lane's part begins.
template <pto::TileSplitAxis Split, typename T>
GlobalRef SlotView(const T& tile, char* slot, bool whole) {
  constexpr bool beside = Split == pto::TileSplitAxis::TILE_LEFT_RIGHT ||
                          Split == pto::TileSplitAxis::TILE_LEFT_RIGHT_ODD;
  constexpr bool split = Split != pto::TileSplitAxis::TILE_NO_SPLIT;
  const int64_t rows = tile.GetValidRow();
  const int64_t cols = tile.GetValidCol();
  const int64_t step = beside && !whole ? 2 * cols : cols;
  const int64_t lane = split && !whole ? get_subblockid() : 0;
  constexpr int64_t size = sizeof(typename T::DType);
  GlobalRef ref;
  ref.data = slot + lane * (beside ? cols : rows * cols) * size;
  ref.type = TypeOf<typename T::DType>();
  ref.form = Form::kNd;
  for (int i = 0; i < 3; ++i) {
    ref.shape[i] = 1;
    ref.stride[i] = rows * step;
  }
  ref.shape[3] = rows;
  ref.shape[4] = cols;
  ref.stride[3] = step;
  ref.stride[4] = 1;
  return ref;
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
  // Whether this core's pushes (pops) go to the second ring.
  static constexpr bool PushSecond = Both && !kerf_pto::kOnCube;
  static constexpr bool PopSecond = Both && kerf_pto::kOnCube;
  static constexpr uint32_t PushFlag = FlagID + (PushSecond ? 2 : 0);
  static constexpr uint32_t PopFlag = FlagID + (PopSecond ? 2 : 0);
  static constexpr bool Pushes = Both || CubePushes == kerf_pto::kOnCube;
  static constexpr bool Pops = Both || CubePushes != kerf_pto::kOnCube;

  kerf_pto::QueueEnd prod;
  kerf_pto::QueueEnd cons;

  template <typename G, typename U, typename L>
  TPipe(G* slots, U ub_base, L l1_base, KERF_PTO_AT)
      : place_(place),
        slots_(reinterpret_cast<char*>(slots)),
        local_base_(static_cast<uint64_t>(kerf_pto::kOnCube ? l1_base : ub_base)) {}
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;
  // Takes the signals of space that nobody waited for, so that the next queue begins with none.
  ~TPipe() {
    if (!Pushes || !prod.allocate) return;
    for (int64_t left = prod.tile_id / Period - prod.waits; left > 0; --left) {
      kerf_pto::Await(PushFlag + 1, PushFlag, place_);
    }
  }

  char* PushSlot() {
    return slots_ + (PushSecond ? int64_t{SlotNum} * SlotSize : 0) +
           prod.tile_id % SlotNum * SlotSize + prod.entry_offset;
  }
  char* PopSlot() {
    return slots_ + (PopSecond ? int64_t{SlotNum} * SlotSize : 0) +
           cons.tile_id % SlotNum * SlotSize + cons.entry_offset;
  }
  uint64_t LocalSlot() const { return local_base_ + cons.tile_id % LocalSlotNum * SlotSize; }

  void AwaitSpace(const kerf_pto::Place& place) {
    if (!prod.allocate || prod.tile_id < SlotNum || prod.tile_id % Period != 0) return;
    ++prod.waits;
    kerf_pto::Await(PushFlag + 1, PushFlag, place);
  }
  void Pushed(const kerf_pto::Place& place) {
    if (prod.record)
      kerf_pto::Signal(kerf_pto::kOnCube ? PIPE_FIX : PIPE_MTE3, PushFlag, PushFlag, place);
    ++prod.tile_id;
  }
  void AwaitData(const kerf_pto::Place& place) {
    if (cons.wait) kerf_pto::Await(PopFlag, PopFlag, place);
  }
  void Popped(const kerf_pto::Place& place) {
    if (cons.free && (cons.tile_id + 1) % Period == 0) {
      kerf_pto::Signal(PIPE_MTE2, PopFlag + 1, PopFlag, place);
    }
    ++cons.tile_id;
  }

 private:
  kerf_pto::Place place_;  // where it was made: where it ends has no line of its own
  char* slots_;
  uint64_t local_base_;
};

template <typename PipeT, typename T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TPUSH(PipeT& pipe, T& tile, KERF_PTO_AT) {
  KERF_PTO_QUEUE_HERE
  static_assert(PipeT::Pushes, "kerf: this core is the other end of the queue: it pops");
  pipe.AwaitSpace(place);
  if constexpr (kerf_pto::kIsTile<T>) {
    kerf_pto::Builder call(kerf_pto::Op::TPUSH, place);
    call.Tile(tile);
    call.call.global[0] = kerf_pto::SlotView<Split>(tile, pipe.PushSlot(), kerf_pto::kOnCube);
    call.call.globals = 1;
    call.Run();
  }
  pipe.Pushed(place);
  return {};
}
template <TileSplitAxis Split, typename PipeT, typename T>
RecordEvent TPUSH(PipeT& pipe, T& tile, KERF_PTO_AT) {
  return TPUSH<PipeT, T, Split>(pipe, tile, place);
}

template <typename PipeT, typename T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TPOP(PipeT& pipe, T& tile, KERF_PTO_AT) {
  KERF_PTO_QUEUE_HERE
  static_assert(PipeT::Pops, "kerf: this core is the other end of the queue: it pushes");
  pipe.AwaitData(place);
  if constexpr (kerf_pto::kIsTile<T>) {
    tile.Bind(pipe.LocalSlot());
    kerf_pto::Builder call(kerf_pto::Op::TPOP, place);
    call.Tile(tile);
    call.call.global[0] = kerf_pto::SlotView<Split>(tile, pipe.PopSlot(), kerf_pto::kOnCube);
    call.call.globals = 1;
    call.Run();
    pipe.Popped(place);
  } else {  // the slot itself; TFREE gives it back
    tile.SetAddr(reinterpret_cast<typename T::DType*>(pipe.PopSlot()));
  }
  return {};
}
template <TileSplitAxis Split, typename PipeT, typename T>
RecordEvent TPOP(PipeT& pipe, T& tile, KERF_PTO_AT) {
  return TPOP<PipeT, T, Split>(pipe, tile, place);
}

// The slot that the next TPUSH of a GlobalTensor gives away.
template <typename PipeT, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TALLOC(PipeT& pipe, G& global, KERF_PTO_AT) {
  KERF_PTO_QUEUE_HERE
  pipe.AwaitSpace(place);
  pipe.prod.allocate = false;
  global.SetAddr(reinterpret_cast<typename G::DType*>(pipe.PushSlot()));
  return {};
}

// Nothing on a2a3: a pop of a tile has given its slot back.
template <typename PipeT, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TFREE(PipeT&, KERF_PTO_AT) {
  KERF_PTO_QUEUE_HERE
  kerf_pto::FlagOp(kerf_pto::Op::TFREE, PIPE_S, PIPE_S, PipeT::flagID, 0, place);
  return {};
}
template <typename PipeT, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
          std::enable_if_t<kerf_pto::kIsGlobal<G>, int> = 0>
RecordEvent TFREE(PipeT& pipe, G&, KERF_PTO_AT) {
  KERF_PTO_QUEUE_HERE
  pipe.Popped(place);
  return {};
}

// All participants meet. options: the core kind as the flag's mode
template <SyncAllMode Mode = SyncAllMode::Hard, SyncCoreType Kind = SyncCoreType::Mix,
          typename... T>
void SYNCALL(T&&...) {
  kerf_pto::FlagOp(kerf_pto::Op::SYNCALL, PIPE_S, PIPE_S, 0, static_cast<uint32_t>(Kind),
                   kerf_pto::Place::current());
}

}  // namespace pto
