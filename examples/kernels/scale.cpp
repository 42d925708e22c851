// y = x * s over any number of rows of 64 half values, in tiles of at most 32 rows: the last one is
// partly valid. Two tiles in UB, so that loading, computing and storing overlap.
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int kTileRows = 32;
constexpr int kCols = 64;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  using View = GlobalTensor<half, Shape<1, 1, 1, DYNAMIC, kCols>, Stride<1, 1, 1, kCols, 1>>;
  using Data = Tile<TileType::Vec, half, kTileRows, kCols, BLayout::RowMajor, DYNAMIC, kCols>;
  __gm__ half* x = Elements<half>(args, 0);
  __gm__ half* y = Elements<half>(args, 1);
  const half factor = from_u64<float>(static_cast<uint64_t>(args[2]));
  const int rows = static_cast<int>(Extent(args, 0, 0));
  constexpr uint32_t kBytes = kTileRows * kCols * sizeof(half);

  // Both buffers are free at the start.
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
  for (int begin = 0, turn = 0; begin < rows; begin += kTileRows, turn ^= 1) {
    const int count = rows - begin < kTileRows ? rows - begin : kTileRows;
    const event_t event = turn == 0 ? EVENT_ID0 : EVENT_ID1;
    View from(x + begin * kCols, Shape<1, 1, 1, DYNAMIC, kCols>(count));
    View to(y + begin * kCols, Shape<1, 1, 1, DYNAMIC, kCols>(count));
    Data tile(count);
    TASSIGN(tile, turn * kBytes);

    wait_flag(PIPE_MTE3, PIPE_MTE2, event);
    TLOAD(tile, from);
    set_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE2, PIPE_V, event);
    TMULS(tile, tile, factor);
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);
    TSTORE(to, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, event);
  }
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
  pipe_sync();
}
