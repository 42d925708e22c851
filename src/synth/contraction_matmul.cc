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

// Most rows (or columns) of the small side of a product that is bound by memory.
constexpr int64_t kMostShort = 4;
bool IsPlain(const Operand& operand) { return !operand.load; }

FormValues CommonValues(const MatmulSpec& spec, const std::string& name, const Epilogue& epilogue) {
  FormValues values;
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

// ---- forms without sums

constexpr const char* kElementwiseMatmul = R"(
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

std::string EmitElementwise(FormValues values, const std::string& value, const std::string& why) {
  values["VALUE"] = value;
  values["WHY"] = why;
  return Fill(kElementwiseMatmul, values);
}

constexpr const char* kNothingOfMatmul = R"(
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

std::string EmitSplit(const MatmulSpec& spec, const Epilogue& epilogue, FormValues values,
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
  values["ELEMENT_A"] = ProductElement(spec, spec.a, "a", "row", "k");
  values["ELEMENT_B"] = ProductElement(spec, spec.b, "b", "k", "col");
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

const char* const kStoreSums = R"(
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

std::string ProductElement(const MatmulSpec& spec, const Operand& operand,
                           const std::string& pointer, const std::string& row,
                           const std::string& col) {
  return OperandElement(operand, spec.batch, spec.accumulate, pointer, row, col);
}

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
  const FormValues values = CommonValues(spec, function_name, epilogue);
  switch (form) {
    case MatmulForm::kNothing:
      return Fill(kNothingOfMatmul, values);
    case MatmulForm::kZero:
      return EmitElementwise(values, "0", "A sum without terms is zero.");
    case MatmulForm::kDiagonal: {
      const std::string term = spec.a.structure == Structure::kDiagonal ? "row" : "col";
      const std::string outside =
          spec.a.structure != Structure::kDiagonal || spec.m <= spec.k
              ? (term == "col" && spec.n > spec.k ? "col < " + Number(spec.k) : "")
              : "row < " + Number(spec.k);
      const std::string product = ProductElement(spec, spec.a, "a", "row", term) + " * " +
                                  ProductElement(spec, spec.b, "b", term, "col");
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
