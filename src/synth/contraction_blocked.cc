// The blocked form of a matrix product (contraction_matmul.cc).
#include <algorithm>

#include "synth/contraction_matmul.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

constexpr const char* kPackRowsOfA = R"(
// Rows of a, one after the other; rows that fill up the last tile are zero.
constexpr int64_t kPackedRow = tiles::CeilDiv(kBlockDepth * sizeof(Sum), 64) / 2 * 2 * (64 / sizeof(Sum)) +
                               64 / sizeof(Sum);  // an odd number of cache lines spreads over the sets
constexpr int64_t kFactorRow = kPackedRow, kFactorStep = 1;
static void PackA(@A@, int64_t batch, int64_t first_row, int64_t rows, int64_t first_k,
                  int64_t depth, Sum* packed@DECLARED_A@) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = first_row + r;
    Sum* to = packed + r * kPackedRow;
#pragma omp simd
    for (int64_t k = 0; k < depth; ++k) {
      to[k] = @ELEMENT_A@;
    }
  }
  for (int64_t r = rows; r < tiles::RoundUp(rows, kTileRows); ++r) {
    std::memset(packed + r * kPackedRow, 0, depth * sizeof(Sum));
  }
}
)";

constexpr const char* kPackColsOfA = R"(
// Tiles of a, each with the factors of one term side by side, as a's columns lie in memory.
constexpr int64_t kPackedRow = kBlockDepth;
constexpr int64_t kFactorRow = 1, kFactorStep = kTileRows;
static void PackA(@A@, int64_t batch, int64_t first_row, int64_t rows, int64_t first_k,
                  int64_t depth, Sum* packed@DECLARED_A@) {
  for (int64_t first = 0; first < rows; first += kTileRows) {
    const int64_t height = tiles::Least(kTileRows, rows - first);
    for (int64_t k = 0; k < depth; ++k) {
      Sum* to = packed + first * kPackedRow + k * kTileRows;
      for (int64_t r = 0; r < kTileRows; ++r) {
        const int64_t row = first_row + first + r;
        to[r] = r < height ? @ELEMENT_A@ : Sum(0);
      }
    }
  }
}
)";

constexpr const char* kPackRowsOfB = R"(
// Panels of kTileCols columns, each with its rows one after the other; columns past the edge are zero.
static void PackB(@B@, int64_t batch, int64_t first_col, int64_t cols, int64_t first_k,
                  int64_t depth, Sum* packed@DECLARED_B@) {
  for (int64_t first = 0; first < cols; first += kTileCols) {
    const int64_t width = tiles::Least(kTileCols, cols - first);
    for (int64_t k = 0; k < depth; ++k) {
      Sum* to = packed + first * kBlockDepth + k * kTileCols;
      if (width == kTileCols) {
#pragma omp simd
        for (int64_t c = 0; c < kTileCols; ++c) {
          const int64_t col = first_col + first + c;
          to[c] = @ELEMENT_B@;
        }
        continue;
      }
      for (int64_t c = 0; c < width; ++c) {
        const int64_t col = first_col + first + c;
        to[c] = @ELEMENT_B@;
      }
      for (int64_t c = width; c < kTileCols; ++c) to[c] = 0;
    }
  }
}
)";

constexpr const char* kPackColsOfB = R"(
// Panels of kTileCols columns, each with its rows one after the other; columns past the edge are zero. b's
// columns are contiguous: sixteen elements of each are moved at a time, so that a cache line is read once.
static void PackB(@B@, int64_t batch, int64_t first_col, int64_t cols, int64_t first_k,
                  int64_t depth, Sum* packed@DECLARED_B@) {
  for (int64_t first = 0; first < cols; first += kTileCols) {
    const int64_t width = tiles::Least(kTileCols, cols - first);
    Sum* panel = packed + first * kBlockDepth;
    for (int64_t begin = 0; begin < depth; begin += 16) {
      const int64_t end = tiles::Least(depth, begin + 16);
      for (int64_t c = 0; c < kTileCols; ++c) {
        const int64_t col = first_col + first + c;
        for (int64_t k = begin; k < end; ++k) {
          panel[k * kTileCols + c] = c < width ? @ELEMENT_B@ : Sum(0);
        }
      }
    }
  }
}
)";

constexpr const char* kBlockedHead = R"(
namespace @NAME@_parts {

using Sum = @SUM@;
constexpr int64_t kBatch = @BATCH@, kRows = @ROWS@, kCols = @COLS@, kDepth = @DEPTH@;

constexpr int kVectors = tiles::TileVectors<Sum>(kCols);
constexpr int64_t kTileRows = tiles::TileRows(kRows, kVectors);
constexpr int64_t kTileCols = kVectors * tiles::kLanes<Sum>;

// A job computes a block of kBlockRows × kBlockCols sums, kBlockDepth terms at a time. It packs that part of b
// once; a strip of a, which stays in the second-level cache, meets every panel of it.
constexpr int64_t kBlockDepth = @BLOCK_DEPTH@;
constexpr int64_t kBlockCols = tiles::RoundUp(@BLOCK_COLS@, kTileCols);
constexpr int64_t kBlockRows = tiles::RoundUp(@BLOCK_ROWS@, kTileRows);
constexpr int64_t kStripRows = tiles::Least(kBlockRows, tiles::RoundUp(@STRIP_ROWS@, kTileRows));
constexpr int64_t kTileSums = kTileRows * kTileCols;
)";

constexpr const char* kBlockedBody = R"(
static void MultiplyBlock(@A@, @B@, int64_t batch, int64_t first_row, int64_t rows,
                          int64_t first_col, int64_t cols@DECLARED@) {
  Sum* packed_a = tiles::Scratch<Sum>(0, kStripRows * tiles::Most(kPackedRow, kBlockDepth));
  Sum* packed_b = tiles::Scratch<Sum>(1, kBlockCols * kBlockDepth);
  // Sums wait here, tile after tile, while terms are missing.
  Sum* sums = tiles::Scratch<Sum>(2, kBlockDepth < kDepth ? kBlockRows * kBlockCols : kTileSums);
  @RANGE@
  for (int64_t first_k = first_term; first_k < last_term; first_k += kBlockDepth) {
    const int64_t depth = tiles::Least(kBlockDepth, last_term - first_k);
    PackB(b, batch, first_col, cols, first_k, depth, packed_b@PASSED_B@);
    for (int64_t strip = 0; strip < rows; strip += kStripRows) {
      const int64_t strip_rows = tiles::Least(kStripRows, rows - strip);
      PackA(a, batch, first_row + strip, strip_rows, first_k, depth, packed_a@PASSED_A@);
      for (int64_t c = 0; c < cols; c += kTileCols) {
        for (int64_t r = 0; r < strip_rows; r += kTileRows) {
          const int64_t tile = (strip + r) / kTileRows * (kBlockCols / kTileCols) + c / kTileCols;
          Sum* tile_sums = sums + (kBlockDepth < kDepth ? tile * kTileSums : 0);
          tiles::MultiplyTile<Sum, kTileRows, kVectors, kFactorRow, kFactorStep, kTileCols, kTileCols>(
              depth, packed_a + r * kPackedRow, packed_b + c * kBlockDepth, tile_sums,
              first_k == first_term);
          if (first_k + depth == last_term) {
            Store(tile_sums, batch, first_row + strip + r, tiles::Least(kTileRows, strip_rows - r),
                  first_col + c, tiles::Least(kTileCols, cols - c)@PASSED@);
          }
        }
      }
    }
  }
}

}  // namespace @NAME@_parts

static void @NAME@(@A@, @B@@DECLARED@, int threads) {
  using namespace @NAME@_parts;
  const int team = static_cast<int>(tiles::Least(threads, @MOST_THREADS@));
  // Every thread gets a block at least; fewer rows than that would pack b more often.
  constexpr int64_t col_blocks = tiles::CeilDiv(kCols, kBlockCols);
  const int64_t wanted = tiles::CeilDiv(team, kBatch * col_blocks);
  const int64_t block_rows =
      tiles::Least(kBlockRows, tiles::RoundUp(tiles::CeilDiv(kRows, wanted), kTileRows));
  const int64_t row_blocks = tiles::CeilDiv(kRows, block_rows);
#pragma omp parallel for num_threads(team) schedule(dynamic, @CHUNK@)
  for (int64_t job = 0; job < kBatch * row_blocks * col_blocks; ++job) {
    const int64_t batch = job / (row_blocks * col_blocks);
    const int64_t first_row = job / col_blocks % row_blocks * block_rows;
    const int64_t first_col = job % col_blocks * kBlockCols;
    MultiplyBlock(a, b, batch, first_row, tiles::Least(block_rows, kRows - first_row), first_col,
                  tiles::Least(kBlockCols, kCols - first_col)@PASSED@);
  }
}
)";

// The terms of a block that may be other than zero.
std::string RangeText(const MatmulSpec& spec) {
  std::string first = "0";
  std::string last = "kDepth";
  const auto raise = [&](const std::string& to) {
    first = "tiles::Most(" + first + ", " + to + ")";
  };
  const auto lower = [&](const std::string& to) {
    last = "tiles::Least(" + last + ", " + to + ")";
  };
  if (spec.a.structure == Structure::kLower) lower("first_row + rows");
  if (spec.a.structure == Structure::kUpper) raise("first_row");
  if (spec.b.structure == Structure::kLower) raise("first_col");
  if (spec.b.structure == Structure::kUpper) lower("first_col + cols");
  if (first == "0" && last == "kDepth")
    return "constexpr int64_t first_term = 0, last_term = kDepth;";
  return "// The other terms are zero.\nconst int64_t first_term = " + first +
         ";\nconst int64_t last_term = " + last + ";\n" + R"(if (first_term >= last_term) {
  std::memset(sums, 0, kTileSums * sizeof(Sum));
  for (int64_t r = 0; r < rows; r += kTileRows) {
    for (int64_t c = 0; c < cols; c += kTileCols) {
      Store(sums, batch, first_row + r, tiles::Least(kTileRows, rows - r), first_col + c,
            tiles::Least(kTileCols, cols - c)@PASSED@);
    }
  }
  return;
})";
}

}  // namespace

std::string EmitBlocked(const MatmulSpec& spec, FormValues values, const CpuTarget& target) {
  const int64_t bytes = static_cast<int64_t>(DTypeBytes(spec.accumulate));
  const bool structured =
      spec.a.structure != Structure::kFull || spec.b.structure != Structure::kFull;
  // 384 terms: a panel of b is one and a half times the first-level cache, and streams from the
  // second; measured best of 256, 384 and 512 on Zen 4. Spread evenly.
  const int64_t most_depth = int64_t{384} * 4 / bytes;
  const int64_t depth = CeilDiv(spec.k, CeilDiv(spec.k, most_depth));
  const int64_t most_rows = structured ? 256 : 512;
  const int64_t most_cols = structured ? 256 : 1024;
  values["BLOCK_DEPTH"] = Number(depth);
  values["BLOCK_ROWS"] = Number(std::min<int64_t>(spec.m, most_rows));
  // With few rows the columns are shared out.
  values["BLOCK_COLS"] = Number(std::min<int64_t>(
      spec.n, spec.m < 256 ? std::clamp<int64_t>(spec.n / 8, 128, most_cols) : most_cols));
  values["STRIP_ROWS"] = Number(std::max<int64_t>(target.l2_bytes / 4 / (depth * bytes), 1));
  values["CHUNK"] = Number(std::max<int64_t>(Product(spec.batch) / 64, 1));
  values["ELEMENT_A"] = ProductElement(spec, spec.a, "a", "row", "(first_k + k)");
  values["ELEMENT_B"] = ProductElement(spec, spec.b, "b", "(first_k + k)", "col");
  // Packing needs the epilogue's parameters only where an element is text of the caller's.
  values["DECLARED_A"] = spec.a.load ? values["DECLARED"] : "";
  values["PASSED_A"] = spec.a.load ? values["PASSED"] : "";
  values["DECLARED_B"] = spec.b.load ? values["DECLARED"] : "";
  values["PASSED_B"] = spec.b.load ? values["PASSED"] : "";
  values["SUMS_ROW"] = "kTileCols";
  values["SUMS_COL"] = "1";
  values["RANGE"] = Fill(RangeText(spec), {{"PASSED", values["PASSED"]}});
  const bool cols_of_a = !spec.a.load && spec.a.row_stride == 1 && spec.a.col_stride != 1;
  const bool cols_of_b = !spec.b.load && spec.b.row_stride == 1 && spec.b.col_stride != 1;
  return Fill(std::string(kBlockedHead) + (cols_of_a ? kPackColsOfA : kPackRowsOfA) +
                  (cols_of_b ? kPackColsOfB : kPackRowsOfB) + kStoreSums + kBlockedBody,
              values);
}

}  // namespace kerf::synth
