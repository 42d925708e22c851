// c = a · b, 64x64 of half by 64x128 of half into float, in one product.
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  constexpr int M = 64, K = 64, N = 128;
  using ViewA = GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, K, 1>>;
  using ViewB = GlobalTensor<half, Shape<1, 1, 1, K, N>, Stride<1, 1, 1, N, 1>>;
  using ViewC = GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>>;
  using MatA = Tile<TileType::Mat, half, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor, 512>;
  using MatB = Tile<TileType::Mat, half, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor, 512>;
  ViewA a(Elements<half>(args, 0));
  ViewB b(Elements<half>(args, 1));
  ViewC c(Elements<float>(args, 2));
  MatA a1;
  MatB b1;
  TileLeft<half, M, K> a0;
  TileRight<half, K, N> b0;
  TileAcc<float, M, N> acc;
  TASSIGN(a1, 0x0);
  TASSIGN(b1, 0x10000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(acc, 0x0);

  TLOAD(a1, a);
  TLOAD(b1, b);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(a0, a1);
  TMOV(b0, b1);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(acc, a0, b0);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(c, acc);
  pipe_sync();
}
