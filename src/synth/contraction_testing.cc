#include "synth/contraction_testing.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/subprocess.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

using Values = std::map<std::string, std::string>;

constexpr const char* kHead = R"(#include <cstdio>
#include <vector>

// Whole numbers from -4 to 3.
struct Numbers {
  uint32_t state = 1;
  int Next() {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>(state >> 29) - 4;
  }
};
template <typename T>
std::vector<T> Made(int64_t count, Numbers& numbers, T (*encode)(int)) {
  std::vector<T> made(count);
  for (T& element : made) element = encode(numbers.Next());
  return made;
}
static float Plain(float x) { return x; }
static double Plain(double x) { return x; }
static uint16_t HalfBits(int x) {
  const _Float16 half = static_cast<_Float16>(x);
  return std::bit_cast<uint16_t>(half);
}
static uint16_t BfloatBits(int x) { return static_cast<uint16_t>(tiles::ToBits(x) >> 16); }
template <typename T>
T Same(int x) { return static_cast<T>(x); }
static bool Differs(const char* name, int64_t at, double got, double want) {
  std::printf("%s: element %lld is %.17g, not %.17g\n", name, static_cast<long long>(at), got, want);
  return false;
}
)";

std::string Encoder(DType dtype) {
  if (dtype == DType::kFloat16) return "HalfBits";
  if (dtype == DType::kBFloat16) return "BfloatBits";
  return "Same<" + ElementType(dtype) + ">";
}

Values TypeValues(const std::string& name, DType dtype, DType accumulate) {
  return {{"NAME", name},
          {"T", ElementType(dtype)},
          {"S", ElementType(accumulate)},
          {"ENCODE", Encoder(dtype)},
          {"PLAIN", Converted(dtype, accumulate, "x")}};
}

constexpr const char* kMatmulCheck = R"(
static bool Check_@NAME@(int threads) {
  constexpr int64_t batches = @BATCH@, m = @M@, n = @N@, k = @K@;
  Numbers numbers;
  std::vector<@T@> a = Made<@T@>(batches * m * k, numbers, @ENCODE@);
  std::vector<@T@> b = Made<@T@>(batches * k * n, numbers, @ENCODE@);
  const auto at_a = [](int64_t batch, int64_t i, int64_t j) { return @AT_A@; };
  const auto at_b = [](int64_t batch, int64_t i, int64_t j) { return @AT_B@; };
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < k; ++j) if (!(@KEPT_A@)) a[at_a(batch, i, j)] = 0;
    }
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < n; ++j) if (!(@KEPT_B@)) b[at_b(batch, i, j)] = 0;
    }
  }
  std::vector<@S@> bias(m, 3), y(batches * m * n, 77);
  @NAME@(a.data(), b.data(), bias.data(), y.data(), threads);
  const auto plain = [](@T@ x) { return @PLAIN@; };
  for (int64_t o = 0; o < batches * m * n; ++o) {
    const int64_t batch = o / (m * n), i = o / n % m, j = o % n;
    @S@ sum = bias[i];
    for (int64_t t = 0; t < k; ++t) sum += plain(a[at_a(batch, i, t)]) * plain(b[at_b(batch, t, j)]);
    if (y[o] != sum) return Differs("@NAME@", o, y[o], sum);
  }
  return true;
}
)";

std::string Kept(Structure structure) {
  switch (structure) {
    case Structure::kLower:
      return "j <= i";
    case Structure::kUpper:
      return "j >= i";
    case Structure::kDiagonal:
      return "j == i";
    case Structure::kFull:
      break;
  }
  return "true";
}

std::string IndexText(const Operand& operand, const std::vector<int64_t>& batch) {
  return OffsetText(batch, operand.batch_strides, "batch") + " + i * " +
         Number(operand.row_stride) + " + j * " + Number(operand.col_stride);
}

Epilogue BiasAndStore(const std::string& type, int64_t rows, int64_t cols) {
  Epilogue epilogue;
  epilogue.parameters = {{"const " + type + "*", "bias_of_row"}, {type + "*", "y_out"}};
  epilogue.before_row = [type](const OutputSite& at) {
    return "const " + type + " shift = bias_of_row[" + at.row + "];";
  };
  epilogue.store = [=](const OutputSite& at) {
    return "y_out[(" + at.batch + " * " + Number(rows) + " + " + at.row + ") * " + Number(cols) +
           " + " + at.col + "] = " + at.value + " + shift;";
  };
  return epilogue;
}

constexpr const char* kConvCheck = R"(
static bool Check_@NAME@(int threads) {
  constexpr int64_t samples = @SAMPLES@, channels = @CHANNELS@, filters = @FILTERS@, groups = @GROUPS@;
  constexpr int64_t in[3] = {@IN@}, out[3] = {@OUT@}, kernel[3] = {@KERNEL@}, stride[3] = {@STRIDE@};
  constexpr int64_t padding[3] = {@PADDING@}, dilation[3] = {@DILATION@};
  constexpr int64_t in_size = in[0] * in[1] * in[2], out_size = out[0] * out[1] * out[2];
  constexpr int64_t taps = kernel[0] * kernel[1] * kernel[2];
  constexpr int64_t group_channels = channels / groups, group_filters = filters / groups;
  Numbers numbers;
  const std::vector<@T@> x = Made<@T@>(samples * channels * in_size, numbers, @ENCODE@);
  const std::vector<@T@> weight = Made<@T@>(filters * group_channels * taps, numbers, @ENCODE@);
  std::vector<@S@> bias(filters, 5), y(samples * filters * out_size, 77);
  @NAME@(x.data(), weight.data(), bias.data(), y.data(), threads);
  const auto plain = [](@T@ x) { return @PLAIN@; };
  for (int64_t o = 0; o < samples * filters * out_size; ++o) {
    const int64_t sample = o / (filters * out_size), filter = o / out_size % filters;
    const int64_t group = filter / group_filters;
    const int64_t at[3] = {o % out_size / (out[1] * out[2]), o % out_size / out[2] % out[1], o % out[2]};
    @S@ sum = bias[filter];
    for (int64_t c = 0; c < group_channels; ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t tap[3] = {t / (kernel[1] * kernel[2]), t / kernel[2] % kernel[1], t % kernel[2]};
        int64_t from = 0;
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
          int64_t position = at[d] * stride[d] - padding[d] + tap[d] * dilation[d];
          if (@TRANSPOSED@) {
            const int64_t spread = at[d] + padding[d] - tap[d] * dilation[d];
            position = spread < 0 || spread % stride[d] != 0 ? -1 : spread / stride[d];
          }
          inside = inside && position >= 0 && position < in[d];
          from = from * in[d] + position;
        }
        if (!inside) continue;
        const int64_t w = @TRANSPOSED@ ? (group * group_channels + c) * group_filters + filter % group_filters
                                       : filter * group_channels + c;
        sum += plain(x[(sample * channels + group * group_channels + c) * in_size + from]) *
               plain(weight[w * taps + t]);
      }
    }
    if (y[o] != sum) return Differs("@NAME@", o, y[o], sum);
  }
  return true;
}
)";

constexpr const char* kAttentionCheck = R"(
static bool Check_@NAME@(int threads) {
  constexpr int64_t batches = @BATCH@, queries = @QUERIES@, keys = @KEYS@, depth = @DEPTH@, width = @WIDTH@;
  Numbers numbers;
  const std::vector<@T@> q = Made<@T@>(batches * queries * depth, numbers, @ENCODE@);
  const std::vector<@T@> k = Made<@T@>(batches * keys * depth, numbers, @ENCODE@);
  const std::vector<@T@> v = Made<@T@>(batches * keys * width, numbers, @ENCODE@);
  std::vector<@M@> mask(queries * keys);
  for (@M@& element : mask) element = @MASK_NUMBER@;
  // The second query sees nothing.
  for (int64_t j = 0; j < keys && queries > 1 && @KEPT@; ++j) mask[keys + j] = 0;
  std::vector<@S@> bias(queries, 0), y(batches * queries * width, 77);
  @NAME@(q.data(), k.data(), v.data(), @MASK_ARGUMENT@bias.data(), y.data(), threads);
  const auto plain = [](@T@ x) { return static_cast<double>(@PLAIN@); };
  std::vector<double> weights(keys);
  for (int64_t r = 0; r < batches * queries; ++r) {
    const int64_t batch = r / queries, i = r % queries;
    double largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < depth; ++d) score += plain(q[r * depth + d]) * plain(k[(batch * keys + j) * depth + d]);
      score *= @SCALE@;
      if (@ADDED@) score += mask[i * keys + j];
      if ((@KEPT@ && mask[i * keys + j] == 0) || (@CAUSAL@ && j > i)) score = -INFINITY;
      weights[j] = score;
      largest = score > largest ? score : largest;
    }
    for (double& weight : weights) {
      weight = largest == -INFINITY ? 0 : std::exp(weight - largest);
      total += weight;
    }
    for (int64_t c = 0; c < width; ++c) {
      double want = 0;
      for (int64_t j = 0; j < keys; ++j) want += weights[j] * plain(v[(batch * keys + j) * width + c]);
      want = total == 0 ? 0 : want / total;
      const double got = y[r * width + c];
      if (!(std::fabs(got - want) <= @BOUND@)) return Differs("@NAME@", r * width + c, got, want);
    }
  }
  return true;
}
)";

std::string Spatial(const ConvSpec& spec, const std::array<int64_t, 3>& sizes, int64_t missing) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const int dim = i - (3 - spec.dims);
    text += (i == 0 ? "" : ", ") + Number(dim < 0 ? missing : sizes[static_cast<size_t>(dim)]);
  }
  return text;
}

// The emitted text, or one that fails to compile with the refusal in it.
std::string TextOf(const Result<std::string>& emitted) {
  return emitted.ok() ? *emitted : "#error " + emitted.error().message + "\n";
}

}  // namespace

MatmulSpec PlainMatmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool a_transposed,
                       bool b_transposed, DType dtype) {
  MatmulSpec spec;
  spec.batch = {batch};
  spec.m = m;
  spec.n = n;
  spec.k = k;
  const auto operand = [&](int64_t rows, int64_t cols, bool transposed) {
    return Operand{dtype, {rows * cols}, transposed ? 1 : cols, transposed ? rows : 1};
  };
  spec.a = operand(m, k, a_transposed);
  spec.b = operand(k, n, b_transposed);
  spec.accumulate = DTypeBytes(dtype) == 2 ? DType::kFloat32 : dtype;
  return spec;
}

AttentionSpec PlainAttention(int64_t batch, int64_t queries, int64_t keys, int64_t depth,
                             int64_t value_depth, DType dtype) {
  AttentionSpec spec;
  spec.batch = {batch};
  spec.queries = queries;
  spec.keys = keys;
  spec.depth = depth;
  spec.value_depth = value_depth;
  spec.q = {dtype, {queries * depth}, depth, 1};
  spec.k = {dtype, {keys * depth}, depth, 1};
  spec.v = {dtype, {keys * value_depth}, value_depth, 1};
  spec.scale = 0.125;
  spec.accumulate = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  return spec;
}

CheckedCase CheckedMatmul(const MatmulSpec& spec, const std::string& name,
                          const CpuTarget& target) {
  Values values = TypeValues(name, spec.a.dtype, spec.accumulate);
  values["BATCH"] = Number(Product(spec.batch));
  values["M"] = Number(spec.m);
  values["N"] = Number(spec.n);
  values["K"] = Number(spec.k);
  values["AT_A"] = IndexText(spec.a, spec.batch);
  values["AT_B"] = IndexText(spec.b, spec.batch);
  values["KEPT_A"] = Kept(spec.a.structure);
  values["KEPT_B"] = Kept(spec.b.structure);
  const Epilogue epilogue = BiasAndStore(values["S"], spec.m, spec.n);
  return {name, TextOf(EmitMatmul(spec, name, epilogue, target)) + Fill(kMatmulCheck, values)};
}

CheckedCase CheckedConv(const ConvSpec& spec, const std::string& name, const CpuTarget& target) {
  Values values = TypeValues(name, spec.dtype, spec.accumulate);
  std::array<int64_t, 3> out = {1, 1, 1};
  int64_t out_size = 1;
  for (int i = 0; i < spec.dims; ++i) {
    out[static_cast<size_t>(i)] = std::max<int64_t>(spec.OutputSize(i), 0);
    out_size *= out[static_cast<size_t>(i)];
  }
  values["SAMPLES"] = Number(spec.batch);
  values["CHANNELS"] = Number(spec.in_channels);
  values["FILTERS"] = Number(spec.out_channels);
  values["GROUPS"] = Number(spec.groups);
  values["IN"] = Spatial(spec, spec.input, 1);
  values["OUT"] = Spatial(spec, out, 1);
  values["KERNEL"] = Spatial(spec, spec.kernel, 1);
  values["STRIDE"] = Spatial(spec, spec.stride, 1);
  values["PADDING"] = Spatial(spec, spec.padding, 0);
  values["DILATION"] = Spatial(spec, spec.dilation, 1);
  values["TRANSPOSED"] = spec.transposed ? "true" : "false";
  Epilogue epilogue = BiasAndStore(values["S"], spec.out_channels, out_size);
  // Through the coordinates, which must agree with the linear position.
  const auto store = epilogue.store;
  epilogue.store = [=](const OutputSite& at) {
    OutputSite same = at;
    same.col = "0";
    for (size_t i = 0; i < at.position.size(); ++i) {
      same.col = "(" + same.col + " * " + Number(out[i]) + " + " + at.position[i] + ")";
    }
    return "if (" + same.col + " != " + at.col + ") std::abort();\n" + store(same);
  };
  return {name, TextOf(EmitConv(spec, name, epilogue, target)) + Fill(kConvCheck, values)};
}

CheckedCase CheckedAttention(const AttentionSpec& spec, const std::string& name,
                             const CpuTarget& target) {
  Values values = TypeValues(name, spec.q.dtype, spec.accumulate);
  const bool kept = spec.mask == AttentionSpec::Mask::kKept;
  const bool added = spec.mask == AttentionSpec::Mask::kAdded;
  values["BATCH"] = Number(Product(spec.batch));
  values["QUERIES"] = Number(spec.queries);
  values["KEYS"] = Number(spec.keys);
  values["DEPTH"] = Number(spec.depth);
  values["WIDTH"] = Number(spec.value_depth);
  values["SCALE"] = std::to_string(spec.scale);
  values["M"] = kept ? "uint8_t" : "float";
  values["MASK_NUMBER"] = kept ? "numbers.Next() > -2" : "numbers.Next()";
  values["MASK_ARGUMENT"] = kept || added ? "mask.data(), " : "";
  values["KEPT"] = kept ? "true" : "false";
  values["ADDED"] = added ? "true" : "false";
  values["CAUSAL"] = spec.causal ? "true" : "false";
  values["BOUND"] = spec.accumulate == DType::kFloat64 ? "1e-13" : "1e-5";
  const Epilogue epilogue = BiasAndStore(values["S"], spec.queries, spec.value_depth);
  return {name,
          TextOf(EmitAttention(spec, name, epilogue, target)) + Fill(kAttentionCheck, values)};
}

std::string RunCases(const std::vector<CheckedCase>& cases, const CpuTarget& target) {
  const char* path = std::getenv("PATH");
  if (!FindProgram("g++", path == nullptr ? "/usr/bin:/bin" : path).has_value()) {
    return "skipped: no g++";
  }
  std::string source;
  std::string calls;
  for (const CheckedCase& one : cases) {
    source += one.text;
    calls += "    right = Check_" + one.name + "(threads) && right;\n";
  }
  source = ContractionPrelude(target, source) + kHead + source;
  source +=
      "\nint main() {\n  bool right = true;\n  for (int threads = 1; threads <= 3; ++threads) {\n" +
      calls + "  }\n  return right ? 0 : 1;\n}\n";
  char folder[] = "/tmp/kerf_contraction_XXXXXX";
  if (::mkdtemp(folder) == nullptr) return "cannot make a folder in /tmp";
  const std::filesystem::path at = folder;
  std::ofstream(at / "cases.cc") << source;
  Command compile{.argv = {"g++", "-std=c++20", "-O1", "-march=native", "-ffp-contract=fast",
                           "-fopenmp", "-w", "-fsanitize=address,undefined",
                           "-fno-sanitize-recover=all", "cases.cc", "-o", "cases"},
                  .cwd = at};
  std::string trouble;
  Result<ProcessOutcome> outcome = RunProcess(compile);
  if (outcome.ok() && outcome->exit_code == 0) {
    // Threads of OpenMP keep their scratch memory to the end of the process.
    Command run{.argv = {"./cases"}, .cwd = at, .environment = {{"ASAN_OPTIONS=detect_leaks=0"}}};
    outcome = RunProcess(run);
  }
  if (!outcome.ok()) {
    trouble = outcome.error().message;
  } else if (outcome->exit_code != 0) {
    trouble = outcome->stdout_text.substr(0, 2000) + outcome->stderr_text.substr(0, 4000);
    if (trouble.empty()) trouble = "ended by signal " + std::to_string(outcome->signal);
  }
  std::filesystem::remove_all(at);
  return trouble;
}

}  // namespace kerf::synth
