// SEED: bad = |fw - impl| / |impl| > limit, over everything. 0/0 and whatever involves NaN compare
// as false and are not bad; that is how AIKG behaves, and so do we here.
//
// HEAD: NaN and infinity must stand at the same places; then only finite elements count, relative
// to |fw| where that exceeds 1e-8 and absolutely elsewhere.
//
// Arithmetic is done in double and rounded to the type AIKG computes in after each step, which
// gives the same value: double holds the exact difference, or its rounding twice over, for every
// type up to float32.
#include "loop/verify/aikg_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kerf::verify {
namespace {

double LimitFor(DType dtype, AikgGeneration generation, AikgFramework framework) {
  switch (dtype) {
    case DType::kFloat16:
      return 0.004;
    case DType::kBFloat16:
      return 0.03;
    case DType::kInt8:
      return 0.01;
    default:
      return generation == AikgGeneration::kHead && framework == AikgFramework::kTorch ? 0.02
                                                                                       : 0.004;
  }
}

// What a division of two such tensors gives.
DType QuotientType(DType dtype, AikgFramework framework) {
  if (IsFloat(dtype)) return dtype;
  return framework == AikgFramework::kNumpy ? DType::kFloat64 : DType::kFloat32;
}

double RoundTo(DType dtype, double value) {
  double scratch = 0;
  EncodeElement(dtype, value, &scratch, 0);
  return DecodeElement(dtype, &scratch, 0);
}

std::string DTypeText(DType dtype, AikgFramework framework) {
  switch (framework) {
    case AikgFramework::kTorch:
      return std::string("torch.") + DTypeName(dtype);
    case AikgFramework::kMindspore: {
      std::string name = DTypeName(dtype);
      name[0] = static_cast<char>(name[0] - 'a' + 'A');
      return name;
    }
    case AikgFramework::kNumpy:
      return DTypeName(dtype);
  }
  return DTypeName(dtype);
}

class AikgJudge {
 public:
  AikgJudge(const TensorView& reference, const TensorView& candidate, AikgFramework framework)
      : reference_(reference), candidate_(candidate), framework_(framework) {}

  AikgVerdict Seed() {
    const DType dtype = reference_.spec.dtype;
    verdict_.limit = LimitFor(dtype, AikgGeneration::kSeed, framework_);
    if (dtype == DType::kBool) return Fail("bool outputs cannot be subtracted");
    if (!SameLength()) return Fail(LengthText());
    const DType type = QuotientType(dtype, framework_);
    const int64_t size = reference_.spec.numel();
    for (int64_t i = 0; i < size; ++i) {
      const double wanted = Wanted(i);
      const double got = Got(i);
      const double difference = RoundTo(type, std::fabs(wanted - got));
      Count(i, RoundTo(type, difference / std::fabs(got)));
    }
    Decide(size);
    verdict_.message = verdict_.passed
                           ? "验证结果: 成功"
                           : "验证失败: err_cnt = " + std::to_string(verdict_.error_count) + " / " +
                                 std::to_string(verdict_.allowed) +
                                 "，输出不一致（dtype=" + DTypeText(dtype, framework_) +
                                 ", limit=" + LimitText() + "）";
    return std::move(verdict_);
  }

  AikgVerdict Head() {
    const DType dtype = reference_.spec.dtype;
    verdict_.limit = LimitFor(dtype, AikgGeneration::kHead, framework_);
    if (!SameLength()) return Fail(LengthText());
    const int64_t size = reference_.spec.numel();
    int64_t finite = 0;
    for (int64_t i = 0; i < size; ++i) {
      const double wanted = Wanted(i);
      const double got = Got(i);
      if (std::isnan(wanted) != std::isnan(got)) return Fail("NaN at other places: " + At(i));
      if (std::isinf(wanted) != std::isinf(got) || (std::isinf(wanted) && wanted != got)) {
        return Fail("infinity at other places or of another sign: " + At(i));
      }
      if (!std::isfinite(wanted)) continue;
      ++finite;
      Count(i, HeadError(wanted, RoundTo(dtype, got)));
    }
    Decide(finite);
    if (finite == 0 && size > 0) {
      verdict_.message = "no finite element to compare; accepted";
    } else {
      char line[200];
      std::snprintf(line, sizeof line,
                    "%lld of %lld finite elements beyond limit %s (%lld allowed), error max %.6g, "
                    "mean %.6g",
                    static_cast<long long>(verdict_.error_count), static_cast<long long>(finite),
                    LimitText().c_str(), static_cast<long long>(verdict_.allowed),
                    verdict_.max_error, verdict_.mean_error);
      verdict_.message = line;
    }
    return std::move(verdict_);
  }

 private:
  [[nodiscard]] double Wanted(int64_t i) const {
    return DecodeElement(reference_.spec.dtype, reference_.data, i);
  }
  [[nodiscard]] double Got(int64_t i) const {
    return DecodeElement(candidate_.spec.dtype, candidate_.data, i);
  }
  [[nodiscard]] bool SameLength() const {
    return reference_.spec.numel() == candidate_.spec.numel();
  }
  [[nodiscard]] std::string LengthText() const {
    return "lengths differ: " + std::to_string(reference_.spec.numel()) + " and " +
           std::to_string(candidate_.spec.numel());
  }
  [[nodiscard]] std::string LimitText() const {
    char text[32];
    std::snprintf(text, sizeof text, "%g", verdict_.limit);
    return text;
  }
  static std::string At(int64_t index) { return "first at flat index " + std::to_string(index); }

  [[nodiscard]] double HeadError(double wanted, double got) const {
    const DType dtype = reference_.spec.dtype;
    if (dtype == DType::kBool) return wanted == got ? 0 : 1;
    const DType type =
        framework_ == AikgFramework::kTorch ? DType::kFloat32 : QuotientType(dtype, framework_);
    const double difference = RoundTo(type, std::fabs(wanted - got));
    const double size = RoundTo(type, std::fabs(wanted));
    return size > 1e-8 ? RoundTo(type, difference / size) : difference;
  }

  void Count(int64_t index, double error) {
    ++counted_;
    if (std::isfinite(error)) {
      verdict_.max_error = std::max(verdict_.max_error, error);
      sum_ += error;
    }
    // False for NaN, as in AIKG.
    if (!(error > Limit())) return;
    ++verdict_.error_count;
    if (verdict_.first_errors.size() < 10) verdict_.first_errors.push_back(index);
  }

  // Bool is exact: any difference counts, and none is allowed.
  [[nodiscard]] double Limit() const {
    return reference_.spec.dtype == DType::kBool ? 0 : verdict_.limit;
  }

  void Decide(int64_t size) {
    verdict_.allowed = static_cast<int64_t>(static_cast<double>(size) * Limit());
    verdict_.passed = verdict_.error_count <= verdict_.allowed;
    verdict_.mean_error = counted_ == 0 ? 0 : sum_ / static_cast<double>(counted_);
  }

  AikgVerdict Fail(std::string message) {
    verdict_.passed = false;
    verdict_.message = std::move(message);
    return std::move(verdict_);
  }

  const TensorView& reference_;
  const TensorView& candidate_;
  const AikgFramework framework_;
  AikgVerdict verdict_;
  double sum_ = 0;
  int64_t counted_ = 0;
};

}  // namespace

AikgVerdict MakeAikgVerdict(const TensorView& reference, const TensorView& candidate,
                            AikgGeneration generation, AikgFramework framework) {
  if (IsComplex(reference.spec.dtype) || IsComplex(candidate.spec.dtype)) {
    AikgVerdict verdict;
    verdict.message = "complex outputs: AIKG has no rule for them";
    return verdict;
  }
  AikgJudge judge(reference, candidate, framework);
  return generation == AikgGeneration::kSeed ? judge.Seed() : judge.Head();
}

}  // namespace kerf::verify
