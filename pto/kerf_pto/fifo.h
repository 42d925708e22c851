// TPUSH, TPOP, TFREE, TALLOC and SYNCALL.
#pragma once

#include "kerf_pto/queue.h"

namespace pto {

// How the fixpipe changes what the cube pushes.
enum class LayoutMode_t : uint8_t { NZ2NZ, NZ2ND, NZ2DN };
enum class QuantMode_t : uint8_t { NoQuant, F322F16, F322BF16, DEQF16, REQ8, QF322B8_PRE };
enum class ClipReluMode_t : uint8_t { NOCLIP_RELU, CLIP_RELU };
template <LayoutMode_t Layout_ = LayoutMode_t::NZ2ND, QuantMode_t Quant = QuantMode_t::NoQuant,
          ReluPreMode Relu = ReluPreMode::NoRelu, STPhase Phase_ = STPhase::Unspecified,
          uint8_t SubBlock = 0, AtomicType Atomic = AtomicType::AtomicNone,
          ClipReluMode_t Clip = ClipReluMode_t::NOCLIP_RELU, bool ChannelSplit = false>
struct FixpipeParams {
  static constexpr LayoutMode_t LayoutMode = Layout_;
  static constexpr QuantMode_t QuantPre = Quant;
  static constexpr ReluPreMode ReluMode = Relu;
  static constexpr STPhase Phase = Phase_;
  static constexpr uint8_t SubBlockId = SubBlock;
  static constexpr AtomicType AtomicT = Atomic;
  static constexpr ClipReluMode_t ClipReluMode = Clip;
  static constexpr bool IsChannelSplit = ChannelSplit;
};

}  // namespace pto

namespace kerf_pto {

// What a tile looks like in a slot of global memory: rows of its valid columns, and where a lane's
// part begins.
template <pto::TileSplitAxis Split, typename T>
GlobalRef SlotView(const T& tile, char* slot, bool whole) {
  constexpr bool beside = IsBeside(Split);
  const int64_t rows = tile.GetValidRow();
  const int64_t cols = tile.GetValidCol();
  const int64_t step = beside && !whole ? 2 * cols : cols;
  const int64_t lane = IsSplit(Split) && !whole ? get_subblockid() : 0;
  constexpr int64_t size = sizeof(typename T::DType);
  GlobalRef ref;
  ref.data = slot + lane * (beside ? cols : rows * cols) * size / T::PerByte;
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

// a5: from L0C into UB of the vector cores, plain rows; from UB into L1 of the cube, as NZ. `split`
// halves what the cube pushes and puts together what the vector cores push.
template <pto::TileSplitAxis Split, typename T>
Builder PushOnChip(const T& tile, uint64_t slot, const Place& place) {
  constexpr bool beside = IsBeside(Split);
  constexpr int below = IsSplit(Split) && !beside ? 2 : 1;
  constexpr int right = IsSplit(Split) && beside ? 2 : 1;
  Builder push(Op::TPUSH, place);
  push.Tile(tile).Tile(tile);
  TileRef& to = push.call.tile[0];
  to.addr = slot;
  to.bound = 1;
  if constexpr (kOnCube) {
    to.mem = Mem::kUb;
    to.form = Form::kNd;
    to.box_rows = to.box_cols = 1;
    to.rows = to.valid_rows = (tile.GetValidRow() + below - 1) / below;
    to.cols = to.valid_cols = (tile.GetValidCol() + right - 1) / right;
    using Mode = pto::AccToVecMode;
    const auto mode = !IsSplit(Split) ? Mode::SingleModeVec0
                      : beside        ? Mode::DualModeSplitN
                                      : Mode::DualModeSplitM;
    push.Option(3, 1 + static_cast<int64_t>(mode));
  } else {
    to.mem = Mem::kL1;
    to.owner = 1;
    to.form = Form::kNz;
    to.box_rows = 16;
    to.box_cols = static_cast<int16_t>(kC0<typename T::DType>);
    to.rows = to.valid_rows = tile.GetValidRow() * below;
    to.cols = to.valid_cols = tile.GetValidCol() * right;
    const int64_t lane = IsSplit(Split) ? get_subblockid() : 0;
    push.Option(0, beside ? 0 : lane * tile.GetValidRow());
    push.Option(1, beside ? lane * tile.GetValidCol() : 0);
  }
  return push;
}

template <Op Which, pto::TileSplitAxis Split, typename T>
Builder MoveSlot(const T& tile, char* slot, const Place& place) {
  Builder call(Which, place);
  call.Tile(tile);
  call.call.global[0] = SlotView<Split>(tile, slot, kOnCube);
  call.call.globals = 1;
  return call;
}

// The type that a push with these parameters leaves in the slot.
template <typename Config, typename T>
constexpr Type PushedType() {
  using Quant = pto::QuantMode_t;
  static_assert(Config::LayoutMode == pto::LayoutMode_t::NZ2ND &&
                    Config::ClipReluMode == pto::ClipReluMode_t::NOCLIP_RELU &&
                    Config::AtomicT == pto::AtomicType::AtomicNone && !Config::IsChannelSplit &&
                    Config::QuantPre <= Quant::F322BF16,
                "kerf: of FixpipeParams rows (NZ2ND), relu and casts to half and bfloat16 are "
                "simulated; the others would be added in pto/kerf_pto/fifo.h");
  return Config::QuantPre == Quant::F322F16    ? Type::kF16
         : Config::QuantPre == Quant::F322BF16 ? Type::kBf16
                                               : TypeOf<typename T::DType>();
}

}  // namespace kerf_pto

namespace pto {

template <typename PipeT, typename T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TPUSH(PipeT& pipe, T& tile, KERF_PTO_AT) {
  static_assert(PipeT::Pushes, "kerf: this core is the other end of the queue: it pops");
  if constexpr (kerf_pto::kIsTile<T>) pipe.AwaitSpace(place);  // else TALLOC has waited
  if constexpr (kerf_pto::kIsTile<T> && PipeT::OnChip)
    kerf_pto::PushOnChip<Split>(tile, pipe.RemoteSlot(), place).Run();
  else if constexpr (kerf_pto::kIsTile<T>)
    kerf_pto::MoveSlot<kerf_pto::Op::TPUSH, Split>(tile, pipe.PushSlot(), place).Run();
  pipe.Pushed(place);
  return {};
}
// Cast and relu on the way, by FixpipeParams.
template <typename PipeT, typename T, typename Config,
          std::enable_if_t<std::is_class_v<Config>, int> = 0>
RecordEvent TPUSH(PipeT& pipe, T& tile, KERF_PTO_AT) {
  static_assert(PipeT::Pushes && kerf_pto::kOnCube,
                "kerf: FixpipeParams are for what the cube pushes");
  constexpr auto type = kerf_pto::PushedType<Config, T>();
  constexpr auto whole = TileSplitAxis::TILE_NO_SPLIT;
  pipe.AwaitSpace(place);
  if constexpr (PipeT::OnChip) {
    auto push = kerf_pto::PushOnChip<whole>(tile, pipe.RemoteSlot(), place);
    push.call.tile[0].type = type;
    push.Option(2, static_cast<int64_t>(Config::ReluMode)).Option(3, 1 + Config::SubBlockId).Run();
  } else {
    auto push = kerf_pto::MoveSlot<kerf_pto::Op::TPUSH, whole>(tile, pipe.PushSlot(), place);
    push.call.global[0].type = type;
    push.Option(1, static_cast<int64_t>(Config::ReluMode)).Run();
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
  static_assert(PipeT::Pops, "kerf: this core is the other end of the queue: it pushes");
  pipe.AwaitData(place);
  if constexpr (!kerf_pto::kIsTile<T>) {  // the slot itself; TFREE gives it back
    static_assert(!PipeT::OnChip, "kerf: a queue in UB or L1 holds tiles, no GlobalTensor");
    tile.SetAddr(reinterpret_cast<typename T::DType*>(pipe.PopSlot()));
    return {};
  } else {
    tile.Bind(pipe.LocalSlot());
    if constexpr (PipeT::OnChip)
      kerf_pto::TheCore().Assign(tile.Ref(), kerf_pto::SiteOf(place));
    else
      kerf_pto::MoveSlot<kerf_pto::Op::TPOP, Split>(tile, pipe.PopSlot(), place).Run();
    pipe.Popped(place);
    return {};
  }
}
template <TileSplitAxis Split, typename PipeT, typename T>
RecordEvent TPOP(PipeT& pipe, T& tile, KERF_PTO_AT) {
  return TPOP<PipeT, T, Split>(pipe, tile, place);
}

// The slot that the next TPUSH of a GlobalTensor gives away.
template <typename PipeT, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TALLOC(PipeT& pipe, G& global, KERF_PTO_AT) {
  static_assert(!PipeT::OnChip, "kerf: a queue in UB or L1 holds tiles, no GlobalTensor");
  pipe.AwaitSpace(place);
  global.SetAddr(reinterpret_cast<typename G::DType*>(pipe.PushSlot()));
  return {};
}

// On a2a3 and for rings in global memory nothing: a pop of a tile has given its slot back.
template <typename PipeT, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
RecordEvent TFREE(PipeT& pipe, KERF_PTO_AT) {
  kerf_pto::FlagOp(kerf_pto::Op::TFREE, PIPE_S, PIPE_S, PipeT::flagID, 0, place);
  if constexpr (PipeT::OnChip) pipe.Freed(place);
  return {};
}
template <typename PipeT, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
          std::enable_if_t<kerf_pto::kIsGlobal<G>, int> = 0>
RecordEvent TFREE(PipeT& pipe, G&, KERF_PTO_AT) {
  kerf_pto::FlagOp(kerf_pto::Op::TFREE, PIPE_S, PIPE_S, PipeT::flagID, 0, place);
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
