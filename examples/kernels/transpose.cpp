// y = x transposed, 32x64 of int16.
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  constexpr int kRows = 32;
  constexpr int kCols = 64;
  using From = GlobalTensor<int16_t, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
  using To = GlobalTensor<int16_t, Shape<1, 1, 1, kCols, kRows>, Stride<1, 1, 1, kRows, 1>>;
  From from(Elements<int16_t>(args, 0));
  To to(Elements<int16_t>(args, 1));
  Tile<TileType::Vec, int16_t, kRows, kCols> x, scratch;
  Tile<TileType::Vec, int16_t, kCols, kRows> y;
  TASSIGN(x, 0x0);
  TASSIGN(y, 0x1000);
  TASSIGN(scratch, 0x2000);

  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TTRANS(y, x, scratch);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, y);
  pipe_sync();
}
