// a5: a ring in UB of the vector cores. Whoever reads a slot gives it back afterwards: the test
// turns two lines around and expects a race.
#include <cstdint>
#include <pto/common/fifo.hpp>
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int kTiles = 5, N = 32;
using Ring = TPipe<0, Direction::DIR_C2V, N / 2 * N * 4, 2>;

template <typename T>
inline __aicore__ __gm__ T* Elements(__gm__ int64_t* args, int slot) {
  return reinterpret_cast<__gm__ T*>(reinterpret_cast<__gm__ ChipTensor*>(args[slot])->buffer.addr);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  Ring ring(nullptr, 0x0, 0x0);
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
    TPUSH<Ring, TileAcc<float, N, N>, TileSplitAxis::TILE_LEFT_RIGHT>(ring, acc);
    pipe_barrier(PIPE_ALL);
  }
#else
  // Each lane has half of the columns.
  using Part = Tile<TileType::Vec, float, N, N / 2>;
  Part part, result;
  TASSIGN(result, 0x4000);
  const int lane = get_subblockid();
  for (int tile = 0; tile < kTiles; ++tile) {
    GlobalTensor<float, Shape<1, 1, 1, N, N / 2>, Stride<1, 1, 1, N, 1>> to(
        Elements<float>(args, 2) + tile * N * N + lane * N / 2);
    TPOP<Ring, Part, TileSplitAxis::TILE_LEFT_RIGHT>(ring, part);
    TADDS(result, part, 1.0f);
    TFREE<Ring, TileSplitAxis::TILE_LEFT_RIGHT>(ring);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, result);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }
#endif
  pipe_sync();
}
