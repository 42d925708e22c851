// The fixpipe casts and applies relu while the cube pushes (FixpipeParams). On a2a3 the whole slot
// is popped by both vector cores; on a5, where it lies in UB, by the first one.
#include <cstdint>
#include <pto/common/fifo.hpp>
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int N = 32;
using Config = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::F322F16, ReluPreMode::NormalRelu>;
#ifdef PTO_NPU_ARCH_A5
using Queue = TPipe<0, Direction::DIR_C2V, N * N * 2, 2, 2, true>;
#else
using Queue = TPipe<0, Direction::DIR_C2V, N * N * 2, 2>;
#endif

template <typename T>
inline __aicore__ __gm__ T* Elements(__gm__ int64_t* args, int slot) {
  return reinterpret_cast<__gm__ T*>(reinterpret_cast<__gm__ ChipTensor*>(args[slot])->buffer.addr);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
#ifdef __DAV_CUBE__
  Queue queue(Elements<half>(args, 3), 0x0, 0x0);
  using View = GlobalTensor<half, Shape<1, 1, 1, N, N>, Stride<1, 1, 1, N, 1>>;
  using Mat = Tile<TileType::Mat, half, N, N, BLayout::ColMajor, N, N, SLayout::RowMajor, 512>;
  Mat a1, b1;
  TileLeft<half, N, N> a0;
  TileRight<half, N, N> b0;
  TileAcc<float, N, N> acc;
  TASSIGN(a1, 0x0);
  TASSIGN(b1, 0x1000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(acc, 0x0);
  TLOAD(a1, View(Elements<half>(args, 0)));
  TLOAD(b1, View(Elements<half>(args, 1)));
  pipe_barrier(PIPE_ALL);
  TMOV(a0, a1);
  TMOV(b0, b1);
  pipe_barrier(PIPE_ALL);
  TMATMUL(acc, a0, b0);
  pipe_barrier(PIPE_ALL);
  TPUSH<Queue, TileAcc<float, N, N>, Config>(queue, acc);
#else
  const int lane = get_sub_block_id(args);
#ifdef PTO_NPU_ARCH_A5
  if (lane != 0) return;
#endif
  Queue queue(Elements<half>(args, 3), 0x0, 0x0);
  using Data = Tile<TileType::Vec, half, N, N>;
  Data data;
  TPOP<Queue, Data, TileSplitAxis::TILE_NO_SPLIT>(queue, data);
  pipe_barrier(PIPE_ALL);
  if (lane == 0)
    TSTORE(GlobalTensor<half, Shape<1, 1, 1, N, N>, Stride<1, 1, 1, N, 1>>(Elements<half>(args, 2)),
           data);
  pipe_barrier(PIPE_ALL);
  TFREE<Queue, TileSplitAxis::TILE_NO_SPLIT>(queue);
#endif
  pipe_sync();
}
