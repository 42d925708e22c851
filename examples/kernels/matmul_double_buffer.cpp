// The product of matmul_k.cpp with two buffers in L1, L0A and L0B: the next piece is loaded while
// this one is multiplied. Flags of both directions, raised before the loop and drained after it.
#include <cstdint>
#include <initializer_list>
#include <pto/pto-inst.hpp>

#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  constexpr int M = 64, K = 128, N = 64;
  using ViewA = GlobalTensor<bfloat16_t, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, DYNAMIC, 1>>;
  using ViewB = GlobalTensor<bfloat16_t, Shape<1, 1, 1, K, N>, Stride<1, 1, 1, N, 1>>;
  using ViewC = GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>>;
  using MatA =
      Tile<TileType::Mat, bfloat16_t, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor, 512>;
  using MatB =
      Tile<TileType::Mat, bfloat16_t, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor, 512>;
  __gm__ bfloat16_t* a = Elements<bfloat16_t>(args, 0);
  __gm__ bfloat16_t* b = Elements<bfloat16_t>(args, 1);
  const int total = static_cast<int>(Extent(args, 0, 1));
  TileAcc<float, M, N> acc;
  TASSIGN(acc, 0x0);

  for (const event_t event : {EVENT_ID0, EVENT_ID1}) {
    set_flag(PIPE_MTE1, PIPE_MTE2, event);
    set_flag(PIPE_M, PIPE_MTE1, event);
  }
  for (int k = 0, turn = 0; k < total; k += K, turn ^= 1) {
    const event_t event = turn == 0 ? EVENT_ID0 : EVENT_ID1;
    MatA a1;
    MatB b1;
    TileLeft<bfloat16_t, M, K> a0;
    TileRight<bfloat16_t, K, N> b0;
    TASSIGN(a1, turn * 0x10000);
    TASSIGN(b1, 0x20000 + turn * 0x10000);
    TASSIGN(a0, turn * 0x8000);
    TASSIGN(b0, turn * 0x8000);
    ViewA from_a(a + k, Shape<1, 1, 1, M, K>(), Stride<1, 1, 1, DYNAMIC, 1>(total));
    ViewB from_b(b + k * N);

    wait_flag(PIPE_MTE1, PIPE_MTE2, event);
    TLOAD(a1, from_a);
    TLOAD(b1, from_b);
    set_flag(PIPE_MTE2, PIPE_MTE1, event);
    wait_flag(PIPE_MTE2, PIPE_MTE1, event);
    wait_flag(PIPE_M, PIPE_MTE1, event);
    TMOV(a0, a1);
    TMOV(b0, b1);
    set_flag(PIPE_MTE1, PIPE_MTE2, event);
    set_flag(PIPE_MTE1, PIPE_M, event);
    wait_flag(PIPE_MTE1, PIPE_M, event);
    if (k == 0)
      TMATMUL(acc, a0, b0);
    else
      TMATMUL_ACC(acc, a0, b0);
    set_flag(PIPE_M, PIPE_MTE1, event);
  }
  for (const event_t event : {EVENT_ID0, EVENT_ID1}) {
    wait_flag(PIPE_MTE1, PIPE_MTE2, event);
    wait_flag(PIPE_M, PIPE_MTE1, event);
  }
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  ViewC c(Elements<float>(args, 2));
  TSTORE(c, acc);
  pipe_sync();
}
