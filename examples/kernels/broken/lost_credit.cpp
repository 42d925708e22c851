// Broken: the vector cores take seven of the eight tiles that the cube sends, so that at the end
// the cube waits for space that nobody gives. The arguments are those of mix_pipeline.json.
#include <cstdint>
#include <pto/common/fifo.hpp>
#include <pto/pto-inst.hpp>

#include "../launch_args.h"

using namespace pto;

constexpr int M = 32, N = 64;
using Products = TPipe<0, Direction::DIR_C2V, M * N * 4, 2>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  Products products(Elements<float>(args, 4), 0x0, 0x0);
#ifdef __DAV_CUBE__
  Tile<TileType::Mat, half, M, 64, BLayout::ColMajor, M, 64, SLayout::RowMajor, 512> a1;
  Tile<TileType::Mat, half, 64, N, BLayout::ColMajor, 64, N, SLayout::RowMajor, 512> b1;
  TileLeft<half, M, 64> a0;
  TileRight<half, 64, N> b0;
  TileAcc<float, M, N> acc;
  TASSIGN(a1, 0x0);
  TASSIGN(b1, 0x4000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(acc, 0x0);
  GlobalTensor<half, Shape<1, 1, 1, M, 64>, Stride<1, 1, 1, 64, 1>> a(Elements<half>(args, 0));
  GlobalTensor<half, Shape<1, 1, 1, 64, N>, Stride<1, 1, 1, N, 1>> b(Elements<half>(args, 1));
  TLOAD(a1, a);
  TLOAD(b1, b);
  pipe_barrier(PIPE_ALL);
  TMOV(a0, a1);
  TMOV(b0, b1);
  pipe_barrier(PIPE_ALL);
  TMATMUL(acc, a0, b0);
  pipe_barrier(PIPE_ALL);
  for (int i = 0; i < 8; ++i) {
    TPUSH<Products, TileAcc<float, M, N>, TileSplitAxis::TILE_UP_DOWN>(products, acc);
  }
#else
  Tile<TileType::Vec, float, M / 2, N> tile;
  for (int i = 0; i < 7; ++i) {
    TPOP<Products, decltype(tile), TileSplitAxis::TILE_UP_DOWN>(products, tile);
  }
#endif
  pipe_barrier(PIPE_ALL);
}
