// The slots of a queue as GlobalTensors: TALLOC gives one, TPUSH gives it away, TPOP finds it,
// TFREE gives it back. Six tiles through two slots, on a2a3 and on a5.
#include <cstdint>
#include <pto/common/fifo.hpp>
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

template <typename T>
inline __aicore__ __gm__ T* Elements(__gm__ int64_t* args, int slot) {
  return reinterpret_cast<__gm__ T*>(reinterpret_cast<__gm__ ChipTensor*>(args[slot])->buffer.addr);
}

constexpr int kTiles = 6, N = 32;
#ifdef PTO_NPU_ARCH_A5
using Slots = TPipe<0, Direction::DIR_C2V_GM, N * N * 4, 2>;
#else
using Slots = TPipe<0, Direction::DIR_C2V, N * N * 4, 2>;
#endif
using Slot = GlobalTensor<float, Shape<1, 1, 1, N, N>, Stride<1, 1, 1, N, 1>>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  Slots slots(Elements<float>(args, 3), 0x0, 0x0);
#ifdef __DAV_CUBE__
  using View = GlobalTensor<half, Shape<1, 1, 1, N, N>, Stride<1, 1, 1, N, 1>>;
  using Mat = Tile<TileType::Mat, half, N, N, BLayout::ColMajor, N, N, SLayout::RowMajor, 512>;
  Mat a1, b1;
  TileLeft<half, N, N> a0;
  TileRight<half, N, N> b0;
  TileAcc<float, N, N> acc;
  TASSIGN(a1, 0x0);
  TASSIGN(b1, 0x1000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(acc, 0x0);
  TLOAD(b1, View(Elements<half>(args, 1)));
  for (int tile = 0; tile < kTiles; ++tile) {
    TLOAD(a1, View(Elements<half>(args, 0) + tile * N * N));
    pipe_barrier(PIPE_ALL);
    TMOV(a0, a1);
    TMOV(b0, b1);
    pipe_barrier(PIPE_ALL);
    TMATMUL(acc, a0, b0);
    pipe_barrier(PIPE_ALL);
    Slot slot;
    TALLOC<Slots, Slot, TileSplitAxis::TILE_NO_SPLIT>(slots, slot);
    TSTORE(slot, acc);
    TPUSH<Slots, Slot, TileSplitAxis::TILE_NO_SPLIT>(slots, slot);
    pipe_barrier(PIPE_ALL);
  }
#else
  // Both vector cores take part; each stores its half of the rows.
  Tile<TileType::Vec, float, N / 2, N> part;
  TASSIGN(part, 0x0);
  using Half = GlobalTensor<float, Shape<1, 1, 1, N / 2, N>, Stride<1, 1, 1, N, 1>>;
  const int lane = get_sub_block_id(args);
  for (int tile = 0; tile < kTiles; ++tile) {
    Slot slot;
    TPOP<Slots, Slot, TileSplitAxis::TILE_NO_SPLIT>(slots, slot);
    TLOAD(part, Half(slot.data() + lane * N * N / 2));
    pipe_barrier(PIPE_ALL);
    TFREE<Slots, Slot, TileSplitAxis::TILE_NO_SPLIT>(slots, slot);
    TSTORE(Half(Elements<float>(args, 2) + (tile * N + lane * N / 2) * N), part);
    pipe_barrier(PIPE_ALL);
  }
#endif
  pipe_sync();
}
