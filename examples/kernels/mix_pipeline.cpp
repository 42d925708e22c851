// A cluster as a pipeline: the cube multiplies tile after tile, the vector cores add a bias to
// their half and apply relu. Eight tiles through a queue of four slots, so that both sides work at
// once.
#include <cstdint>
#include <initializer_list>
#include <pto/common/fifo.hpp>
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int kTiles = 8, M = 32, kLane = M / 2, K = 64, N = 64;
using Products = TPipe<0, Direction::DIR_C2V, M * N * 4, 4>;

#ifdef __DAV_CUBE__
static __aicore__ void Cube(__gm__ int64_t* args, Products& products) {
  using ViewA = GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, K, 1>>;
  using ViewB = GlobalTensor<half, Shape<1, 1, 1, K, N>, Stride<1, 1, 1, N, 1>>;
  using MatA = Tile<TileType::Mat, half, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor, 512>;
  using MatB = Tile<TileType::Mat, half, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor, 512>;
  ViewB b(Elements<half>(args, 1));
  MatA a1;
  MatB b1;
  TileLeft<half, M, K> a0;
  TileRight<half, K, N> b0;
  TileAcc<float, M, N> acc;
  TASSIGN(a1, 0x0);
  TASSIGN(b1, 0x4000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(acc, 0x0);

  TLOAD(b1, b);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
  TMOV(b0, b1);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  for (int tile = 0; tile < kTiles; ++tile) {
    ViewA a(Elements<half>(args, 0) + tile * M * K);
    wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    TLOAD(a1, a);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    TMOV(a0, a1);
    set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    TMATMUL(acc, a0, b0);
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TPUSH<Products, TileAcc<float, M, N>, TileSplitAxis::TILE_UP_DOWN>(products, acc);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}
#else
static __aicore__ void Vector(__gm__ int64_t* args, Products& products) {
  using Data = Tile<TileType::Vec, float, kLane, N>;
  using Row = Tile<TileType::Vec, float, 1, N>;
  using View = GlobalTensor<float, Shape<1, 1, 1, kLane, N>, Stride<1, 1, 1, N, 1>>;
  using RowView = GlobalTensor<float, Shape<1, 1, 1, 1, N>, Stride<1, 1, 1, N, 1>>;
  const int lane = get_sub_block_id(args);
  products.cons.setEntryOffset(lane * kLane * N * 4);
  RowView biases(Elements<float>(args, 2));
  Row bias;
  Data product, result;
  TASSIGN(bias, 0x10000);
  TLOAD(bias, biases);
  // Two local slots are popped in turn, and two results are stored in turn.
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
  for (int tile = 0; tile < kTiles; ++tile) {
    const event_t event = tile % 2 == 0 ? EVENT_ID0 : EVENT_ID1;
    TASSIGN(result, 0x11000 + tile % 2 * 0x1000);
    View to(Elements<float>(args, 3) + (tile * M + lane * kLane) * N);
    wait_flag(PIPE_V, PIPE_MTE2, event);
    TPOP<Products, Data, TileSplitAxis::TILE_UP_DOWN>(products, product);
    set_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE3, PIPE_V, event);
    TCOLEXPANDADD(result, product, bias);
    set_flag(PIPE_V, PIPE_MTE2, event);
    pipe_barrier(PIPE_V);
    TMAXS(result, result, 0.0f);
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);
    TSTORE(to, result);
    set_flag(PIPE_MTE3, PIPE_V, event);
  }
  for (const event_t event : {EVENT_ID0, EVENT_ID1}) {
    wait_flag(PIPE_V, PIPE_MTE2, event);
    wait_flag(PIPE_MTE3, PIPE_V, event);
  }
}
#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  Products products(Elements<float>(args, 4), 0x0, 0x0);
#ifdef __DAV_CUBE__
  Cube(args, products);
#else
  Vector(args, products);
#endif
  pipe_sync();
}
