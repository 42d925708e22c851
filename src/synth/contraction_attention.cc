// Attention without the matrix of scores in memory: a job packs keys and values of one batch once;
// a tile of queries then meets them block by block, keeping for each query the largest score so
// far, the sum of weights relative to it, and the weighted sum of values (the online softmax of
// Milakov and Gimelshein, used as Dao et al. do).
#include <algorithm>

#include "synth/contraction.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

using Values = std::map<std::string, std::string>;

constexpr const char* kAttentionText = R"(
namespace @NAME@_parts {

using Sum = @SUM@;
constexpr int64_t kBatch = @BATCH@, kQueries = @QUERIES@, kKeys = @KEYS@;
constexpr int64_t kDepth = @DEPTH@, kValueDepth = @VALUE_DEPTH@;

// Queries are taken a tile at a time, keys in blocks whose scores stay in the first-level cache.
constexpr int kKeyVectors = tiles::TileVectors<Sum>(kKeys);
constexpr int kValueVectors = tiles::TileVectors<Sum>(kValueDepth);
constexpr int64_t kTileKeys = kKeyVectors * tiles::kLanes<Sum>;
constexpr int64_t kTileValues = kValueVectors * tiles::kLanes<Sum>;
constexpr int64_t kTileRows = tiles::TileRows(kQueries, tiles::Most(kKeyVectors, kValueVectors));
constexpr int64_t kKeyBlock = tiles::RoundUp(tiles::Least(kKeys, 256), kTileKeys);
constexpr int64_t kPaddedKeys = tiles::RoundUp(kKeys, kKeyBlock);
constexpr int64_t kPaddedDepth = tiles::RoundUp(kValueDepth, kTileValues);
constexpr int64_t kScoreRow = kKeyBlock + 16;  // rows a power of two apart would share cache sets
constexpr Sum kNone = -std::numeric_limits<Sum>::infinity();

// Panels of kTileKeys keys, each with one row for every column of k.
static void PackKeys(@K_POINTER@, int64_t batch, Sum* packed@DECLARED_K@) {
  for (int64_t first = 0; first < kPaddedKeys; first += kTileKeys) {
    for (int64_t i = 0; i < kTileKeys; ++i) {
      const int64_t key = first + i;
      Sum* to = packed + first * kDepth + i;
      for (int64_t d = 0; d < kDepth; ++d) to[d * kTileKeys] = key < kKeys ? @ELEMENT_K@ : Sum(0);
    }
  }
}

// Panels of kTileValues columns of v, each with one row for every key; what pads the keys is zero.
static void PackValues(@V_POINTER@, int64_t batch, Sum* packed@DECLARED_V@) {
  for (int64_t first = 0; first < kPaddedDepth; first += kTileValues) {
    const int64_t width = tiles::Least(kTileValues, kValueDepth - first);
    for (int64_t key = 0; key < kPaddedKeys; ++key) {
      Sum* to = packed + first * kPaddedKeys + key * kTileValues;
      if (key >= kKeys) {
        std::memset(to, 0, kTileValues * sizeof(Sum));
        continue;
      }
#pragma omp simd
      for (int64_t i = 0; i < width; ++i) {
        const int64_t c = first + i;
        to[i] = @ELEMENT_V@;
      }
      for (int64_t i = width; i < kTileValues; ++i) to[i] = 0;
    }
  }
}

// One tile of queries as factors, scaled.
static void PackQueries(@Q_POINTER@, int64_t batch, int64_t first_query, int64_t rows, Sum* packed@DECLARED_Q@) {
  for (int64_t r = 0; r < kTileRows; ++r) {
    const int64_t query = first_query + r;
    Sum* to = packed + r * kDepth;
    for (int64_t d = 0; d < kDepth; ++d) to[d] = r < rows ? @ELEMENT_Q@ * Sum(@SCALE@) : Sum(0);
  }
}

// What is known of a query: its largest score, and the sum of its weights relative to that.
struct Softmax {
  Sum largest = kNone;
  Sum total = 0;
};

// Turns the scores of one query into weights; `sums` are its weighted values so far.
static inline void Weigh(Sum* scores, int64_t count, Softmax& state, Sum* sums) {
  Sum largest = state.largest;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < count; ++i) largest = scores[i] > largest ? scores[i] : largest;
  if (largest > state.largest) {
    const Sum shrink = state.total == 0 ? Sum(0) : tiles::ExpOfNegative(state.largest - largest);
    state.total *= shrink;
#pragma omp simd
    for (int64_t c = 0; c < kPaddedDepth; ++c) sums[c] *= shrink;
    state.largest = largest;
  }
  // Without a finite score so far, weights are relative to 0: they vanish, or are the NaN they come from.
  const Sum base = largest == kNone ? Sum(0) : largest;
  Sum total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < count; ++i) {
    scores[i] = tiles::ExpOfNegative(scores[i] - base);
    total += scores[i];
  }
  state.total += total;
}

// Takes the finished values of one query.
static inline void Store(const Sum* sums, Sum total, int64_t batch, int64_t row@DECLARED@) {
  @BEFORE_ROW@
#pragma omp simd
  for (int64_t col = 0; col < kValueDepth; ++col) {
    const Sum value = @VALUE@;
    @STORE@
  }
}

static void AttendTile(@Q_POINTER@, @MASK_POINTER@int64_t batch, int64_t first_query, int64_t rows,
                       const Sum* keys, const Sum* values@DECLARED@) {
  Sum* queries = tiles::Scratch<Sum>(2, kTileRows * (kDepth + kScoreRow + kPaddedDepth));
  Sum* scores = queries + kTileRows * kDepth;
  Sum* sums = scores + kTileRows * kScoreRow;
  Softmax state[kTileRows];
  PackQueries(q, batch, first_query, rows, queries@PASSED_Q@);
  std::memset(sums, 0, kTileRows * kPaddedDepth * sizeof(Sum));
  const int64_t last_key = @LAST_KEY@;
  for (int64_t first_key = 0; first_key < last_key; first_key += kKeyBlock) {
    const int64_t count = tiles::Least(kKeyBlock, last_key - first_key);
    for (int64_t i = 0; i < count; i += kTileKeys) {
      tiles::MultiplyTile<Sum, kTileRows, kKeyVectors, kDepth, 1, kTileKeys, kScoreRow>(
          kDepth, queries, keys + (first_key + i) * kDepth, scores + i, true);
    }
    for (int64_t r = 0; r < rows; ++r) {
      @MASK_SCORES@
      Weigh(scores + r * kScoreRow, count, state[r], sums + r * kPaddedDepth);
    }
    for (int64_t c = 0; c < kPaddedDepth; c += kTileValues) {
      tiles::MultiplyTile<Sum, kTileRows, kValueVectors, kScoreRow, 1, kTileValues, kPaddedDepth>(
          count, scores, values + c * kPaddedKeys + first_key * kTileValues, sums + c, false);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    Store(sums + r * kPaddedDepth, state[r].total, batch, first_query + r@PASSED@);
  }
}

}  // namespace @NAME@_parts

static void @NAME@(@Q_POINTER@, @K_POINTER@, @V_POINTER@@MASK_PARAMETER@@DECLARED@, int threads) {
  using namespace @NAME@_parts;
  const int team = static_cast<int>(tiles::Least(threads, @MOST_THREADS@));
  // Queries of one batch are shared out where there are few batches; each job packs keys and values again.
  constexpr int64_t parts = @PARTS@;
  constexpr int64_t part_rows = tiles::RoundUp(tiles::CeilDiv(kQueries, parts), kTileRows);
#pragma omp parallel for num_threads(team) schedule(dynamic)
  for (int64_t job = 0; job < kBatch * parts; ++job) {
    const int64_t batch = job / parts;
    const int64_t begin = job % parts * part_rows;
    const int64_t end = tiles::Least(kQueries, begin + part_rows);
    if (begin >= end) continue;
    Sum* keys = tiles::Scratch<Sum>(0, kPaddedKeys * kDepth);
    Sum* values = tiles::Scratch<Sum>(1, kPaddedKeys * kPaddedDepth);
    PackKeys(k, batch, keys@PASSED_K@);
    PackValues(v, batch, values@PASSED_V@);
    for (int64_t query = begin; query < end; query += kTileRows) {
      AttendTile(q, @MASK_ARGUMENT@batch, query, tiles::Least(kTileRows, end - query), keys, values@PASSED@);
    }
  }
}
)";

constexpr const char* kNoKeys = R"(
// Without keys the weighted sums are empty.
static void @NAME@(@Q_POINTER@, @K_POINTER@, @V_POINTER@@MASK_PARAMETER@@DECLARED@, int threads) {
  using Sum = @SUM@;
  for (int64_t batch = 0; batch < @BATCH@; ++batch) {
    for (int64_t row = 0; row < @QUERIES@; ++row) {
      @BEFORE_ROW@
      for (int64_t col = 0; col < @VALUE_DEPTH@; ++col) {
        const Sum value = 0;
        @STORE@
      }
    }
  }
}
)";

// Statements that take the mask to the scores of query r.
std::string MaskText(const AttentionSpec& spec) {
  std::string text;
  const std::string head =
      "#pragma omp simd\nfor (int64_t i = 0; i < count; ++i) {\n  Sum& score = scores[r * "
      "kScoreRow + i];\n";
  const auto element = [&](DType type) {
    return OperandElement(spec.mask_operand, spec.batch, type, "mask", "(first_query + r)",
                          "(first_key + i)");
  };
  if (spec.score) {
    text += head + "  score = " +
            spec.score({"score", "batch", "(first_query + r)", "(first_key + i)", {}}) + ";\n}\n";
  }
  if (spec.mask == AttentionSpec::Mask::kAdded) {
    text += head + "  score += " + element(spec.accumulate) + ";\n}\n";
  } else if (spec.mask == AttentionSpec::Mask::kKept) {
    text += head + "  score = " + element(spec.mask_operand.dtype) + " ? score : kNone;\n}\n";
  }
  if (spec.causal) {
    text +=
        "if (first_key + count > first_query + r + 1) {\n"
        "  for (int64_t i = tiles::Most(0, first_query + r + 1 - first_key); i < count; ++i) {\n"
        "    scores[r * kScoreRow + i] = kNone;\n  }\n}\n";
  }
  return text;
}

std::string ScaleText(double scale) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", scale);
  return text;
}

void SetOperand(const AttentionSpec& spec, const Epilogue& epilogue, const Operand& operand,
                const std::string& name, const std::string& row, const std::string& col,
                Values& values) {
  const std::string upper(1, static_cast<char>(name[0] - 'a' + 'A'));
  values[upper + "_POINTER"] = PointerType(operand.dtype) + " " + name;
  values["ELEMENT_" + upper] = OperandElement(operand, spec.batch, spec.accumulate, name, row, col);
  values["DECLARED_" + upper] = operand.load ? DeclaredParameters(epilogue.parameters) : "";
  values["PASSED_" + upper] = operand.load ? PassedParameters(epilogue.parameters) : "";
}

void SetMask(const AttentionSpec& spec, Values& values) {
  const bool masked = spec.mask != AttentionSpec::Mask::kNone;
  const std::string pointer = PointerType(spec.mask_operand.dtype) + " mask";
  values["MASK_POINTER"] = masked ? pointer + ", " : "";
  values["MASK_PARAMETER"] = masked ? ", " + pointer : "";
  values["MASK_ARGUMENT"] = masked ? "mask, " : "";
  values["MASK_SCORES"] = MaskText(spec);
  values["LAST_KEY"] = spec.causal ? "tiles::Least(kKeys, first_query + rows)" : "kKeys";
}

Status CheckAttention(const AttentionSpec& spec) {
  const auto refuse = [](const std::string& what) { return InvalidInput("attention: " + what); };
  if (spec.accumulate != DType::kFloat32 && spec.accumulate != DType::kFloat64) {
    return refuse(std::string("sums cannot be kept in ") + DTypeName(spec.accumulate));
  }
  std::vector<const Operand*> operands = {&spec.q, &spec.k, &spec.v};
  for (const Operand* operand : operands) {
    if (!CanBeElement(operand->dtype) || !IsFloat(operand->dtype)) {
      return refuse(std::string("none is emitted for ") + DTypeName(operand->dtype));
    }
  }
  if (spec.mask != AttentionSpec::Mask::kNone) operands.push_back(&spec.mask_operand);
  for (const Operand* operand : operands) {
    if (!operand->load && operand->batch_strides.size() != spec.batch.size()) {
      return refuse("an operand has not as many batch strides as there are batch dimensions");
    }
  }
  const bool is_flag =
      spec.mask_operand.dtype == DType::kBool || spec.mask_operand.dtype == DType::kUInt8;
  if (spec.mask == AttentionSpec::Mask::kKept && !is_flag)
    return refuse("a mask that keeps is of type bool");
  return {};
}

}  // namespace

Result<std::string> EmitAttention(const AttentionSpec& spec, const std::string& function_name,
                                  const Epilogue& epilogue, const CpuTarget&) {
  KERF_RETURN_IF_ERROR(CheckParameters(epilogue));
  KERF_RETURN_IF_ERROR(CheckAttention(spec));
  const int64_t batch = Product(spec.batch);
  Values values;
  values["NAME"] = function_name;
  values["SUM"] = ElementType(spec.accumulate);
  values["BATCH"] = Number(batch);
  values["QUERIES"] = Number(spec.queries);
  values["KEYS"] = Number(spec.keys);
  values["DEPTH"] = Number(spec.depth);
  values["VALUE_DEPTH"] = Number(spec.value_depth);
  values["SCALE"] = ScaleText(spec.scale);
  SetOperand(spec, epilogue, spec.q, "q", "query", "d", values);
  SetOperand(spec, epilogue, spec.k, "k", "key", "d", values);
  SetOperand(spec, epilogue, spec.v, "v", "key", "c", values);
  SetMask(spec, values);
  values["DECLARED"] = DeclaredParameters(epilogue.parameters);
  values["PASSED"] = PassedParameters(epilogue.parameters);
  values["STORE"] = epilogue.store({"value", "batch", "row", "col", {}});
  values["BEFORE_ROW"] =
      epilogue.before_row ? epilogue.before_row({"", "batch", "row", "", {}}) : "";
  values["VALUE"] =
      spec.empty_rows_are_zero ? "total == 0 ? Sum(0) : sums[col] / total" : "sums[col] / total";
  // Sixteen jobs balance the threads; a part of fewer than 64 queries would pack more than it
  // computes.
  values["PARTS"] = Number(std::clamp<int64_t>(CeilDiv(16, std::max<int64_t>(batch, 1)), 1,
                                               std::max<int64_t>(spec.queries / 64, 1)));
  const double work = 2.0 * static_cast<double>(batch * spec.queries) *
                      static_cast<double>(spec.keys) *
                      static_cast<double>(spec.depth + spec.value_depth);
  values["MOST_THREADS"] = Number(std::clamp<int64_t>(static_cast<int64_t>(work / 5e5), 1, 1024));
  const bool empty = batch * spec.queries * spec.keys * spec.value_depth == 0;
  return Fill(empty ? kNoKeys : kAttentionText, values);
}

}  // namespace kerf::synth
