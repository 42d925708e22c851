// Softmax of each of 32 rows, of which only the first n columns count: the rest is masked with -inf
// in place, through a second and a third tile at the same address.
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  constexpr int kRows = 32;
  constexpr int kCols = 64;
  using View = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
  using Data = Tile<TileType::Vec, float, kRows, kCols>;
  using Part = Tile<TileType::Vec, float, kRows, kCols, BLayout::RowMajor, kRows, DYNAMIC>;
  using Padded = Tile<TileType::Vec, float, kRows, kCols, BLayout::RowMajor, kRows, kCols,
                      SLayout::NoneBox, 512, PadValue::Min>;
  using Column = Tile<TileType::Vec, float, kRows, 1, BLayout::ColMajor>;
  View from(Elements<float>(args, 0)), to(Elements<float>(args, 1));
  Data x, e, scratch;
  Part valid(static_cast<int>(args[2]));
  Padded padded;
  Column top, sum;
  TASSIGN(x, 0x0);
  TASSIGN(valid, 0x0);
  TASSIGN(padded, 0x0);
  TASSIGN(e, 0x2000);
  TASSIGN(scratch, 0x4000);
  TASSIGN(top, 0x6000);
  TASSIGN(sum, 0x6080);

  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TFILLPAD_INPLACE(padded, valid);
  pipe_barrier(PIPE_V);
  TROWMAX(top, x, scratch);
  pipe_barrier(PIPE_V);
  TROWEXPANDSUB(e, x, top);
  pipe_barrier(PIPE_V);
  TEXP(e, e);
  pipe_barrier(PIPE_V);
  TROWSUM(sum, e, scratch);
  pipe_barrier(PIPE_V);
  TROWEXPANDDIV(e, e, sum);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, e);
  pipe_sync();
}
