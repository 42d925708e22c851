// Whether the budget tells honest kernels from wrong ones. Each operator is computed in several
// honest ways, which must pass, and in a lower precision or with a mistake, which must fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "loop/verify/reduction_length.h"
#include "loop/verify/verify_testing.h"

namespace kerf::verify {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Round = std::function<float(float)>;

float Plain(float x) { return x; }
float ToType(DType dtype, float x) {
  double scratch = 0;
  EncodeElement(dtype, x, &scratch, 0);
  return static_cast<float>(DecodeElement(dtype, &scratch, 0));
}
float Half(float x) { return ToType(DType::kFloat16, x); }
float Brain(float x) { return ToType(DType::kBFloat16, x); }
// TF32 keeps ten bits of the mantissa and float32's exponents.
float Tf32(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000;
  std::memcpy(&x, &bits, 4);
  return x;
}

Floats Inputs(size_t count, uint64_t seed, bool positive = false) {
  const Doubles values = Normal(count, seed);
  Floats floats(values.begin(), values.end());
  if (positive) {
    for (float& x : floats) x = std::fabs(x);
  }
  return floats;
}

float NaiveSum(const float* x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

float BackwardSum(const float* x, size_t n) {
  float sum = 0;
  for (size_t i = n; i-- > 0;) sum += x[i];
  return sum;
}

float BlockedSum(const float* x, size_t n) {
  float lanes[16] = {};
  for (size_t i = 0; i < n; ++i) lanes[i % 16] += x[i];
  return NaiveSum(lanes, 16);
}

float PairwiseSum(const float* x, size_t n) {
  if (n <= 8) return NaiveSum(x, n);
  return PairwiseSum(x, n / 2) + PairwiseSum(x + n / 2, n - n / 2);
}

double ExactSum(const float* x, size_t n) { return std::accumulate(x, x + n, 0.0); }

using Sum = float (*)(const float*, size_t);
constexpr Sum kSums[] = {NaiveSum, BackwardSum, BlockedSum, PairwiseSum};

void ExpectRight(const OwnedTensor& candidate, const Expected& expected, const std::string& what) {
  const Comparison result = CompareTo(candidate, expected);
  EXPECT_TRUE(result.right()) << what << ": " << result.Summary() << "\n"
                              << Budget::Make(expected, 1).ToJson();
}

void ExpectWrong(const OwnedTensor& candidate, const Expected& expected, const std::string& what) {
  const Comparison result = CompareTo(candidate, expected);
  EXPECT_FALSE(result.right()) << what << ": " << result.Summary() << "\n"
                               << Budget::Make(expected, 1).ToJson();
}

// Mistakes that every operator must notice.
void ExpectMistakesFail(const Expected& expected) {
  const TensorSpec& spec = expected.reference.spec;
  const int64_t n = spec.numel();
  OwnedTensor right(spec.dtype, spec.shape);
  std::memcpy(right.bytes.data(), expected.reference.data, right.bytes.size());
  const auto mistake = [&](const char* what, const std::function<double(int64_t)>& value) {
    OwnedTensor candidate = right;
    for (int64_t i = 0; i < n; ++i) candidate.Set(i, value(i));
    ExpectWrong(candidate, expected, what);
  };
  mistake("zeros", [](int64_t) { return 0; });
  mistake("ones", [](int64_t) { return 1; });
  mistake("constant", [&](int64_t) { return right.Get(0); });
  mistake("shifted", [&](int64_t i) { return right.Get((i + 1) % n); });
  mistake("half computed", [&](int64_t i) { return i < n / 2 ? right.Get(i) : 0; });
  mistake("negated", [&](int64_t i) { return -right.Get(i); });
  const double bias = IsFloat(spec.dtype) && DTypeBytes(spec.dtype) >= 4 ? 1e-3 : 0.03;
  mistake("bias", [&](int64_t i) { return right.Get(i) * (1 + bias); });
  const int64_t row = spec.shape.empty() ? 1 : spec.shape.back();
  mistake("last row missing", [&](int64_t i) { return i < n - row ? right.Get(i) : 0; });
  if (spec.shape.size() == 2 && spec.shape[0] > 1 && row > 1) {
    mistake("transposed",
            [&](int64_t i) { return right.Get(i % spec.shape[0] * row + i / spec.shape[0]); });
  }
}

struct Operator {
  OwnedTensor reference;
  OwnedTensor oracle;
  double reduction_length = 1;
  [[nodiscard]] Expected expected() const {
    return {reference.view(), oracle.view(), std::nullopt, reduction_length};
  }
  // The reference is the only thing known.
  [[nodiscard]] Expected weak() const {
    return {reference.view(), std::nullopt, std::nullopt, reduction_length};
  }
};

Floats RowSums(const Floats& x, size_t rows, Sum sum, const Round& round) {
  Floats rounded(x.size());
  std::transform(x.begin(), x.end(), rounded.begin(), round);
  Floats out(rows);
  const size_t n = x.size() / rows;
  for (size_t r = 0; r < rows; ++r) out[r] = sum(rounded.data() + r * n, n);
  return out;
}

Operator SumOperator(const Floats& x, size_t rows, Sum reference) {
  Doubles exact(rows);
  const size_t n = x.size() / rows;
  for (size_t r = 0; r < rows; ++r) exact[r] = ExactSum(x.data() + r * n, n);
  const auto shape = std::vector<int64_t>{static_cast<int64_t>(rows)};
  return {Tensor(DType::kFloat32, shape, RowSums(x, rows, reference, Plain)),
          {DType::kFloat64, shape, exact},
          static_cast<double>(n)};
}

TEST(Tolerance, SumsInAnyOrderPass) {
  for (const bool positive : {false, true}) {
    for (const auto& [rows, n] :
         {std::pair<size_t, size_t>{1, 1000000}, {3, 300000}, {64, 4096}, {2000, 256}, {500, 17}}) {
      const Floats x = Inputs(rows * n, rows, positive);
      for (const Sum reference : kSums) {
        const Operator op = SumOperator(x, rows, reference);
        for (const Sum sum : kSums) {
          const OwnedTensor candidate =
              Tensor(DType::kFloat32, op.reference.spec.shape, RowSums(x, rows, sum, Plain));
          ExpectRight(candidate, op.expected(),
                      std::to_string(rows) + " rows of " + std::to_string(n));
          ExpectRight(candidate, op.weak(), "weak " + std::to_string(rows));
        }
      }
    }
  }
}

TEST(Tolerance, SumsOfRoundedTermsFail) {
  const Floats x = Inputs(1024000, 3);
  const Operator op = SumOperator(x, 1000, PairwiseSum);
  for (const Round& round : {Round(Half), Round(Tf32), Round(Brain)}) {
    const OwnedTensor lower = Tensor(DType::kFloat32, {1000}, RowSums(x, 1000, PairwiseSum, round));
    ExpectWrong(lower, op.expected(), "rounded terms");
    ExpectWrong(lower, op.weak(), "rounded terms, weak");
  }
  ExpectMistakesFail(op.expected());
}

struct MatmulShape {
  size_t m, k, n;
};

Floats Matmul(const Floats& a, const Floats& b, MatmulShape s, Sum sum, const Round& round) {
  Floats out(s.m * s.n);
  Floats terms(s.k);
  for (size_t i = 0; i < s.m; ++i) {
    for (size_t j = 0; j < s.n; ++j) {
      for (size_t p = 0; p < s.k; ++p) terms[p] = round(a[i * s.k + p]) * round(b[p * s.n + j]);
      out[i * s.n + j] = sum(terms.data(), s.k);
    }
  }
  return out;
}

Doubles ExactMatmul(const Floats& a, const Floats& b, MatmulShape s) {
  Doubles out(s.m * s.n, 0);
  for (size_t i = 0; i < s.m; ++i) {
    for (size_t p = 0; p < s.k; ++p) {
      for (size_t j = 0; j < s.n; ++j) {
        out[i * s.n + j] += static_cast<double>(a[i * s.k + p]) * b[p * s.n + j];
      }
    }
  }
  return out;
}

TEST(Tolerance, MatmulInAnyOrderPassesAndLowerPrecisionFails) {
  for (const MatmulShape s : {MatmulShape{16, 4096, 24}, {33, 64, 31}, {7, 300, 5}}) {
    const Floats a = Inputs(s.m * s.k, 1);
    const Floats b = Inputs(s.k * s.n, 2);
    const std::vector<int64_t> shape = {static_cast<int64_t>(s.m), static_cast<int64_t>(s.n)};
    const OwnedTensor oracle(DType::kFloat64, shape, ExactMatmul(a, b, s));
    for (const Sum reference : kSums) {
      const Operator op{Tensor(DType::kFloat32, shape, Matmul(a, b, s, reference, Plain)), oracle,
                        static_cast<double>(s.k)};
      for (const Sum sum : kSums) {
        ExpectRight(Tensor(DType::kFloat32, shape, Matmul(a, b, s, sum, Plain)), op.expected(),
                    "matmul");
      }
      for (const Round& round : {Round(Half), Round(Tf32), Round(Brain)}) {
        ExpectWrong(Tensor(DType::kFloat32, shape, Matmul(a, b, s, NaiveSum, round)), op.expected(),
                    "rounded factors");
      }
      ExpectMistakesFail(op.expected());
    }
    // A reference that was rounded once from a higher precision says nothing about loops.
    const Operator rounded{OwnedTensor(DType::kFloat32, shape, ExactMatmul(a, b, s)), oracle,
                           static_cast<double>(s.k)};
    EXPECT_TRUE(Budget::Make(rounded.expected(), 1).rounded_once());
    ExpectRight(Tensor(DType::kFloat32, shape, Matmul(a, b, s, NaiveSum, Plain)),
                rounded.expected(), "against a rounded oracle");
    ExpectWrong(Tensor(DType::kFloat32, shape, Matmul(a, b, s, NaiveSum, Tf32)), rounded.expected(),
                "rounded factors against a rounded oracle");
  }
}

// As a GPU's matrix unit sums: sixteen exact products at a time, the sum cut off to float32.
float CutOffSum(const float* x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i += 16) {
    double exact = sum;
    for (size_t k = i; k < std::min(n, i + 16); ++k) exact += x[k];
    const auto rounded = static_cast<float>(exact);
    sum = std::fabs(static_cast<double>(rounded)) > std::fabs(exact) ? std::nextafterf(rounded, 0)
                                                                     : rounded;
  }
  return sum;
}

TEST(Tolerance, HalfOutputsOfMatrixUnits) {
  const MatmulShape s{64, 4096, 96};
  const std::vector<int64_t> shape = {64, 96};
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (uint64_t seed = 1; seed < 6; ++seed) {
      Floats a = Inputs(s.m * s.k, seed);
      Floats b = Inputs(s.k * s.n, seed + 100);
      for (Floats* x : {&a, &b}) {
        for (float& value : *x) value = ToType(dtype, value);
      }
      const OwnedTensor oracle(DType::kFloat64, shape, ExactMatmul(a, b, s));
      const OwnedTensor reference = Tensor(dtype, shape, Matmul(a, b, s, BlockedSum, Plain));
      const Expected expected{reference.view(), oracle.view(), std::nullopt, 4096};
      ExpectRight(Tensor(dtype, shape, Matmul(a, b, s, CutOffSum, Plain)), expected,
                  DTypeName(dtype));
    }
  }
}

TEST(Tolerance, HalfOutputsOfMatmul) {
  const MatmulShape s{32, 512, 40};
  const std::vector<int64_t> shape = {32, 40};
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Floats a = Inputs(s.m * s.k, 1);
    Floats b = Inputs(s.k * s.n, 2);
    for (Floats* x : {&a, &b}) {
      for (float& value : *x) value = ToType(dtype, value);
    }
    const OwnedTensor oracle(DType::kFloat64, shape, ExactMatmul(a, b, s));
    const OwnedTensor reference = Tensor(dtype, shape, Matmul(a, b, s, BlockedSum, Plain));
    const Expected expected{reference.view(), oracle.view(), std::nullopt, 512};
    for (const Sum sum : kSums) {
      ExpectRight(Tensor(dtype, shape, Matmul(a, b, s, sum, Plain)), expected, DTypeName(dtype));
    }
    ExpectMistakesFail(expected);
    // float16: computed as bfloat16; bfloat16: computed as fp8.
    const Round lower = dtype == DType::kFloat16
                            ? Round(Brain)
                            : Round([](float x) { return ToType(DType::kFloat8E4M3, x); });
    ExpectWrong(Tensor(dtype, shape, Matmul(a, b, s, NaiveSum, lower)), expected, "lower factors");
    Floats once = Matmul(a, b, s, NaiveSum, Plain);
    std::transform(once.begin(), once.end(), once.begin(), lower);
    ExpectWrong(Tensor(dtype, shape, once), expected, "result rounded to the lower type");
    // Summing in the output's own type loses bits at every step.
    Floats poor(s.m * s.n);
    for (size_t i = 0; i < poor.size(); ++i) {
      float sum = 0;
      for (size_t p = 0; p < s.k; ++p) {
        sum = ToType(dtype, sum + a[i / s.n * s.k + p] * b[p * s.n + i % s.n]);
      }
      poor[i] = sum;
    }
    ExpectWrong(Tensor(dtype, shape, poor), expected, "accumulated in the output type");
  }
}

Floats Softmax(const Floats& x, size_t n, Sum sum, const Round& round) {
  Floats out(x.size());
  for (size_t begin = 0; begin < x.size(); begin += n) {
    const float top = *std::max_element(x.begin() + static_cast<int64_t>(begin),
                                        x.begin() + static_cast<int64_t>(begin + n));
    for (size_t i = begin; i < begin + n; ++i) out[i] = round(std::exp(round(x[i] - top)));
    const float total = round(sum(out.data() + begin, n));
    for (size_t i = begin; i < begin + n; ++i) out[i] = round(out[i] / total);
  }
  return out;
}

Floats SoftmaxByExp2(const Floats& x, size_t n) {
  Floats out(x.size());
  for (size_t begin = 0; begin < x.size(); begin += n) {
    float top = -INFINITY;
    float total = 0;
    for (size_t i = begin; i < begin + n; ++i) {  // one pass, as the online algorithm does
      const float next = std::max(top, x[i]);
      total =
          total * std::exp2((top - next) * 1.44269504F) + std::exp2((x[i] - next) * 1.44269504F);
      top = next;
    }
    for (size_t i = begin; i < begin + n; ++i) {
      out[i] = std::exp2((x[i] - top) * 1.44269504F) * (1 / total);
    }
  }
  return out;
}

TEST(Tolerance, Softmax) {
  for (const auto& [rows, n, scale] :
       {std::tuple<size_t, size_t, float>{64, 1000, 1.F}, {16, 8192, 1.F}, {100, 33, 4.F}}) {
    Floats x = Inputs(rows * n, 9);
    for (float& value : x) value *= scale;
    Doubles exact(x.size());
    for (size_t begin = 0; begin < x.size(); begin += n) {
      double total = 0;
      for (size_t i = begin; i < begin + n; ++i) total += std::exp(static_cast<double>(x[i]));
      for (size_t i = begin; i < begin + n; ++i)
        exact[i] = std::exp(static_cast<double>(x[i])) / total;
    }
    const std::vector<int64_t> shape = {static_cast<int64_t>(rows), static_cast<int64_t>(n)};
    for (const Sum reference : kSums) {
      const Operator op{Tensor(DType::kFloat32, shape, Softmax(x, n, reference, Plain)),
                        {DType::kFloat64, shape, exact}};
      for (const Sum sum : kSums) {
        const OwnedTensor candidate = Tensor(DType::kFloat32, shape, Softmax(x, n, sum, Plain));
        ExpectRight(candidate, op.expected(), "softmax");
        ExpectRight(candidate, op.weak(), "softmax, weak");
      }
      ExpectRight(Tensor(DType::kFloat32, shape, SoftmaxByExp2(x, n)), op.expected(), "online");
      for (const Round& round : {Round(Half), Round(Tf32), Round(Brain)}) {
        ExpectWrong(Tensor(DType::kFloat32, shape, Softmax(x, n, PairwiseSum, round)),
                    op.expected(), "rounded softmax");
      }
      ExpectMistakesFail(op.expected());
    }
  }
}

template <typename T>
std::vector<T> LayerNorm(const Floats& x, size_t n, bool two_pass, const Round& round) {
  std::vector<T> out(x.size());
  for (size_t begin = 0; begin < x.size(); begin += n) {
    T sum = 0;
    T squares = 0;
    for (size_t i = begin; i < begin + n; ++i) {
      sum += x[i];
      squares += static_cast<T>(x[i]) * x[i];
    }
    const T mean = static_cast<T>(round(static_cast<float>(sum / static_cast<T>(n))));
    const T exact_mean = sum / static_cast<T>(n);
    T variance = squares / static_cast<T>(n) - exact_mean * exact_mean;
    if (two_pass) {
      variance = 0;
      for (size_t i = begin; i < begin + n; ++i)
        variance += (x[i] - exact_mean) * (x[i] - exact_mean);
      variance /= static_cast<T>(n);
    }
    const T scale = 1 / std::sqrt(variance + static_cast<T>(1e-5));
    for (size_t i = begin; i < begin + n; ++i) {
      const T centred = x[i] - (std::is_same_v<T, double> ? exact_mean : mean);
      out[i] = static_cast<T>(std::is_same_v<T, double> ? centred * scale
                                                        : round(round(static_cast<float>(centred)) *
                                                                static_cast<float>(scale)));
    }
  }
  return out;
}

TEST(Tolerance, LayerNorm) {
  const size_t n = 768;
  Floats x = Inputs(100 * n, 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] += 1 + static_cast<float>(i % 7) * 0.1F;
  const std::vector<int64_t> shape = {100, static_cast<int64_t>(n)};
  const OwnedTensor oracle = Tensor(DType::kFloat64, shape, LayerNorm<double>(x, n, true, Plain));
  for (const bool reference_two_pass : {false, true}) {
    const Operator op{
        Tensor(DType::kFloat32, shape, LayerNorm<float>(x, n, reference_two_pass, Plain)), oracle};
    for (const bool two_pass : {false, true}) {
      ExpectRight(Tensor(DType::kFloat32, shape, LayerNorm<float>(x, n, two_pass, Plain)),
                  op.expected(), two_pass ? "two passes" : "one pass");
    }
    for (const Round& round : {Round(Half), Round(Tf32), Round(Brain)}) {
      ExpectWrong(Tensor(DType::kFloat32, shape, LayerNorm<float>(x, n, true, round)),
                  op.expected(), "rounded layer norm");
    }
    ExpectMistakesFail(op.expected());
  }
}

float GeluErf(float x) { return 0.5F * x * (1 + std::erf(x * 0.70710678F)); }
float GeluErfc(float x) { return 0.5F * x * std::erfc(-x * 0.70710678F); }
float GeluTanh(float x) {
  return 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
}
float GeluSigmoid(float x) {  // the same as the tanh form
  return x / (1 + std::exp(-2 * 0.7978845608F * (x + 0.044715F * x * x * x)));
}

TEST(Tolerance, Gelu) {
  const Floats x = Inputs(50000, 6);
  const std::vector<int64_t> shape = {50, 1000};
  const auto each = [&](DType dtype, const std::function<double(float)>& f) {
    Doubles out(x.size());
    std::transform(x.begin(), x.end(), out.begin(), f);
    return OwnedTensor(dtype, shape, out);
  };
  const OwnedTensor by_erf = each(DType::kFloat64, [](float v) {
    return 0.5 * v * std::erfc(-static_cast<double>(v) * M_SQRT1_2);
  });
  const OwnedTensor by_tanh = each(DType::kFloat64, [](float v) {
    const double w = v;
    return 0.5 * w * (1 + std::tanh(std::sqrt(2 / M_PI) * (w + 0.044715 * w * w * w)));
  });
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const Operator erf{each(dtype, GeluErf), by_erf};
    ExpectRight(each(dtype, GeluErfc), erf.expected(), "erfc");
    ExpectMistakesFail(erf.expected());
    const Operator tanh{each(dtype, GeluTanh), by_tanh};
    ExpectRight(each(dtype, GeluSigmoid), tanh.expected(), "sigmoid form");
    ExpectMistakesFail(tanh.expected());
    if (dtype == DType::kFloat32) {
      // The approximation is another function.
      ExpectWrong(each(dtype, GeluTanh), erf.expected(), "tanh instead of erf");
      ExpectWrong(each(dtype, [](float v) { return Half(GeluErf(v)); }), erf.expected(), "half");
      ExpectWrong(each(dtype, [](float v) { return GeluErf(Tf32(v)); }), erf.expected(), "tf32");
    }
    if (dtype == DType::kFloat16) {
      ExpectWrong(each(dtype, [](float v) { return Brain(GeluErf(v)); }), erf.expected(), "bf16");
    }
  }
}

TEST(Tolerance, GarbageInSmallElementsDoesNotHideBehindLargeOnes) {
  // Half of the elements are a million times smaller than the others.
  Doubles values = Normal(4000, 8);
  for (size_t i = 0; i < values.size(); i += 2) values[i] *= 1e-6;
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const OwnedTensor oracle(DType::kFloat64, {4000}, values);
    const OwnedTensor reference(dtype, {4000}, values);
    for (const bool with_oracle : {true, false}) {
      Expected expected{reference.view()};
      if (with_oracle) expected.oracle = oracle.view();
      OwnedTensor candidate = reference;
      for (int64_t i = 0; i < 4000; i += 2) candidate.Set(i, -values[static_cast<size_t>(i)]);
      ExpectWrong(candidate, expected, "all small ones");
      candidate = reference;
      for (int64_t i = 0; i < 40; i += 2) candidate.Set(i, 0);
      ExpectWrong(candidate, expected, "some small ones");
    }
  }
}

TEST(Tolerance, AFewElementsOfVeryDifferentMagnitude) {
  const Doubles values = {1e6, 1.5, 1.1e-6, -3.3e3, 2.7e-3};
  const OwnedTensor oracle(DType::kFloat64, {5}, values);
  const OwnedTensor reference(DType::kFloat32, {5}, values);
  const Expected expected{reference.view(), oracle.view()};
  for (int64_t i = 0; i < 5; ++i) {
    OwnedTensor candidate = reference;
    candidate.Set(i, values[static_cast<size_t>(i)] * 1.01);
    ExpectWrong(candidate, expected, "element " + std::to_string(i));
  }
}

TEST(Tolerance, LuckOfASmallReferenceIsNoStandard) {
  // Differences of squares: the error does not shrink with the result. Some of a few elements have
  // a magnitude of their own, and a reference that was right there by chance.
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const auto n = static_cast<int64_t>(1 + seed % 40);
    const Floats a = Inputs(static_cast<size_t>(n), 2 * seed);
    const Floats b = Inputs(static_cast<size_t>(n), 2 * seed + 1);
    OwnedTensor reference(DType::kFloat32, {n});
    OwnedTensor oracle(DType::kFloat64, {n});
    OwnedTensor candidate(DType::kFloat32, {n});
    for (int64_t i = 0; i < n; ++i) {
      const float x = 10 + a[static_cast<size_t>(i)];
      const float y = 10 + b[static_cast<size_t>(i)];
      const volatile float x2 = x * x;  // no fused product here
      const volatile float y2 = y * y;
      reference.Set(i, x2 - y2);
      candidate.Set(i, std::fma(-y, y, static_cast<float>(x2)));
      oracle.Set(i, (static_cast<double>(x) - y) * (static_cast<double>(x) + y));
    }
    const Expected expected{reference.view(), oracle.view()};
    // A single lucky element cannot be told from an accurate reference.
    if (n >= 8) ExpectRight(candidate, expected, "seed " + std::to_string(seed));
  }
}

TEST(Tolerance, EverywhereBadButNeverTerribleFailsTheRmsTest) {
  const Doubles values = Normal(20000, 8);
  const OwnedTensor oracle(DType::kFloat64, {20000}, values);
  const OwnedTensor reference(DType::kFloat32, {20000}, values);
  const Expected expected{reference.view(), oracle.view()};
  const Budget budget = Budget::Make(expected, 1);
  OwnedTensor candidate = reference;
  for (int64_t i = 0; i < 20000; ++i) {
    const double value = values[static_cast<size_t>(i)];
    candidate.Set(i, value + 0.9 * budget.ElementBudget(std::fabs(value)));
  }
  const Comparison result = Compare(candidate.view(), expected, budget, nullptr, 1);
  EXPECT_EQ(result.beyond, 0);
  EXPECT_GT(result.rms_ratio, 1);
  EXPECT_EQ(result.status, Comparison::Status::kWrongValue);
}

// Rows minus their mean. A reference that sums in float64 makes no error where the difference is
// nearly zero, and so does not excuse the float32 mean of an honest kernel.
TEST(Tolerance, ADifferenceMayBeAsWrongAsTheMeanInIt) {
  constexpr size_t kRows = 24;
  constexpr size_t kColumns = 99;
  constexpr double kShake = 0x1p-30;
  int failed_without = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Floats x = Inputs(kRows * kColumns, seed);
    const Doubles signs = Normal(x.size(), seed + 1000);
    const auto centred = [&](auto sum_of, auto at) {
      Doubles out(x.size());
      for (size_t r = 0; r < kRows; ++r) {
        const auto mean = sum_of(r) / kColumns;
        for (size_t c = 0; c < kColumns; ++c) {
          out[r * kColumns + c] = static_cast<double>(at(r * kColumns + c) - mean);
        }
      }
      return out;
    };
    const auto exact = [&](double shake) {
      const auto at = [&, shake](size_t i) { return x[i] * (1 + (signs[i] < 0 ? -shake : shake)); };
      return centred(
          [&](size_t r) {
            double sum = 0;
            for (size_t c = 0; c < kColumns; ++c) sum += at(r * kColumns + c);
            return sum;
          },
          at);
    };
    const Doubles values = exact(0);
    Doubles moved = exact(kShake);
    for (size_t i = 0; i < moved.size(); ++i) moved[i] = std::fabs(moved[i] - values[i]) / kShake;
    const std::vector<int64_t> shape = {kRows, kColumns};
    const OwnedTensor oracle(DType::kFloat64, shape, values);
    const OwnedTensor reference(DType::kFloat32, shape, values);
    const OwnedTensor condition(DType::kFloat32, shape, moved);
    const auto in_float = [&](const Round& round) {
      return OwnedTensor(DType::kFloat32, shape,
                         centred([&](size_t r) { return BlockedSum(&x[r * kColumns], kColumns); },
                                 [&](size_t i) { return round(x[i]); }));
    };
    Expected expected{reference.view(), oracle.view()};
    if (!CompareTo(in_float(Plain), expected).right()) ++failed_without;
    expected.condition = condition.view();
    ExpectRight(in_float(Plain), expected, "honest");
    ExpectWrong(in_float(Tf32), expected, "TF32");
    OwnedTensor forgetful = in_float(Plain);
    forgetful.Set(7, 0);
    ExpectWrong(forgetful, expected, "an element left zero");
  }
  EXPECT_GT(failed_without, 4);
}

// Elements of any size that are products have a condition of their own size.
TEST(Tolerance, AConditionInProportionExcusesNothing) {
  Doubles values = Normal(4000, 5);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] *= std::ldexp(1.0, -static_cast<int>(i % 30));
  const OwnedTensor oracle(DType::kFloat64, {4000}, values);
  const OwnedTensor reference(DType::kFloat32, {4000}, values);
  Doubles sizes = values;
  for (double& size : sizes) size = std::fabs(size);
  const OwnedTensor condition(DType::kFloat32, {4000}, sizes);
  Expected expected{reference.view(), oracle.view()};
  expected.condition = condition.view();
  ExpectRight(reference, expected, "the reference");
  OwnedTensor candidate = reference;
  candidate.Set(29, 0);
  ExpectWrong(candidate, expected, "a small element left zero");
}

TEST(Budget, TightensUntilTheLowerPrecisionFails) {
  // float32 sums of terms in float16: with a long reduction the plain loop's allowance is near.
  const Floats x = Inputs(6000000, 3);
  const Operator op = SumOperator(x, 200, PairwiseSum);
  const OwnedTensor lower = Tensor(DType::kFloat32, {200}, RowSums(x, 200, PairwiseSum, Tf32));
  Expected expected = op.expected();
  expected.lower = lower.view();
  const Budget budget = Budget::Make(expected, 1);
  EXPECT_FALSE(budget.lower_precision_would_pass()) << budget.ToJson();
  ASSERT_TRUE(budget.lower_margin().has_value());
  EXPECT_GE(*budget.lower_margin(), 3.99);
  EXPECT_TRUE(Compare(op.reference.view(), expected, budget, nullptr, 1).right());
  for (const Sum sum : {BlockedSum, PairwiseSum}) {
    ExpectRight(Tensor(DType::kFloat32, {200}, RowSums(x, 200, sum, Plain)), expected, "honest");
  }
  ExpectWrong(lower, expected, "lower");
}

// Fresh inputs have no oracle; what is known of the same operator on alike inputs must carry over.
TEST(Budget, AllowsOnFreshInputsWhatItAllowedOnKnownOnes) {
  const Operator known = SumOperator(Inputs(4000000, 3), 1000, BlockedSum);
  const Floats fresh = Inputs(4000000, 4);
  const OwnedTensor reference =
      Tensor(DType::kFloat32, {1000}, RowSums(fresh, 1000, PairwiseSum, Plain));
  OwnedTensor candidate = Tensor(DType::kFloat32, {1000}, RowSums(fresh, 1000, NaiveSum, Plain));
  const Expected expected{reference.view()};  // as if nothing were known of sums
  Budget budget = Budget::Make(expected, 1);
  ASSERT_FALSE(Compare(candidate.view(), expected, budget, nullptr, 1).right());
  budget.AllowAsMuchAs(Budget::Make(known.expected(), 1), 2, 2);
  const Comparison honest = Compare(candidate.view(), expected, budget, nullptr, 1);
  EXPECT_TRUE(honest.right()) << honest.Summary();
  candidate.Set(5, 1.01 * DecodeElement(DType::kFloat32, reference.view().data, 5));
  EXPECT_FALSE(Compare(candidate.view(), expected, budget, nullptr, 1).right());
}

// One small element among large ones is all of its class, and as wrong as cancellation makes it.
TEST(Budget, AllowsASmallElementOnFreshInputsItsOwnBudget) {
  constexpr size_t kRow = 1000;
  const Operator known = SumOperator(Inputs(2000 * kRow, 3), 2000, PairwiseSum);
  Floats fresh = Inputs(2000 * kRow, 4);
  for (size_t i = 0; i < kRow / 2; ++i) fresh[i + kRow / 2] = -fresh[i];
  fresh[0] += 1e-4F;
  const OwnedTensor reference =
      Tensor(DType::kFloat32, {2000}, RowSums(fresh, 2000, PairwiseSum, Plain));
  const Expected expected{reference.view()};
  Budget budget = Budget::Make(expected, 1);
  const Budget stored = Budget::Make(known.expected(), 1);
  budget.AllowAsMuchAs(stored, 2, 2);
  const double small = std::abs(DecodeElement(DType::kFloat32, reference.view().data, 0));
  OwnedTensor candidate = reference;
  candidate.Set(0, small + 0.9 * budget.ElementBudget(small));
  const Comparison honest = Compare(candidate.view(), expected, budget, nullptr, 1);
  EXPECT_TRUE(honest.right()) << honest.Summary();
  candidate.Set(0, small + 2 * budget.ElementBudget(small));
  EXPECT_FALSE(Compare(candidate.view(), expected, budget, nullptr, 1).right());
}

TEST(Budget, LowerPrecisionInItsOwnTypeIsMeasured) {
  const Doubles values = Normal(3000, 1);
  const OwnedTensor oracle(DType::kFloat64, {3000}, values);
  const OwnedTensor reference(DType::kFloat16, {3000}, values);
  const OwnedTensor lower(DType::kBFloat16, {3000}, values);
  const Expected expected{reference.view(), oracle.view(), lower.view()};
  const Budget budget = Budget::Make(expected, 1);
  EXPECT_FALSE(budget.lower_precision_would_pass()) << budget.ToJson();
  EXPECT_LT(budget.tightened(), 1);
  EXPECT_TRUE(CompareTo(reference, expected).right());
}

TEST(Budget, SaysWhenTheLowerPrecisionCannotBeTold) {
  Doubles values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 128);
  const OwnedTensor oracle(DType::kFloat64, {1000}, values);
  const OwnedTensor reference(DType::kFloat32, {1000}, values);
  const OwnedTensor lower(DType::kBFloat16, {1000}, values);
  const Budget budget = Budget::Make({reference.view(), oracle.view(), lower.view()}, 1);
  EXPECT_TRUE(budget.lower_precision_would_pass());
  EXPECT_NE(budget.ToJson().find(R"("lower_precision_would_pass":true)"), std::string::npos);
}

TEST(Budget, SaysWhenReferenceAndOracleDisagree) {
  const OwnedTensor oracle(DType::kFloat64, {1000}, Normal(1000, 1));
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kFloat8E5M2}) {
    const OwnedTensor right(dtype, {1000}, Normal(1000, 1));
    const OwnedTensor wrong(dtype, {1000}, Normal(1000, 2));
    EXPECT_FALSE(Budget::Make({right.view(), oracle.view()}, 1).reference_disagrees());
    EXPECT_TRUE(Budget::Make({wrong.view(), oracle.view()}, 1).reference_disagrees());
    EXPECT_FALSE(Budget::Make({wrong.view()}, 1).reference_disagrees());
  }
}

TEST(Budget, SaysWhenThereIsNoOracle) {
  const OwnedTensor reference(DType::kFloat32, {100}, Normal(100, 1));
  EXPECT_TRUE(Budget::Make({reference.view()}, 1).weak_oracle());
  EXPECT_NE(Budget::Make({reference.view()}, 1).ToJson().find(R"("weak_oracle":true)"),
            std::string::npos);
}

}  // namespace
}  // namespace kerf::verify
