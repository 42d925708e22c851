// Broken: a tile that reaches behind the end of UB.
// The sound twin is ../add.cpp; the arguments are those of add.json.
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "../launch_args.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  constexpr int kRows = 64;
  constexpr int kCols = 128;
  using View = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
  using Data = Tile<TileType::Vec, float, kRows, kCols>;
  View x(Elements<float>(args, 0)), y(Elements<float>(args, 1)), z(Elements<float>(args, 2));
  Data a, b, c;
  TASSIGN(a, 0x0);
  TASSIGN(b, 0x8000);
  TASSIGN(c, 0x2f000);

  TLOAD(a, x);
  TLOAD(b, y);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(c, a, b);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(z, c);
  pipe_sync();
}
