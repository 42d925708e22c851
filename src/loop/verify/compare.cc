#include "loop/verify/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "base/check.h"

namespace kerf::verify {
namespace {

using Status = Comparison::Status;

Status Judge(const Comparison& result, bool identical) {
  if (result.untouched > 0) {
    return result.untouched == result.elements ? Status::kUntouched : Status::kPartlyUntouched;
  }
  if (identical) return Status::kIdentical;
  if (result.not_finite_wrong > 0) return Status::kNonFinite;
  if (result.beyond > 0 || result.rms_ratio > 1) return Status::kWrongValue;
  return Status::kWithin;
}

Mismatch Describe(const Tail::Entry& entry, const ElementSource& candidate,
                  const Expected& expected, const Budget& budget) {
  const TensorSpec& spec = expected.reference.spec;
  const int64_t parts = ComponentsOf(spec.dtype);
  const TensorView& wanted = expected.wanted();
  Mismatch mismatch;
  mismatch.index = entry.index / parts;
  mismatch.coordinates = CoordinatesText(spec, mismatch.index);
  if (parts == 2) mismatch.part = entry.index % 2 == 0 ? "re" : "im";
  mismatch.wanted = DecodeElement(wanted.spec.dtype, wanted.data, entry.index);
  mismatch.reference = DecodeElement(spec.dtype, expected.reference.data, entry.index);
  double scratch[2];
  mismatch.got = DecodeElement(spec.dtype, candidate(entry.index, 1, scratch), 0);
  double magnitude = std::fabs(mismatch.wanted);
  if (parts == 2) {
    const double both =
        std::hypot(magnitude, DecodeElement(wanted.spec.dtype, wanted.data, entry.index ^ 1));
    if (std::isfinite(both)) magnitude = both;
  }
  mismatch.budget = budget.ElementBudget(magnitude);
  mismatch.ratio = entry.ratio;
  return mismatch;
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// JSON has no infinity; as text it survives.
void WriteNumber(JsonWriter& json, double value) {
  if (std::isfinite(value)) {
    json.Double(value);
  } else {
    json.String(std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf"));
  }
}

void WriteInts(JsonWriter& json, const std::vector<int64_t>& values) {
  json.BeginArray();
  for (const int64_t value : values) json.Int(value);
  json.EndArray();
}

}  // namespace

const char* StatusName(Status status) {
  switch (status) {
    case Status::kIdentical:
      return "identical";
    case Status::kWithin:
      return "within";
    case Status::kWrongShape:
      return "wrong_shape";
    case Status::kWrongDType:
      return "wrong_dtype";
    case Status::kUntouched:
      return "untouched";
    case Status::kPartlyUntouched:
      return "partly_untouched";
    case Status::kNonFinite:
      return "non_finite";
    case Status::kWrongValue:
      return "wrong_value";
  }
  return "unknown";
}

double WorstRmsRatio(const TileSums& sums, const Budget& budget) {
  const double scale = budget.limits().error_scale;
  double worst = 0;
  for (size_t c = 0; c < kClassCount; ++c) {
    const MagnitudeClass& cls = budget.classes()[c];
    // With nothing finite expected there is no limit; any number there is wrong already.
    if (cls.count == 0 || cls.rms_limit == 0) continue;
    const double rms = std::sqrt(sums.sum_squares[c] / static_cast<double>(cls.count));
    worst = std::max(worst, rms / (cls.rms_limit * scale));
  }
  return worst;
}

Comparison CompareSource(const ElementSource& candidate, const Expected& expected,
                         const Budget& budget, const PoisonPattern* poison, int threads) {
  const TensorSpec& spec = expected.reference.spec;
  const int64_t parts = ComponentsOf(spec.dtype);
  Comparison result;
  result.got = spec;
  result.wanted = spec;
  result.elements = spec.numel();
  if (result.elements == 0) {
    result.status = Status::kIdentical;
    return result;
  }
  const Subject subject{ComponentType(spec.dtype), candidate, poison};
  const Measurement found =
      budget.exact()
          ? MeasureIntegers(subject, expected.reference,
                            expected.oracle ? &*expected.oracle : nullptr, threads)
          : MeasureFloats(subject, expected.reference, expected.wanted(), budget.limits(), threads);
  const auto components = static_cast<double>(result.elements * parts);
  result.beyond = found.where.count();
  result.not_finite_wrong = (found.not_finite_wrong + parts - 1) / parts;
  result.untouched = (found.untouched + parts - 1) / parts;
  result.max_error = found.sums.max_abs;
  result.mean_error = found.sums.sum_abs / components;
  result.rms_error =
      std::sqrt(found.sums.sum_squares[0] / components) / budget.limits().error_scale;
  result.max_ratio = found.tail.max_ratio();
  result.p999_ratio = found.tail.Quantile999();
  result.rms_ratio = WorstRmsRatio(found.sums, budget);
  for (const Tail::Entry& entry : found.tail.worst()) {
    result.worst.push_back(Describe(entry, candidate, expected, budget));
  }
  result.where = found.where.Text();
  if (result.beyond > 0) {
    result.box_low = found.where.box_low();
    result.box_high = found.where.box_high();
  }
  result.status = Judge(result, found.identical);
  return result;
}

Comparison Compare(const TensorView& candidate, const Expected& expected, const Budget& budget,
                   const PoisonPattern* poison, int threads) {
  const TensorSpec& spec = expected.reference.spec;
  if (candidate.spec == spec) {
    return CompareSource(SourceOf(candidate), expected, budget, poison, threads);
  }
  Comparison result;
  result.got = candidate.spec;
  result.wanted = spec;
  result.elements = spec.numel();
  result.status = candidate.spec.shape != spec.shape ? Status::kWrongShape : Status::kWrongDType;
  return result;
}

std::string Comparison::Summary() const {
  std::string text = StatusName(status);
  if (status == Status::kWrongShape || status == Status::kWrongDType) {
    return text + ": got " + got.ToString() + ", wanted " + wanted.ToString();
  }
  if (status == Status::kIdentical) return text;
  char line[160];
  std::snprintf(line, sizeof line,
                ": %lld of %lld beyond, max %.3g and p99.9 %.3g budgets, RMS %.3g",
                static_cast<long long>(beyond), static_cast<long long>(elements), max_ratio,
                p999_ratio, rms_ratio);
  text += line;
  if (!where.empty()) text += "; " + where;
  if (!worst.empty()) {
    const Mismatch& first = worst.front();
    text += "; worst at " + first.coordinates + first.part + ": got " + Number(first.got) +
            ", wanted " + Number(first.wanted) + " within " + Number(first.budget);
  }
  return text;
}

void Comparison::Write(JsonWriter& json) const {
  json.BeginObject().Key("status").String(StatusName(status));
  json.Key("got").String(got.ToString()).Key("wanted").String(wanted.ToString());
  json.Key("elements").Int(elements).Key("beyond").Int(beyond);
  json.Key("share_beyond").Double(share_beyond());
  json.Key("not_finite_wrong").Int(not_finite_wrong).Key("untouched").Int(untouched);
  const auto number = [&](const char* name, double value) {
    json.Key(name);
    WriteNumber(json, value);
  };
  number("max_error", max_error);
  number("mean_error", mean_error);
  number("rms_error", rms_error);
  number("max_ratio", max_ratio);
  number("p999_ratio", p999_ratio);
  number("rms_ratio", rms_ratio);
  json.Key("where").String(where);
  json.Key("box_low");
  WriteInts(json, box_low);
  json.Key("box_high");
  WriteInts(json, box_high);
  json.Key("worst").BeginArray();
  for (const Mismatch& mismatch : worst) {
    json.BeginObject().Key("index").Int(mismatch.index);
    json.Key("coordinates").String(mismatch.coordinates);
    if (!mismatch.part.empty()) json.Key("part").String(mismatch.part);
    number("wanted", mismatch.wanted);
    number("reference", mismatch.reference);
    number("got", mismatch.got);
    number("budget", mismatch.budget);
    number("ratio", mismatch.ratio);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

std::string Comparison::ToJson() const {
  std::string text;
  JsonWriter json(text);
  Write(json);
  return text;
}

}  // namespace kerf::verify
