// Three kernels for products, chosen by shape and type:
//
//   tiles    a block computes a tile of the product; steps of the sum go through shared memory, the
//   next one is on its
//            way in registers while a thread multiplies an 8×8 (or 4×4) part of the tile
//   dot      one to four rows (or columns) against a matrix whose sums are contiguous: a warp for
//   each output stream   the same against a matrix whose outputs are contiguous: lanes run along
//   them
//
// cuda_contraction_mma.cc has the one for tensor cores.
#include "synth/cuda_contraction.h"

#include <algorithm>

#include "synth/contraction_text.h"
#include "synth/cuda_contraction_text.h"

namespace kerf::synth {
namespace {

constexpr const char* kCudaPrelude = R"(#include <cuda_runtime.h>

#include <cstdint>

__device__ __forceinline__ float kerf_from_bfloat(uint16_t bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

// The exponent is moved by a multiplication, which is exact and takes subnormal halves along; infinities and NaNs
// (exponent 31) come out at 2^16 and more, and get the exponent of float's.
__device__ __forceinline__ float kerf_from_half(uint16_t bits) {
  const unsigned magnitude = static_cast<unsigned>(bits & 0x7fff) << 13;
  unsigned moved = __float_as_uint(__uint_as_float(magnitude) * 0x1p112f);
  moved |= magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return __uint_as_float(moved | static_cast<unsigned>(bits & 0x8000) << 16);
}
)";

constexpr const char* kTiles = R"(
namespace @NAME@_parts {

using Sum = @SUM@;
constexpr int kRows = @ROWS@, kCols = @COLS@, kDepth = @DEPTH@;

// A block computes kTileRows × kTileCols sums with 16 × 16 threads, kStep terms at a time. A thread has groups of
// four rows and four columns, 64 apart, so that neighbours read neighbouring words of shared memory.
constexpr int kTileRows = @TILE_ROWS@, kTileCols = @TILE_COLS@, kStep = @STEP@, kThreads = 256;
constexpr int kRowGroups = kTileRows / 64, kColGroups = kTileCols / 64;
constexpr int kRowTiles = (kRows + kTileRows - 1) / kTileRows;
constexpr int kColTiles = (kCols + kTileCols - 1) / kTileCols;
constexpr int kLoadsA = kTileRows * kStep / kThreads, kLoadsB = kTileCols * kStep / kThreads;
// Four words of padding keep rows aligned and stores of a column apart.
constexpr int kPitchA = kTileRows + 4, kPitchB = kTileCols + 4;

// Element `i` of those this thread brings of a tile of a: (row, term); neighbours in a warp are neighbours in memory.
__device__ __forceinline__ void PlaceA(int i, int& row, int& k) {
  const int at = i * kThreads + threadIdx.x;
  @PLACE_A@
}
__device__ __forceinline__ void PlaceB(int i, int& k, int& col) {
  const int at = i * kThreads + threadIdx.x;
  @PLACE_B@
}

__device__ __forceinline__ void LoadA(@A@, int64_t batch, int first_row, int first_k, Sum* loaded@DECLARED_A@) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    int row, k;
    PlaceA(i, row, k);
    row += first_row, k += first_k;
    loaded[i] = Sum(0);
    if (row < kRows && k < kDepth) loaded[i] = @ELEMENT_A@;
  }
}

__device__ __forceinline__ void LoadB(@B@, int64_t batch, int first_k, int first_col, Sum* loaded@DECLARED_B@) {
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    int k, col;
    PlaceB(i, k, col);
    k += first_k, col += first_col;
    loaded[i] = Sum(0);
    if (k < kDepth && col < kCols) loaded[i] = @ELEMENT_B@;
  }
}

}  // namespace @NAME@_parts

__global__ void __launch_bounds__(256) @NAME@_kernel(@A@, @B@@DECLARED@) {
  using namespace @NAME@_parts;
  __shared__ __align__(16) Sum tile_a[2][kStep * kPitchA];
  __shared__ __align__(16) Sum tile_b[2][kStep * kPitchB];
  // Tiles that share rows of a follow each other, so that these stay in the second-level cache.
  const int first_col = static_cast<int>(blockIdx.x % kColTiles) * kTileCols;
  const int first_row = static_cast<int>(blockIdx.x / kColTiles % kRowTiles) * kTileRows;
  const int64_t batch = blockIdx.x / (kColTiles * kRowTiles);
  const int thread_row = static_cast<int>(threadIdx.x) / 16 * 4, thread_col = static_cast<int>(threadIdx.x) % 16 * 4;
  Sum sums[kRowGroups * 4][kColGroups * 4] = {};
  Sum loaded_a[kLoadsA], loaded_b[kLoadsB];
  LoadA(a, batch, first_row, @FIRST_TERM@, loaded_a@PASSED_A@);
  LoadB(b, batch, @FIRST_TERM@, first_col, loaded_b@PASSED_B@);
  int current = 0;
  const int last_term = @LAST_TERM@;
  for (int first_k = @FIRST_TERM@; first_k < last_term; first_k += kStep) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      int row, k;
      PlaceA(i, row, k);
      tile_a[current][k * kPitchA + row] = loaded_a[i];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      int k, col;
      PlaceB(i, k, col);
      tile_b[current][k * kPitchB + col] = loaded_b[i];
    }
    __syncthreads();
    if (first_k + kStep < last_term) {
      LoadA(a, batch, first_row, first_k + kStep, loaded_a@PASSED_A@);
      LoadB(b, batch, first_k + kStep, first_col, loaded_b@PASSED_B@);
    }
#pragma unroll
    for (int k = 0; k < kStep; ++k) {
      Sum row[kRowGroups * 4], col[kColGroups * 4];
#pragma unroll
      for (int i = 0; i < kRowGroups * 4; ++i) {
        row[i] = tile_a[current][k * kPitchA + i / 4 * 64 + thread_row + i % 4];
      }
#pragma unroll
      for (int j = 0; j < kColGroups * 4; ++j) {
        col[j] = tile_b[current][k * kPitchB + j / 4 * 64 + thread_col + j % 4];
      }
#pragma unroll
      for (int i = 0; i < kRowGroups * 4; ++i) {
#pragma unroll
        for (int j = 0; j < kColGroups * 4; ++j) sums[i][j] += row[i] * col[j];
      }
    }
    // The other buffer is free: every thread has passed the barrier after its last use.
    current ^= 1;
  }
#pragma unroll
  for (int i = 0; i < kRowGroups * 4; ++i) {
    const int64_t row = first_row + i / 4 * 64 + thread_row + i % 4;
    if (row >= kRows) continue;
    @BEFORE_ROW@
#pragma unroll
    for (int j = 0; j < kColGroups * 4; ++j) {
      const int64_t col = first_col + j / 4 * 64 + thread_col + j % 4;
      if (col >= kCols) continue;
      const Sum value = sums[i][j];
      @STORE@
    }
  }
}

static cudaError_t @NAME@(@A@, @B@@DECLARED@, cudaStream_t stream) {
  using namespace @NAME@_parts;
  const unsigned blocks = static_cast<unsigned>(kRowTiles) * kColTiles * @BATCH@u;
  @NAME@_kernel<<<blocks, kThreads, 0, stream>>>(a, b@PASSED@);
  return cudaGetLastError();
}
)";

constexpr const char* kDot = R"(
// A group of kLanes threads for each of @LONG@ @LONG_WORD@: they run along the sums, which are contiguous in both
// operands.
__global__ void __launch_bounds__(256) @NAME@_kernel(@A@, @B@@DECLARED@) {
  using Sum = @SUM@;
  constexpr int kShort = @SHORT@, kLong = @LONG@, kDepth = @DEPTH@, kLanes = @LANES@;
  __shared__ Sum partial[kShort][256 / 32];
  const int64_t group = (static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t batch = group / kLong, at = group % kLong;
  const bool inside = batch < @BATCH@;
  Sum sums[kShort] = {};
  if (inside) {
#pragma unroll 8
    for (int k = lane; k < kDepth; k += kLanes) {
      const Sum element = @LONG_ELEMENT@;
#pragma unroll
      for (int s = 0; s < kShort; ++s) sums[s] += element * @SHORT_ELEMENT@;
    }
  }
#pragma unroll
  for (int s = 0; s < kShort; ++s) {
    for (int offset = 16; offset > 0; offset /= 2) sums[s] += __shfl_down_sync(0xffffffffu, sums[s], offset);
  }
  if (kLanes > 32) {
#pragma unroll
    for (int s = 0; s < kShort; ++s) {
      if (lane % 32 == 0) partial[s][lane / 32] = sums[s];
    }
    __syncthreads();
    if (lane == 0) {
      for (int s = 0; s < kShort; ++s) {
        for (int warp = 1; warp < kLanes / 32; ++warp) sums[s] += partial[s][warp];
      }
    }
  }
  if (!inside || lane != 0) return;
#pragma unroll
  for (int s = 0; s < kShort; ++s) {
    const int64_t row = @ROW@, col = @COL@;
    const Sum value = sums[s];
    @BEFORE_ROW@
    @STORE@
  }
}
)";

constexpr const char* kStream = R"(
// A warp runs along @LONG_WORD@, which are contiguous; the warps of a block share out the terms.
__global__ void __launch_bounds__(1024) @NAME@_kernel(@A@, @B@@DECLARED@) {
  using Sum = @SUM@;
  constexpr int kShort = @SHORT@, kLong = @LONG@, kDepth = @DEPTH@, kWarps = 32;
  constexpr int kBlocks = (kLong + 31) / 32;
  __shared__ Sum partial[kWarps][33];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int64_t batch = blockIdx.x / kBlocks;
  const int64_t at = static_cast<int64_t>(blockIdx.x % kBlocks) * 32 + lane;
  Sum sums[kShort] = {};
  if (at < kLong) {
#pragma unroll 8
    for (int k = warp; k < kDepth; k += kWarps) {
      const Sum element = @LONG_ELEMENT@;
#pragma unroll
      for (int s = 0; s < kShort; ++s) sums[s] += element * @SHORT_ELEMENT@;
    }
  }
  for (int s = 0; s < kShort; ++s) {
    partial[warp][lane] = sums[s];
    __syncthreads();
    if (warp == 0 && at < kLong) {
      const int64_t row = @ROW@, col = @COL@;
      Sum value = 0;
      for (int w = 0; w < kWarps; ++w) value += partial[w][lane];
      @BEFORE_ROW@
      @STORE@
    }
    __syncthreads();
  }
}
)";

constexpr const char* kNarrowLaunch = R"(
static cudaError_t @NAME@(@A@, @B@@DECLARED@, cudaStream_t stream) {
  @NAME@_kernel<<<@BLOCKS@, @THREADS@, 0, stream>>>(a, b@PASSED@);
  return cudaGetLastError();
}
)";

constexpr const char* kCudaElementwise = R"(
// @WHY@
__global__ void __launch_bounds__(256) @NAME@_kernel(@A@, @B@@DECLARED@) {
  using Sum = @SUM@;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= int64_t{@BATCH@} * @ROWS@ * @COLS@) return;
  const int64_t col = at % @COLS@, row = at / @COLS@ % @ROWS@, batch = at / (int64_t{@ROWS@} * @COLS@);
  const Sum value = @VALUE@;
  @BEFORE_ROW@
  @STORE@
}
)";

constexpr const char* kCudaNothing = R"(
// The product has no element.
static cudaError_t @NAME@(@A@, @B@@DECLARED@, cudaStream_t stream) { return cudaSuccess; }
)";

// Which way the threads of a warp run over a tile: along the terms, or along the outer dimension.
bool RunsAlongTerms(const Operand& operand, int64_t term_stride, int64_t outer_stride, bool is_a) {
  if (operand.load) return is_a;
  return term_stride == 1 && outer_stride != 1;
}

std::string PlaceText(bool along_terms, const std::string& outer, const std::string& size) {
  return along_terms ? "k = at % kStep, " + outer + " = at / kStep;"
                     : outer + " = at % " + size + ", k = at / " + size + ";";
}

// The terms a tile needs: triangular operands skip steps that are zero.
void SetTerms(const MatmulSpec& spec, CudaValues& values) {
  std::string first = "0";
  std::string last = "kDepth";
  const auto raise = [&](const std::string& to) {
    first = "max(" + first + ", " + to + " / kStep * kStep)";
  };
  const auto lower = [&](const std::string& to) { last = "min(" + last + ", " + to + ")"; };
  if (spec.a.structure == Structure::kLower) lower("first_row + kTileRows");
  if (spec.a.structure == Structure::kUpper) raise("first_row");
  if (spec.b.structure == Structure::kLower) raise("first_col");
  if (spec.b.structure == Structure::kUpper) lower("first_col + kTileCols");
  values["FIRST_TERM"] = first;
  values["LAST_TERM"] = last;
}

std::string EmitTiles(const MatmulSpec& spec, CudaValues values, const CudaTarget& target) {
  const int64_t batch = Product(spec.batch);
  // Large tiles need less of shared memory's bandwidth, but every multiprocessor should have two.
  const bool large = batch * CeilDiv(spec.m, 128) * CeilDiv(spec.n, 128) >= target.processors &&
                     DTypeBytes(spec.accumulate) == 4;
  values["TILE_ROWS"] = values["TILE_COLS"] = large ? "128" : "64";
  values["STEP"] = "16";
  values["PLACE_A"] = PlaceText(RunsAlongTerms(spec.a, spec.a.col_stride, spec.a.row_stride, true),
                                "row", "kTileRows");
  values["PLACE_B"] = PlaceText(RunsAlongTerms(spec.b, spec.b.row_stride, spec.b.col_stride, false),
                                "col", "kTileCols");
  values["ELEMENT_A"] = CudaElement(spec, spec.a, "a", "int64_t(row)", "int64_t(k)");
  values["ELEMENT_B"] = CudaElement(spec, spec.b, "b", "int64_t(k)", "int64_t(col)");
  SetTerms(spec, values);
  return Fill(kTiles, values);
}

std::string EmitNarrowKernel(const MatmulSpec& spec, CudaValues values, bool short_is_a, bool dot) {
  const int64_t longs = short_is_a ? spec.n : spec.m;
  const int64_t batch = Product(spec.batch);
  values["SHORT"] = Number(short_is_a ? spec.m : spec.n);
  values["LONG"] = Number(longs);
  values["LONG_WORD"] = short_is_a ? "columns of b" : "rows of a";
  values["ROW"] = short_is_a ? "s" : "at";
  values["COL"] = short_is_a ? "at" : "s";
  values["LONG_ELEMENT"] = short_is_a ? CudaElement(spec, spec.b, "b", "int64_t(k)", "at")
                                      : CudaElement(spec, spec.a, "a", "at", "int64_t(k)");
  values["SHORT_ELEMENT"] = short_is_a ? CudaElement(spec, spec.a, "a", "int64_t(s)", "int64_t(k)")
                                       : CudaElement(spec, spec.b, "b", "int64_t(k)", "int64_t(s)");
  // Few outputs: a whole block for each.
  const int64_t lanes = batch * longs < 2048 && spec.k >= 1024 ? 256 : 32;
  values["LANES"] = Number(lanes);
  values["BLOCKS"] = Number(dot ? CeilDiv(batch * longs * lanes, 256) : batch * CeilDiv(longs, 32));
  values["THREADS"] = dot ? "256" : "1024";
  return Fill(std::string(dot ? kDot : kStream) + kNarrowLaunch, values);
}

std::string EmitElementwise(const MatmulSpec& spec, CudaValues values, const std::string& value,
                            const std::string& why) {
  values["VALUE"] = value;
  values["WHY"] = why;
  values["BLOCKS"] = Number(CeilDiv(Product(spec.batch) * spec.m * spec.n, 256));
  values["THREADS"] = "256";
  return Fill(std::string(kCudaElementwise) + kNarrowLaunch, values);
}

std::string EmitDiagonal(const MatmulSpec& spec, const CudaValues& values) {
  const bool a = spec.a.structure == Structure::kDiagonal;
  const std::string term = a ? "row" : "col";
  const std::string product = CudaElement(spec, spec.a, "a", "row", term) + " * " +
                              CudaElement(spec, spec.b, "b", term, "col");
  return EmitElementwise(
      spec, values, term + " < " + Number(spec.k) + " ? " + product + " : Sum(0)",
      "One operand is diagonal: a single term of each sum can differ from zero.");
}

}  // namespace

std::string CudaElement(const MatmulSpec& spec, const Operand& operand, const std::string& pointer,
                        const std::string& row, const std::string& col) {
  std::string text = OperandElement(operand, spec.batch, spec.accumulate, pointer, row, col);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"tiles::FromHalf", "kerf_from_half"},
        {"tiles::FromBfloat", "kerf_from_bfloat"}}) {
    const size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

CudaValues CudaMatmulValues(const MatmulSpec& spec, const std::string& name,
                            const Epilogue& epilogue) {
  CudaValues values;
  values["NAME"] = name;
  values["SUM"] = ElementType(spec.accumulate);
  values["BATCH"] = Number(Product(spec.batch));
  values["ROWS"] = Number(spec.m);
  values["COLS"] = Number(spec.n);
  values["DEPTH"] = Number(spec.k);
  values["A"] = PointerType(spec.a.dtype) + " __restrict__ a";
  values["B"] = PointerType(spec.b.dtype) + " __restrict__ b";
  values["DECLARED"] = DeclaredParameters(epilogue.parameters);
  values["PASSED"] = PassedParameters(epilogue.parameters);
  values["DECLARED_A"] = spec.a.load ? values["DECLARED"] : "";
  values["PASSED_A"] = spec.a.load ? values["PASSED"] : "";
  values["DECLARED_B"] = spec.b.load ? values["DECLARED"] : "";
  values["PASSED_B"] = spec.b.load ? values["PASSED"] : "";
  values["STORE"] = epilogue.store({"value", "batch", "row", "col", {}});
  values["BEFORE_ROW"] =
      epilogue.before_row ? epilogue.before_row({"", "batch", "row", "", {}}) : "";
  return values;
}

std::string CudaContractionPrelude(const std::string& functions, const CudaTarget& target) {
  const bool tensor_cores = functions.find("kerf_load_matrices") != std::string::npos ||
                            functions.find("kerf_load_transposed") != std::string::npos;
  return std::string(kCudaPrelude) + (tensor_cores ? TensorCorePrelude(target) : "");
}

Result<std::string> EmitCudaMatmul(const MatmulSpec& spec, const std::string& function_name,
                                   const Epilogue& epilogue, const CudaTarget& target) {
  KERF_RETURN_IF_ERROR(CheckParameters(epilogue));
  KERF_RETURN_IF_ERROR(CheckMatmul(spec));
  const CudaValues values = CudaMatmulValues(spec, function_name, epilogue);
  const MatmulForm form = ChooseMatmulForm(spec);
  switch (form) {
    case MatmulForm::kNothing:
      return Fill(kCudaNothing, values);
    case MatmulForm::kZero:
      return EmitElementwise(spec, values, "0", "A sum without terms is zero.");
    case MatmulForm::kDiagonal:
      return EmitDiagonal(spec, values);
    case MatmulForm::kStreamA:
    case MatmulForm::kStreamB:
      return EmitNarrowKernel(spec, values, form == MatmulForm::kStreamB, false);
    case MatmulForm::kDotA:
    case MatmulForm::kDotB:
      return EmitNarrowKernel(spec, values, form == MatmulForm::kDotB, true);
    case MatmulForm::kBlocked:
      break;
  }
  if (target.tensor_cores && CanUseTensorCores(spec)) return EmitTensorCores(spec, values, target);
  return EmitTiles(spec, values, target);
}

}  // namespace kerf::synth
