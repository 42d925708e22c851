// Products of float16 and bfloat16 on tensor cores.
//
// A block computes a tile of the product. Steps of 32 terms travel from global to shared memory by
// cp.async, a few steps ahead; warps take fragments with ldmatrix and multiply them with
// mma.sync.m16n8k16, sums in float32.
//
// An operand is kept in shared memory the way it lies in global memory: either rows of 32 terms (64
// bytes, four chunks of 16) or, when the outer dimension is contiguous, a row of the tile's width
// for each term, which ldmatrix transposes. Chunks are exclusive-ored with the row, so that the
// eight rows ldmatrix reads at once lie in different banks. Operands whose rows do not start at
// multiples of 16 bytes are read element by element instead.
#include <algorithm>

#include "synth/contraction_text.h"
#include "synth/cuda_contraction_text.h"

namespace kerf::synth {
namespace {

constexpr const char* kPtx = R"(
// 16 bytes from global to shared memory, in the background; zeros when `valid` is false.
__device__ __forceinline__ void kerf_copy_async(void* to, const void* from, bool valid) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void kerf_commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `pending` groups of copies are under way.
template <int pending>
__device__ __forceinline__ void kerf_wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Four 8×8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void kerf_load_matrices(unsigned (&to)[4], const void* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}
__device__ __forceinline__ void kerf_load_transposed(unsigned (&to)[4], const void* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

// sums (16×8) += a (16×16) * b (16×8)
__device__ __forceinline__ void kerf_multiply_half(float (&sums)[4], const unsigned (&a)[4], const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void kerf_multiply_bfloat(float (&sums)[4], const unsigned (&a)[4], const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
)";

constexpr const char* kShuffles = R"(
// The instructions of tensor cores, spelled with shuffles.
__device__ __forceinline__ void kerf_copy_async(void* to, const void* from, bool valid) {
  *static_cast<uint4*>(to) = valid ? *static_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
}
__device__ __forceinline__ void kerf_commit_copies() {}
template <int pending>
__device__ __forceinline__ void kerf_wait_copies() {}

__device__ __forceinline__ const uint16_t* kerf_row_of(const void* row, int lane) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(row);
  return reinterpret_cast<const uint16_t*>(__shfl_sync(0xffffffffu, address, lane));
}
__device__ __forceinline__ void kerf_load_matrices(unsigned (&to)[4], const void* row) {
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) {
    const uint16_t* from = kerf_row_of(row, m * 8 + lane / 4);
    to[m] = from[lane % 4 * 2] | static_cast<unsigned>(from[lane % 4 * 2 + 1]) << 16;
  }
}
__device__ __forceinline__ void kerf_load_transposed(unsigned (&to)[4], const void* row) {
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) {
    const uint16_t* low = kerf_row_of(row, m * 8 + lane % 4 * 2);
    const uint16_t* high = kerf_row_of(row, m * 8 + lane % 4 * 2 + 1);
    to[m] = low[lane / 4] | static_cast<unsigned>(high[lane / 4]) << 16;
  }
}
template <typename Convert>
__device__ __forceinline__ void kerf_multiply(float (&sums)[4], const unsigned (&a)[4], const unsigned* b,
                                              Convert convert) {
  const int lane = threadIdx.x % 32;
  for (int k = 0; k < 16; ++k) {
    const int shift = k % 2 * 16;
    const int from = k % 8 / 2;
    unsigned rows[2], cols[2];
    for (int i = 0; i < 2; ++i) {
      const unsigned low = __shfl_sync(0xffffffffu, a[i], lane / 4 * 4 + from);
      const unsigned high = __shfl_sync(0xffffffffu, a[2 + i], lane / 4 * 4 + from);
      rows[i] = (k < 8 ? low : high) >> shift & 0xffffu;
      const unsigned first = __shfl_sync(0xffffffffu, b[0], (lane % 4 * 2 + i) * 4 + from);
      const unsigned second = __shfl_sync(0xffffffffu, b[1], (lane % 4 * 2 + i) * 4 + from);
      cols[i] = (k < 8 ? first : second) >> shift & 0xffffu;
    }
    for (int i = 0; i < 4; ++i) sums[i] += convert(rows[i / 2]) * convert(cols[i % 2]);
  }
}
__device__ __forceinline__ void kerf_multiply_half(float (&sums)[4], const unsigned (&a)[4], const unsigned* b) {
  kerf_multiply(sums, a, b, [](unsigned bits) { return kerf_from_half(static_cast<uint16_t>(bits)); });
}
__device__ __forceinline__ void kerf_multiply_bfloat(float (&sums)[4], const unsigned (&a)[4], const unsigned* b) {
  kerf_multiply(sums, a, b, [](unsigned bits) { return kerf_from_bfloat(static_cast<uint16_t>(bits)); });
}
)";

constexpr const char* kMmaText = R"(
namespace @NAME@_parts {

using Sum = float;
constexpr int kRows = @ROWS@, kCols = @COLS@, kDepth = @DEPTH@;

// A block computes kTileRows × kTileCols sums, a warp kWarpRows × kWarpCols of them; kStages steps of kStep terms
// are in shared memory or on their way to it.
constexpr int kTileRows = @TILE_ROWS@, kTileCols = @TILE_COLS@, kStep = 32, kStages = @STAGES@;
constexpr int kWarpRows = @WARP_ROWS@, kWarpCols = @WARP_COLS@;
constexpr int kWarpsAcross = kTileCols / kWarpCols;
constexpr int kThreads = kTileRows / kWarpRows * kWarpsAcross * 32;
constexpr int kRowTiles = (kRows + kTileRows - 1) / kTileRows;
constexpr int kColTiles = (kCols + kTileCols - 1) / kTileCols;
constexpr int kSteps = (kDepth + kStep - 1) / kStep;
constexpr int kStageA = kTileRows * kStep, kStageB = kTileCols * kStep;
constexpr int kSharedBytes = kStages * (kStageA + kStageB) * 2;

// Where chunk `chunk` (eight elements) of row `row` lies: rows of 32 terms, rows of a tile's width.
__device__ __forceinline__ int TermsAt(int row, int chunk) { return row * kStep + (chunk ^ row / 2 % 4) * 8; }
template <int width>
__device__ __forceinline__ int OuterAt(int k, int chunk) { return k * width + (chunk ^ k % 8) * 8; }

__device__ __forceinline__ void CopyA(@A@, int64_t batch, int first_row, int first_k, uint16_t* stage) {
  for (int at = threadIdx.x; at < kStageA / 8; at += kThreads) {
    @COPY_A@
  }
}
__device__ __forceinline__ void CopyB(@B@, int64_t batch, int first_k, int first_col, uint16_t* stage) {
  for (int at = threadIdx.x; at < kStageB / 8; at += kThreads) {
    @COPY_B@
  }
}

// Fragments of 16 rows of a, or 16 columns of b, and 16 terms.
__device__ __forceinline__ void FragmentA(const uint16_t* stage, int row, int k, unsigned (&to)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  @FRAGMENT_A@
}
__device__ __forceinline__ void FragmentB(const uint16_t* stage, int k, int col, unsigned (&to)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  @FRAGMENT_B@
}

}  // namespace @NAME@_parts

__global__ void __launch_bounds__(@THREADS@) @NAME@_kernel(@A@, @B@@DECLARED@) {
  using namespace @NAME@_parts;
  extern __shared__ __align__(128) uint16_t stages[];
  // Eight rows of tiles are walked column by column, so that what neighbours read stays in the second-level cache.
  constexpr int kBand = 8;
  const int tile = static_cast<int>(blockIdx.x % (kRowTiles * kColTiles));
  const int64_t batch = blockIdx.x / (kRowTiles * kColTiles);
  const int band = tile / (kBand * kColTiles);
  const int band_rows = min(kBand, kRowTiles - band * kBand);
  const int first_row = (band * kBand + tile % (kBand * kColTiles) % band_rows) * kTileRows;
  const int first_col = tile % (kBand * kColTiles) / band_rows * kTileCols;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / kWarpsAcross * kWarpRows, warp_col = warp % kWarpsAcross * kWarpCols;
  uint16_t* stages_b = stages + kStages * kStageA;
  float sums[kWarpRows / 16][kWarpCols / 8][4] = {};
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < kSteps) {
      CopyA(a, batch, first_row, step * kStep, stages + step * kStageA);
      CopyB(b, batch, step * kStep, first_col, stages_b + step * kStageB);
    }
    kerf_commit_copies();
  }
  for (int step = 0; step < kSteps; ++step) {
    kerf_wait_copies<kStages - 2>();
    // All copies of this step have arrived, and all threads are done with the stage that is filled next.
    __syncthreads();
    const int next = step + kStages - 1;
    if (next < kSteps) {
      CopyA(a, batch, first_row, next * kStep, stages + next % kStages * kStageA);
      CopyB(b, batch, next * kStep, first_col, stages_b + next % kStages * kStageB);
    }
    kerf_commit_copies();
    const uint16_t* stage_a = stages + step % kStages * kStageA;
    const uint16_t* stage_b = stages_b + step % kStages * kStageB;
#pragma unroll
    for (int k = 0; k < kStep; k += 16) {
      unsigned rows[kWarpRows / 16][4], cols[kWarpCols / 16][4];
#pragma unroll
      for (int i = 0; i < kWarpRows / 16; ++i) FragmentA(stage_a, warp_row + i * 16, k, rows[i]);
#pragma unroll
      for (int j = 0; j < kWarpCols / 16; ++j) FragmentB(stage_b, k, warp_col + j * 16, cols[j]);
#pragma unroll
      for (int i = 0; i < kWarpRows / 16; ++i) {
#pragma unroll
        for (int j = 0; j < kWarpCols / 8; ++j) @MULTIPLY@(sums[i][j], rows[i], cols[j / 2] + j % 2 * 2);
      }
    }
  }
  // A lane has two neighbouring columns of rows lane / 4 and lane / 4 + 8 of every 16×8 sums.
#pragma unroll
  for (int i = 0; i < kWarpRows / 8; ++i) {
    const int64_t row = first_row + warp_row + i * 8 + lane / 4;
    if (row >= kRows) continue;
    @BEFORE_ROW@
#pragma unroll
    for (int j = 0; j < kWarpCols / 4; ++j) {
      const int64_t col = first_col + warp_col + j / 2 * 8 + lane % 4 * 2 + j % 2;
      if (col >= kCols) continue;
      const Sum value = sums[i / 2][j / 2][i % 2 * 2 + j % 2];
      @STORE@
    }
  }
}

static cudaError_t @NAME@(@A@, @B@@DECLARED@, cudaStream_t stream) {
  using namespace @NAME@_parts;
  const cudaError_t allowed =
      cudaFuncSetAttribute(@NAME@_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (allowed != cudaSuccess) return allowed;
  const unsigned blocks = static_cast<unsigned>(kRowTiles) * kColTiles * @BATCH@u;
  @NAME@_kernel<<<blocks, kThreads, kSharedBytes, stream>>>(a, b@PASSED@);
  return cudaGetLastError();
}
)";

// How one operand lies: `outer` is its row or column of the product.
struct Layout {
  bool outer_contiguous = false;
  bool aligned = false;  // chunks of eight elements are 16 bytes in a row, at multiples of 16 bytes
};

Layout LayoutOf(const Operand& operand, int64_t outer_stride, int64_t term_stride, int64_t outers,
                int64_t terms) {
  Layout layout;
  layout.outer_contiguous = outer_stride == 1 && term_stride != 1;
  const int64_t along = layout.outer_contiguous ? outers : terms;
  const int64_t contiguous = layout.outer_contiguous ? outer_stride : term_stride;
  const int64_t across = layout.outer_contiguous ? term_stride : outer_stride;
  layout.aligned = contiguous == 1 && along % 8 == 0 && across % 8 == 0;
  for (const int64_t stride : operand.batch_strides)
    layout.aligned = layout.aligned && stride % 8 == 0;
  return layout;
}

std::string CopyText(const MatmulSpec& spec, const Operand& operand, const Layout& layout,
                     bool is_a) {
  const std::string outer = is_a ? "row" : "col";
  const std::string size = is_a ? "kTileRows" : "kTileCols";
  const std::string limit = is_a ? "kRows" : "kCols";
  const std::string first = is_a ? "first_row" : "first_col";
  std::string text;
  if (layout.outer_contiguous) {
    text = "const int k = at / (" + size + " / 8), chunk = at % (" + size + " / 8);\n" +
           "uint16_t* to = stage + OuterAt<" + size + ">(k, chunk);\n" +
           "const int64_t term = first_k + k, " + outer + " = " + first + " + chunk * 8;\n";
  } else {
    text =
        "const int line = at / (kStep / 8), chunk = at % (kStep / 8);\n"
        "uint16_t* to = stage + TermsAt(line, chunk);\n"
        "const int64_t term = first_k + chunk * 8, " +
        outer + " = " + first + " + line;\n";
  }
  MatmulSpec raw = spec;
  raw.accumulate = DType::kFloat32;
  Operand bits = operand;
  bits.dtype = DType::kFloat32;  // as they are, without conversion
  const std::string name = is_a ? "a" : "b";
  const auto element = [&](const std::string& outer_index, const std::string& term_index) {
    return is_a ? OperandElement(bits, spec.batch, DType::kFloat32, name, outer_index, term_index)
                : OperandElement(bits, spec.batch, DType::kFloat32, name, term_index, outer_index);
  };
  if (layout.aligned) {
    return text + "const bool valid = term < kDepth && " + outer + " < " + limit + ";\n" +
           "kerf_copy_async(to, valid ? &" + element(outer, "term") + " : " + name + ", valid);";
  }
  const std::string moved_term = layout.outer_contiguous ? "term" : "(term + e)";
  const std::string moved_outer = layout.outer_contiguous ? "(" + outer + " + e)" : outer;
  return text + "#pragma unroll\nfor (int e = 0; e < 8; ++e) {\n  to[e] = " + moved_term +
         " < kDepth && " + moved_outer + " < " + limit + " ? " + element(moved_outer, moved_term) +
         " : uint16_t(0);\n}";
}

// Matrices 0 and 1 of a fragment of a are its upper and lower rows, 2 and 3 the same with the later
// terms; of b, 0 and 1 are earlier and later terms of the first eight columns, 2 and 3 of the
// others.
void SetFragments(const Layout& a, const Layout& b, CudaValues& values) {
  values["FRAGMENT_A"] =
      a.outer_contiguous
          ? "kerf_load_transposed(\n    to, stage + OuterAt<kTileRows>(k + lane % 8 + lane / 16 * "
            "8, row / 8 + lane / 8 % 2));"
          : "kerf_load_matrices(to, stage + TermsAt(row + lane % 16, k / 8 + lane / 16));";
  values["FRAGMENT_B"] = b.outer_contiguous
                             ? "kerf_load_transposed(to, stage + OuterAt<kTileCols>(k + lane % 16, "
                               "col / 8 + lane / 16));"
                             : "kerf_load_matrices(\n    to, stage + TermsAt(col + lane % 8 + lane "
                               "/ 16 * 8, k / 8 + lane / 8 % 2));";
}

struct TileShape {
  int64_t rows, cols, warp_rows, warp_cols, stages;
};

// The largest tile that gives every multiprocessor one.
TileShape ChooseShape(const MatmulSpec& spec, const CudaTarget& target) {
  const TileShape shapes[] = {
      {128, 256, 64, 64, 4}, {128, 128, 64, 32, 4}, {64, 128, 32, 32, 4}, {64, 64, 32, 32, 4}};
  for (const TileShape& shape : shapes) {
    const int64_t tiles =
        Product(spec.batch) * CeilDiv(spec.m, shape.rows) * CeilDiv(spec.n, shape.cols);
    if (tiles >= target.processors * 9 / 10) return shape;
  }
  return shapes[3];
}

}  // namespace

std::string TensorCorePrelude(const CudaTarget& target) {
  return target.emulated ? kShuffles : kPtx;
}

bool CanUseTensorCores(const MatmulSpec& spec) {
  const bool half = spec.a.dtype == DType::kFloat16 || spec.a.dtype == DType::kBFloat16;
  return half && spec.a.dtype == spec.b.dtype && spec.accumulate == DType::kFloat32 &&
         !spec.a.load && !spec.b.load && spec.a.structure == Structure::kFull &&
         spec.b.structure == Structure::kFull;
}

std::string EmitTensorCores(const MatmulSpec& spec, CudaValues values, const CudaTarget& target) {
  const Layout a = LayoutOf(spec.a, spec.a.row_stride, spec.a.col_stride, spec.m, spec.k);
  const Layout b = LayoutOf(spec.b, spec.b.col_stride, spec.b.row_stride, spec.n, spec.k);
  const TileShape shape = ChooseShape(spec, target);
  values["TILE_ROWS"] = Number(shape.rows);
  values["TILE_COLS"] = Number(shape.cols);
  values["WARP_ROWS"] = Number(shape.warp_rows);
  values["WARP_COLS"] = Number(shape.warp_cols);
  values["STAGES"] = Number(shape.stages);
  values["THREADS"] = Number(shape.rows / shape.warp_rows * (shape.cols / shape.warp_cols) * 32);
  values["MULTIPLY"] =
      spec.a.dtype == DType::kFloat16 ? "kerf_multiply_half" : "kerf_multiply_bfloat";
  values["COPY_A"] = CopyText(spec, spec.a, a, true);
  values["COPY_B"] = CopyText(spec, spec.b, b, false);
  SetFragments(a, b, values);
  return Fill(kMmaText, values);
}

}  // namespace kerf::synth
