// Matrix products. Five forms of code, chosen by shape and layout:
//
//   blocked    the general one: blocks of the product are jobs of the threads; a job packs what it
//   needs of a and
//              b and runs a register tile over it (after Goto and van de Geijn, "Anatomy of
//              high-performance matrix multiplication"). Rows of a are packed as rows, because a
//              tile takes single factors from them.
//   stream     one to four rows against a matrix whose rows are contiguous: bound by memory, reads
//   it once in order dot        the same against a matrix whose columns are contiguous: dot
//   products split      few outputs, long sums: chunks of the sum are products of a batch, added at
//   the end diagonal   one factor for each output
//
// stream and dot exist for a narrow product (few columns) too, with the operands' roles exchanged.
#include <algorithm>
#include <optional>

#include "synth/contraction.h"
#include "synth/contraction_matmul.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

using Values = std::map<std::string, std::string>;

// Most rows (or columns) of the small side of a product that is bound by memory.
constexpr int64_t kMostShort = 4;

// Text of one element of an operand of the product, converted.
std::string Element(const MatmulSpec& spec, const Operand& operand, const std::string& pointer,
                    const std::string& row, const std::string& col) {
  return OperandElement(operand, spec.batch, spec.accumulate, pointer, row, col);
}

bool IsPlain(const Operand& operand) { return !operand.load; }

Values CommonValues(const MatmulSpec& spec, const std::string& name, const Epilogue& epilogue) {
  Values values;
  values["NAME"] = name;
  values["SUM"] = ElementType(spec.accumulate);
  values["BATCH"] = Number(Product(spec.batch));
  values["ROWS"] = Number(spec.m);
  values["COLS"] = Number(spec.n);
  values["DEPTH"] = Number(spec.k);
  values["A"] = PointerType(spec.a.dtype) + " a";
  values["B"] = PointerType(spec.b.dtype) + " b";
  values["DECLARED"] = DeclaredParameters(epilogue.parameters);
  values["PASSED"] = PassedParameters(epilogue.parameters);
  // A team costs a few microseconds: a thread should have ten times as much to do.
  const double work = 2.0 * static_cast<double>(Product(spec.batch) * spec.m) *
                      static_cast<double>(spec.n) * static_cast<double>(spec.k);
  values["MOST_THREADS"] = Number(std::clamp<int64_t>(static_cast<int64_t>(work / 5e5), 1, 1024));
  OutputSite site{"value", "batch", "row", "col", {}};
  values["STORE"] = epilogue.store(site);
  site.value = site.col = "";
  values["BEFORE_ROW"] = epilogue.before_row ? epilogue.before_row(site) : "";
  return values;
}

constexpr const char* kStore = R"(
// Takes finished sums: row r, column c of them at sums[r * @SUMS_ROW@ + c * @SUMS_COL@].
static inline void Store(const Sum* sums, int64_t batch, int64_t first_row, int64_t rows,
                         int64_t first_col, int64_t cols@DECLARED@) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = first_row + r;
    @BEFORE_ROW@
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t col = first_col + c;
      const Sum value = sums[r * @SUMS_ROW@ + c * @SUMS_COL@];
      @STORE@
    }
  }
}
)";

// ---- blocked

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

std::string EmitBlocked(const MatmulSpec& spec, Values values, const CpuTarget& target) {
  const int64_t bytes = static_cast<int64_t>(DTypeBytes(spec.accumulate));
  const bool structured =
      spec.a.structure != Structure::kFull || spec.b.structure != Structure::kFull;
  // 384 terms: a panel of b is one and a half times the first-level cache, and streams from the
  // second; measured best of 256, 384 and 512 on Zen 4. Spread evenly.
  const int64_t most_depth = 384 * 4 / bytes;
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
  values["ELEMENT_A"] = Element(spec, spec.a, "a", "row", "(first_k + k)");
  values["ELEMENT_B"] = Element(spec, spec.b, "b", "(first_k + k)", "col");
  // Packing needs the epilogue's parameters only where an element is text of the caller's.
  values["DECLARED_A"] = spec.a.load ? values["DECLARED"] : "";
  values["PASSED_A"] = spec.a.load ? values["PASSED"] : "";
  values["DECLARED_B"] = spec.b.load ? values["DECLARED"] : "";
  values["PASSED_B"] = spec.b.load ? values["PASSED"] : "";
  values["SUMS_ROW"] = "kTileCols";
  values["SUMS_COL"] = "1";
  values["RANGE"] = Fill(RangeText(spec), {{"PASSED", values["PASSED"]}});
  const bool cols_of_a = IsPlain(spec.a) && spec.a.row_stride == 1 && spec.a.col_stride != 1;
  const bool cols_of_b = IsPlain(spec.b) && spec.b.row_stride == 1 && spec.b.col_stride != 1;
  return Fill(std::string(kBlockedHead) + (cols_of_a ? kPackColsOfA : kPackRowsOfA) +
                  (cols_of_b ? kPackColsOfB : kPackRowsOfB) + kStore + kBlockedBody,
              values);
}

// ---- stream and dot: a few "short" rows against many "long" ones

constexpr const char* kNarrowHead = R"(
namespace @NAME@_parts {

using Sum = @SUM@;
constexpr int64_t kBatch = @BATCH@, kDepth = @DEPTH@;
constexpr int64_t kShort = @SHORT@;  // @SHORT_WORD@
constexpr int64_t kLong = @LONG@;  // @LONG_WORD@
constexpr int64_t kBlock = @BLOCK@;  // of the long side, for one job
)";

constexpr const char* kStreamBody = R"(
// Every element of the large operand is read once, in the order of memory; the sums stay in the first-level cache.
static void MultiplyBlock(@A@, @B@, int64_t batch, int64_t first, int64_t count@DECLARED@) {
  alignas(64) Sum sums[kShort * kBlock] = {};
  int64_t k = 0;
  for (; k + 4 <= kDepth; k += 4) {
    for (int64_t s = 0; s < kShort; ++s) {
      Sum* to = sums + s * kBlock;
      const Sum f0 = @FACTOR0@, f1 = @FACTOR1@;
      const Sum f2 = @FACTOR2@, f3 = @FACTOR3@;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        to[i] += f0 * @STREAM0@ + f1 * @STREAM1@ +
                 f2 * @STREAM2@ + f3 * @STREAM3@;
      }
    }
  }
  for (; k < kDepth; ++k) {
    for (int64_t s = 0; s < kShort; ++s) {
      Sum* to = sums + s * kBlock;
      const Sum f0 = @FACTOR0@;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) to[i] += f0 * @STREAM0@;
    }
  }
  @STORE_CALL@
}
)";

constexpr const char* kDotBody = R"(
// Vectors run along the sums, which are contiguous in both operands; four rows share what is loaded of the fifth.
static void MultiplyBlock(@A@, @B@, int64_t batch, int64_t first, int64_t count@DECLARED@) {
  Sum sums[kShort * kBlock];
  for (int64_t s = 0; s < kShort; ++s) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      Sum s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (int64_t k = 0; k < kDepth; ++k) {
        const Sum factor = @FACTOR0@;
        s0 += factor * @LONG0@;
        s1 += factor * @LONG1@;
        s2 += factor * @LONG2@;
        s3 += factor * @LONG3@;
      }
      Sum* to = sums + s * kBlock + i;
      to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
    for (; i < count; ++i) {
      Sum s0 = 0;
#pragma omp simd reduction(+ : s0)
      for (int64_t k = 0; k < kDepth; ++k) s0 += @FACTOR0@ * @LONG0@;
      sums[s * kBlock + i] = s0;
    }
  }
  @STORE_CALL@
}
)";

constexpr const char* kNarrowTail = R"(
}  // namespace @NAME@_parts

static void @NAME@(@A@, @B@@DECLARED@, int threads) {
  using namespace @NAME@_parts;
  const int team = static_cast<int>(tiles::Least(threads, @MOST_THREADS@));
  constexpr int64_t blocks = tiles::CeilDiv(kLong, kBlock);
#pragma omp parallel for num_threads(team)
  for (int64_t job = 0; job < kBatch * blocks; ++job) {
    const int64_t first = job % blocks * kBlock;
    MultiplyBlock(a, b, job / blocks, first, tiles::Least(kBlock, kLong - first)@PASSED@);
  }
}
)";

std::string EmitNarrow(const MatmulSpec& spec, Values values, bool short_is_a, bool dot) {
  values["SHORT"] = Number(short_is_a ? spec.m : spec.n);
  values["LONG"] = Number(short_is_a ? spec.n : spec.m);
  values["SHORT_WORD"] = short_is_a ? "rows of a" : "columns of b";
  values["LONG_WORD"] = short_is_a ? "columns of b" : "rows of a";
  // A job of a stream reads runs of 4 KiB of each row where there are enough of them.
  const int64_t run = std::clamp<int64_t>((short_is_a ? spec.n : spec.m) / 4 / 64 * 64, 256, 1024);
  values["BLOCK"] = Number(dot ? 64 : run);
  values["SUMS_ROW"] = short_is_a ? "kBlock" : "1";
  values["SUMS_COL"] = short_is_a ? "1" : "kBlock";
  values["STORE_CALL"] =
      "Store(sums, batch, " +
      std::string(short_is_a ? "0, kShort, first, count" : "first, count, 0, kShort") +
      values["PASSED"] + ");";
  for (int i = 0; i < 4; ++i) {
    const std::string number = Number(i);
    const std::string plus = i == 0 ? "" : " + " + number;
    const std::string k = i == 0 ? "k" : "(k" + plus + ")";
    const std::string at = "(first + i)";
    const std::string next = "(first + i" + plus + ")";
    const auto short_text = [&](const std::string& term) {
      return short_is_a ? Element(spec, spec.a, "a", "s", term)
                        : Element(spec, spec.b, "b", term, "s");
    };
    const auto long_text = [&](const std::string& index, const std::string& term) {
      return short_is_a ? Element(spec, spec.b, "b", term, index)
                        : Element(spec, spec.a, "a", index, term);
    };
    values["FACTOR" + number] = short_text(k);
    values["STREAM" + number] = long_text(at, k);
    values["LONG" + number] = long_text(next, "k");
  }
  return Fill(std::string(kNarrowHead) + kStore + (dot ? kDotBody : kStreamBody) + kNarrowTail,
              values);
}

// ---- forms without sums

constexpr const char* kElementwise = R"(
namespace @NAME@_parts {

using Sum = @SUM@;

}  // namespace @NAME@_parts

// @WHY@
static void @NAME@(@A@, @B@@DECLARED@, int threads) {
  using namespace @NAME@_parts;
  const int team = static_cast<int>(tiles::Least(threads, @MOST_THREADS@));
#pragma omp parallel for collapse(2) num_threads(team)
  for (int64_t batch = 0; batch < @BATCH@; ++batch) {
    for (int64_t row = 0; row < @ROWS@; ++row) {
      @BEFORE_ROW@
#pragma omp simd
      for (int64_t col = 0; col < @COLS@; ++col) {
        const Sum value = @VALUE@;
        @STORE@
      }
    }
  }
}
)";

std::string EmitElementwise(Values values, const std::string& value, const std::string& why) {
  values["VALUE"] = value;
  values["WHY"] = why;
  return Fill(kElementwise, values);
}

constexpr const char* kNothing = R"(
// The product has no element.
static void @NAME@(@A@, @B@@DECLARED@, int threads) {}
)";

// ---- split

constexpr const char* kSplit = R"(
// The sums are long and few: their chunks are computed as a batch, and added here.
static void @NAME@(@A@, @B@@DECLARED@, int threads) {
  using Sum = @SUM@;
  constexpr int64_t rows = @ROWS@, cols = @COLS@, chunks = @CHUNKS@;
  Sum* partial = tiles::Scratch<Sum>(3, @BATCH@ * chunks * rows * cols);
  @NAME@_chunks(a, b, partial@PASSED@, threads);
  for (int64_t batch = 0; batch < @BATCH@; ++batch) {
    for (int64_t row = 0; row < rows; ++row) {
      @BEFORE_ROW@
      for (int64_t col = 0; col < cols; ++col) {
        Sum value = 0;
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
          value += partial[((batch * chunks + chunk) * rows + row) * cols + col];
        }
        for (int64_t k = @DONE@; k < @DEPTH@; ++k) value += @ELEMENT_A@ * @ELEMENT_B@;
        @STORE@
      }
    }
  }
}
)";

std::string EmitSplit(const MatmulSpec& spec, const Epilogue& epilogue, Values values,
                      int64_t chunks, const CpuTarget& target) {
  MatmulSpec part = spec;
  part.k = spec.k / chunks;
  part.batch.push_back(chunks);
  part.a.batch_strides.push_back(part.k * spec.a.col_stride);
  part.b.batch_strides.push_back(part.k * spec.b.row_stride);
  Epilogue keep;
  keep.parameters = {{ElementType(spec.accumulate) + "*", "partial"}};
  keep.parameters.insert(keep.parameters.end(), epilogue.parameters.begin(),
                         epilogue.parameters.end());
  keep.store = [rows = spec.m, cols = spec.n](const OutputSite& at) {
    return "partial[(" + at.batch + " * " + Number(rows) + " + " + at.row + ") * " + Number(cols) +
           " + " + at.col + "] = " + at.value + ";";
  };
  values["CHUNKS"] = Number(chunks);
  values["DONE"] = Number(part.k * chunks);
  values["ELEMENT_A"] = Element(spec, spec.a, "a", "row", "k");
  values["ELEMENT_B"] = Element(spec, spec.b, "b", "k", "col");
  return EmitMatmulForm(part, values["NAME"] + "_chunks", keep, ChooseMatmulForm(part), target) +
         Fill(kSplit, values);
}

Status CheckOperand(const MatmulSpec& spec, const Operand& operand, const char* name) {
  if (!CanBeElement(operand.dtype)) {
    return InvalidInput(std::string("matmul: operand ") + name + " is of type " +
                        DTypeName(operand.dtype) + ", which no product is emitted for");
  }
  if (!operand.load && operand.batch_strides.size() != spec.batch.size()) {
    return InvalidInput(std::string("matmul: operand ") + name + " has " +
                        Number(static_cast<int64_t>(operand.batch_strides.size())) +
                        " batch strides for " + Number(static_cast<int64_t>(spec.batch.size())) +
                        " batch dimensions");
  }
  return {};
}

bool IsFull(const MatmulSpec& spec) {
  return spec.a.structure == Structure::kFull && spec.b.structure == Structure::kFull;
}

// Whether all batches share b and their rows of a follow each other: one product with more rows, of
// which b is packed once. Gives the stride of those rows.
std::optional<int64_t> FoldedRowStride(const MatmulSpec& spec) {
  if (spec.a.load || spec.b.load || !IsFull(spec) || Product(spec.batch) < 2) return std::nullopt;
  for (const int64_t stride : spec.b.batch_strides) {
    if (stride != 0) return std::nullopt;
  }
  std::vector<int64_t> sizes = spec.batch;
  std::vector<int64_t> strides = spec.a.batch_strides;
  sizes.push_back(spec.m);
  strides.push_back(spec.a.row_stride);
  std::optional<int64_t> inner;  // stride of the innermost dimension that counts
  int64_t follows = 0;           // stride the next one outwards must have
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (inner.has_value() && strides[i] != follows) return std::nullopt;
    if (!inner.has_value()) inner = strides[i];
    follows = strides[i] * sizes[i];
  }
  return inner;
}

Result<std::string> EmitFolded(const MatmulSpec& spec, int64_t row_stride, const std::string& name,
                               const Epilogue& epilogue, const CpuTarget& target) {
  MatmulSpec folded = spec;
  folded.m = Product(spec.batch) * spec.m;
  folded.batch.clear();
  folded.a.batch_strides.clear();
  folded.b.batch_strides.clear();
  folded.a.row_stride = row_stride;
  const auto site = [rows = spec.m](OutputSite at) {
    at.batch = "(" + at.row + " / " + Number(rows) + ")";
    at.row = "(" + at.row + " % " + Number(rows) + ")";
    return at;
  };
  Epilogue mapped = epilogue;
  mapped.store = [=](const OutputSite& at) { return epilogue.store(site(at)); };
  if (epilogue.before_row) {
    mapped.before_row = [=](const OutputSite& at) { return epilogue.before_row(site(at)); };
  }
  return EmitMatmul(folded, name, mapped, target);
}

}  // namespace

Status CheckMatmul(const MatmulSpec& spec) {
  KERF_RETURN_IF_ERROR(CheckOperand(spec, spec.a, "a"));
  KERF_RETURN_IF_ERROR(CheckOperand(spec, spec.b, "b"));
  if (!CanBeAccumulated(spec.accumulate)) {
    return InvalidInput(std::string("matmul: sums cannot be kept in ") +
                        DTypeName(spec.accumulate));
  }
  return {};
}

MatmulForm ChooseMatmulForm(const MatmulSpec& spec) {
  if (Product(spec.batch) * spec.m * spec.n == 0) return MatmulForm::kNothing;
  if (spec.k == 0) return MatmulForm::kZero;
  if (spec.a.structure == Structure::kDiagonal || spec.b.structure == Structure::kDiagonal) {
    return MatmulForm::kDiagonal;
  }
  if (!IsFull(spec) || !IsPlain(spec.a) || !IsPlain(spec.b)) return MatmulForm::kBlocked;
  const bool along =
      (spec.a.col_stride == 1 || spec.k == 1) && (spec.b.row_stride == 1 || spec.k == 1);
  if (spec.m <= kMostShort && spec.m <= spec.n) {
    if (spec.b.col_stride == 1 || spec.n == 1) return MatmulForm::kStreamB;
    if (along) return MatmulForm::kDotB;
  } else if (spec.n <= kMostShort) {
    if (spec.a.row_stride == 1) return MatmulForm::kStreamA;
    if (along) return MatmulForm::kDotA;
  }
  return MatmulForm::kBlocked;
}

int64_t ChooseDepthChunks(const MatmulSpec& spec, MatmulForm form) {
  if (!IsFull(spec) || !IsPlain(spec.a) || !IsPlain(spec.b) || spec.k < 4096) return 1;
  const int64_t batch = Product(spec.batch);
  int64_t jobs = batch;
  switch (form) {
    case MatmulForm::kBlocked:
      jobs *= CeilDiv(spec.m, 56) * CeilDiv(spec.n, 128);
      break;
    case MatmulForm::kStreamA:
    case MatmulForm::kStreamB:
      jobs *= CeilDiv(std::max(spec.m, spec.n), 256);
      break;
    case MatmulForm::kDotA:
    case MatmulForm::kDotB:
      jobs *= CeilDiv(std::max(spec.m, spec.n), 64);
      break;
    default:
      return 1;
  }
  // Sixteen jobs are enough to balance the threads of a large machine; partial sums are kept small.
  const int64_t chunks = std::min(CeilDiv(16, jobs), spec.k / 1024);
  const bool fits = batch * spec.m * spec.n * chunks <= (int64_t{1} << 20);
  return jobs >= 4 || !fits ? 1 : std::max<int64_t>(chunks, 1);
}

std::string EmitMatmulForm(const MatmulSpec& spec, const std::string& function_name,
                           const Epilogue& epilogue, MatmulForm form, const CpuTarget& target) {
  const Values values = CommonValues(spec, function_name, epilogue);
  switch (form) {
    case MatmulForm::kNothing:
      return Fill(kNothing, values);
    case MatmulForm::kZero:
      return EmitElementwise(values, "0", "A sum without terms is zero.");
    case MatmulForm::kDiagonal: {
      const std::string term = spec.a.structure == Structure::kDiagonal ? "row" : "col";
      const std::string outside =
          spec.a.structure != Structure::kDiagonal || spec.m <= spec.k
              ? (term == "col" && spec.n > spec.k ? "col < " + Number(spec.k) : "")
              : "row < " + Number(spec.k);
      const std::string product =
          Element(spec, spec.a, "a", "row", term) + " * " + Element(spec, spec.b, "b", term, "col");
      return EmitElementwise(
          values, outside.empty() ? product : outside + " ? " + product + " : 0",
          "One operand is diagonal: a single term of each sum can differ from zero.");
    }
    case MatmulForm::kStreamA:
      return EmitNarrow(spec, values, false, false);
    case MatmulForm::kStreamB:
      return EmitNarrow(spec, values, true, false);
    case MatmulForm::kDotA:
      return EmitNarrow(spec, values, false, true);
    case MatmulForm::kDotB:
      return EmitNarrow(spec, values, true, true);
    case MatmulForm::kBlocked:
      break;
  }
  return EmitBlocked(spec, values, target);
}

Result<std::string> EmitMatmul(const MatmulSpec& spec, const std::string& function_name,
                               const Epilogue& epilogue, const CpuTarget& target) {
  KERF_RETURN_IF_ERROR(CheckParameters(epilogue));
  KERF_RETURN_IF_ERROR(CheckMatmul(spec));
  if (const auto stride = FoldedRowStride(spec)) {
    return EmitFolded(spec, *stride, function_name, epilogue, target);
  }
  const MatmulForm form = ChooseMatmulForm(spec);
  const int64_t chunks = ChooseDepthChunks(spec, form);
  if (chunks > 1) {
    return EmitSplit(spec, epilogue, CommonValues(spec, function_name, epilogue), chunks, target);
  }
  return EmitMatmulForm(spec, function_name, epilogue, form, target);
}

}  // namespace kerf::synth
