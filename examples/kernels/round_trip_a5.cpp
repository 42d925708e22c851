// For a5, where queues lie on the chip: the cube multiplies, the vector cores apply relu to their
// half and round it, the cube multiplies again. Four tiles there and back through rings of two
// slots, in UB of the vector cores and in L1 of the cube; nothing in between is in global memory.
#include <cstdint>
#include <pto/common/fifo.hpp>
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int kTiles = 4, M = 32, kLane = M / 2, K = 64, N = 64;
constexpr uint32_t kVectorRing = 0x0, kCubeRing = 0x20000;
using Trip = TPipe<0, Direction::DIR_BOTH, kLane * N * 4, 2>;

#ifdef __DAV_CUBE__
using View = GlobalTensor<half, Shape<1, 1, 1, K, N>, Stride<1, 1, 1, N, 1>>;
using Square = Tile<TileType::Mat, half, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor, 512>;
using Flat = Tile<TileType::Mat, half, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor, 512>;

// acc = l1 · right, with all flags; L0A and L0C are used again and again.
static __aicore__ void Multiply(TileAcc<float, M, N>& acc, Flat& l1, TileRight<half, K, N>& right) {
  TileLeft<half, M, K> left;
  TASSIGN(left, 0x0);
  TMOV(left, l1);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(acc, left, right);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
}

static __aicore__ void Cube(__gm__ int64_t* args, Trip& trip) {
  Square b1, c1;
  Flat a1, back;
  TileRight<half, K, N> b0, c0;
  TileAcc<float, M, N> acc;
  TASSIGN(b1, 0x0);
  TASSIGN(c1, 0x2000);
  TASSIGN(a1, 0x4000);
  TASSIGN(b0, 0x0);
  TASSIGN(c0, 0x2000);
  TASSIGN(acc, 0x0);
  TLOAD(b1, View(Elements<half>(args, 1)));
  TLOAD(c1, View(Elements<half>(args, 2)));
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
  TMOV(b0, b1);
  TMOV(c0, c1);
  for (int tile = 0; tile < kTiles; ++tile) {
    GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, K, 1>> a(Elements<half>(args, 0) +
                                                                      tile * M * K);
    GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>> to(Elements<float>(args, 3) +
                                                                        tile * M * N);
    TLOAD(a1, a);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    Multiply(acc, a1, b0);
    TPUSH<Trip, TileAcc<float, M, N>, TileSplitAxis::TILE_UP_DOWN>(trip, acc);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    TPOP<Trip, Flat, TileSplitAxis::TILE_UP_DOWN>(trip, back);
    Multiply(acc, back, c0);
    TFREE<Trip, TileSplitAxis::TILE_UP_DOWN>(trip);
    TSTORE(to, acc);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  }
}
#else
static __aicore__ void Vector(Trip& trip) {
  using Data = Tile<TileType::Vec, float, kLane, N>;
  using Half = Tile<TileType::Vec, half, kLane, N>;
  Data product, kept;
  Half rounded;
  TASSIGN(kept, 0x4000);
  TASSIGN(rounded, 0x5000);
  for (int tile = 0; tile < kTiles; ++tile) {
    TPOP<Trip, Data, TileSplitAxis::TILE_UP_DOWN>(trip, product);
    TMAXS(kept, product, 0.0f);
    TFREE<Trip, TileSplitAxis::TILE_UP_DOWN>(trip);
    pipe_barrier(PIPE_V);
    TCVT(rounded, kept, RoundMode::CAST_RINT);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TPUSH<Trip, Half, TileSplitAxis::TILE_UP_DOWN>(trip, rounded);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }
}
#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  Trip trip(nullptr, kVectorRing, kCubeRing);
#ifdef __DAV_CUBE__
  Cube(args, trip);
#else
  Vector(trip);
#endif
  pipe_sync();
}
