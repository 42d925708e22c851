// Layer norm of 16 rows of 256 floats, with weight and bias: (x - mean) / sqrt(variance + eps).
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "launch_args.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  constexpr int kRows = 16;
  constexpr int kCols = 256;
  using View = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
  using RowView = GlobalTensor<float, Shape<1, 1, 1, 1, kCols>, Stride<1, 1, 1, kCols, 1>>;
  using Data = Tile<TileType::Vec, float, kRows, kCols>;
  using Row = Tile<TileType::Vec, float, 1, kCols>;
  using Column = Tile<TileType::Vec, float, kRows, 1, BLayout::ColMajor>;
  // The same 16 numbers as a row, for arithmetic on them.
  using Numbers = Tile<TileType::Vec, float, 1, kRows>;
  View from(Elements<float>(args, 0)), to(Elements<float>(args, 3));
  RowView weights(Elements<float>(args, 1)), biases(Elements<float>(args, 2));
  const float eps = from_u64<float>(static_cast<uint64_t>(args[4]));
  Data x, square, scratch;
  Row weight, bias;
  Column column;
  Numbers numbers;
  TASSIGN(x, 0x0);
  TASSIGN(square, 0x4000);
  TASSIGN(scratch, 0x8000);
  TASSIGN(weight, 0xc000);
  TASSIGN(bias, 0xc400);
  TASSIGN(column, 0xc800);

  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TLOAD(weight, weights);
  TLOAD(bias, biases);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);

  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TROWSUM(column, x, scratch);
  pipe_barrier(PIPE_V);
  TRESHAPE(numbers, column);
  TMULS(numbers, numbers, 1.0f / kCols);
  pipe_barrier(PIPE_V);
  TROWEXPANDSUB(x, x, column);
  pipe_barrier(PIPE_V);
  TMUL(square, x, x);
  pipe_barrier(PIPE_V);
  TROWSUM(column, square, scratch);
  pipe_barrier(PIPE_V);
  TMULS(numbers, numbers, 1.0f / kCols);
  pipe_barrier(PIPE_V);
  TADDS(numbers, numbers, eps);
  pipe_barrier(PIPE_V);
  TSQRT(numbers, numbers);
  pipe_barrier(PIPE_V);
  TROWEXPANDDIV(x, x, column);
  pipe_barrier(PIPE_V);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
  TCOLEXPANDMUL(x, x, weight);
  pipe_barrier(PIPE_V);
  TCOLEXPANDADD(x, x, bias);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, x);
  pipe_sync();
}
