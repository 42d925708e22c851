// Tiles of 4096 components, each thread its own contiguous part. The kernels see every element;
// here are the few that need thought.
#include "loop/verify/measure.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "loop/verify/parallel.h"

namespace kerf::verify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const char* At(const TensorView& view, int64_t component) {
  return static_cast<const char*>(view.data) +
         component * static_cast<int64_t>(DTypeBytes(ComponentType(view.spec.dtype)));
}

int64_t ComponentCount(const TensorSpec& spec) { return spec.numel() * ComponentsOf(spec.dtype); }

// Calls run(begin, end) for each run of set bits.
template <typename Run>
void ForEachRun(const std::array<uint64_t, kTileElements / 64>& bits, size_t count, Run run) {
  size_t begin = 0;
  bool inside = false;
  for (size_t i = 0; i < count; ++i) {
    if (i % 64 == 0 && count - i >= 64) {
      const uint64_t word = bits[i / 64];
      // Whole words of equal bits are the usual case.
      if (word == (inside ? ~uint64_t{0} : 0)) {
        i += 63;
        continue;
      }
    }
    const bool set = (bits[i / 64] >> (i % 64) & 1) != 0;
    if (set && !inside) begin = i;
    if (!set && inside) run(begin, i);
    inside = set;
  }
  if (inside) run(begin, count);
}

void AddBeyond(const TileFindings& findings, int64_t tile_begin, size_t count,
               int64_t components_per_element, Where& where) {
  ForEachRun(findings.beyond, count, [&](size_t begin, size_t end) {
    const int64_t first = (tile_begin + static_cast<int64_t>(begin)) / components_per_element;
    const int64_t last = (tile_begin + static_cast<int64_t>(end) - 1) / components_per_element;
    where.AddRun(first, last + 1);
  });
}

// Whether a component is right although it, or what is expected there, is not finite. Where the
// two sources of truth disagree the candidate may follow either. NaN is no wildcard.
bool RightWithoutNumber(double candidate, double reference, double wanted, double overflow,
                        const ElementLimits& limits) {
  if (std::isnan(candidate)) return std::isnan(reference) || std::isnan(wanted);
  if (std::isinf(candidate)) {
    if (candidate == reference || candidate == wanted) return true;
    // The right value may be so large that a rounding error decides whether it still fits.
    return std::isfinite(wanted) && std::signbit(wanted) == std::signbit(candidate) &&
           std::fabs(wanted) + BudgetOf(limits, std::fabs(wanted)) >= overflow;
  }
  return std::isfinite(reference) &&
         std::fabs(candidate - reference) <= BudgetOf(limits, std::fabs(reference));
}

class FloatWorker {
 public:
  FloatWorker(const Subject& subject, const TensorView& reference, const TensorView& wanted,
              const ElementLimits& limits, Simd simd, Measurement& out)
      : subject_(subject),
        reference_(reference),
        wanted_(wanted),
        reference_type_(ComponentType(reference.spec.dtype)),
        wanted_type_(ComponentType(wanted.spec.dtype)),
        complex_(IsComplex(reference.spec.dtype)),
        limits_(limits),
        out_(out) {
    if (!complex_) kernel_ = FindTileKernel(subject.dtype, wanted_type_, simd);
    decode_ = kernel_ == nullptr;
    if (decode_) {
      kernel_ = FindTileKernel(DType::kFloat64, DType::kFloat64, simd);
      candidate_doubles_ = std::make_unique<double[]>(kTileElements);
      wanted_doubles_ = std::make_unique<double[]>(kTileElements);
      magnitudes_ = std::make_unique<double[]>(kTileElements);
    }
    out_.identical = subject.dtype == reference_type_;
  }

  void Run(int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kTileElements) {
      RunTile(at, static_cast<size_t>(std::min<int64_t>(kTileElements, end - at)));
    }
  }

 private:
  void RunTile(int64_t begin, size_t count) {
    const void* candidate = subject_.candidate(begin, count, scratch_.get());
    const void* wanted = At(wanted_, begin);
    if (out_.identical) {
      out_.identical =
          std::memcmp(candidate, At(reference_, begin), count * DTypeBytes(reference_type_)) == 0;
    }
    Tile tile{candidate, wanted, nullptr, count};
    if (decode_) tile = Decode(candidate, wanted, count);
    kernel_(tile, limits_, out_.tail.notable_ratio(), out_.sums, findings_);
    for (size_t i = 0; i < findings_.notable_count; ++i) {
      Consider(candidate, begin, findings_.notable[i]);
    }
    if (findings_.any_beyond) {
      AddBeyond(findings_, begin, count, complex_ ? 2 : 1, out_.where);
    }
  }

  Tile Decode(const void* candidate, const void* wanted, size_t count) {
    DecodeElements(subject_.dtype, candidate, count, candidate_doubles_.get());
    DecodeElements(wanted_type_, wanted, count, wanted_doubles_.get());
    if (complex_) {
      for (size_t i = 0; i < count; ++i) magnitudes_[i] = Magnitude(i);
    }
    return {candidate_doubles_.get(), wanted_doubles_.get(), complex_ ? magnitudes_.get() : nullptr,
            count};
  }

  [[nodiscard]] double Magnitude(size_t i) const {
    const double own = std::fabs(wanted_doubles_[i]);
    const double both = std::hypot(wanted_doubles_[i & ~size_t{1}], wanted_doubles_[i | 1]);
    // Next to an infinite component the other one must still be right by itself.
    return std::isfinite(both) ? both : own;
  }

  void Consider(const void* candidate, int64_t begin, size_t i) {
    const double got = DecodeElement(subject_.dtype, candidate, static_cast<int64_t>(i));
    const double wanted = DecodeElement(wanted_type_, At(wanted_, begin), static_cast<int64_t>(i));
    const double error = std::fabs(got - wanted);
    if (std::isfinite(error)) {
      const double magnitude = complex_ ? magnitudes_[i] : std::fabs(wanted);
      out_.tail.Add(error / BudgetOf(limits_, magnitude), begin + static_cast<int64_t>(i));
      return;
    }
    const char* got_at = static_cast<const char*>(candidate) + i * DTypeBytes(subject_.dtype);
    const char* reference_at = At(reference_, begin + static_cast<int64_t>(i));
    if (subject_.poison != nullptr && subject_.poison->Matches(got_at) &&
        std::memcmp(got_at, reference_at, DTypeBytes(subject_.dtype)) != 0) {
      ++out_.untouched;
    } else if (RightWithoutNumber(got, DecodeElement(reference_type_, reference_at, 0), wanted,
                                  FormatOf(reference_type_).overflow, limits_)) {
      findings_.beyond[i / 64] &= ~(uint64_t{1} << (i % 64));
      return;
    }
    if (!std::isfinite(got) || !std::isfinite(wanted)) ++out_.not_finite_wrong;
    out_.tail.Add(kInfinity, begin + static_cast<int64_t>(i));
  }

  const Subject& subject_;
  const TensorView& reference_;
  const TensorView& wanted_;
  const DType reference_type_;
  const DType wanted_type_;
  const bool complex_;
  const ElementLimits limits_;
  Measurement& out_;
  TileKernel kernel_ = nullptr;
  bool decode_ = false;
  std::unique_ptr<double[]> candidate_doubles_;
  std::unique_ptr<double[]> wanted_doubles_;
  std::unique_ptr<double[]> magnitudes_;
  // Aligned for every type a source may write into it.
  std::unique_ptr<double[]> scratch_ = std::make_unique<double[]>(kTileElements);
  TileFindings findings_;
};

void Merge(Measurement& into, const Measurement& part) {
  into.sums.Add(part.sums);
  into.tail.Merge(part.tail);
  into.where.Merge(part.where);
  into.not_finite_wrong += part.not_finite_wrong;
  into.untouched += part.untouched;
  into.identical = into.identical && part.identical;
}

// Each part measures into its own; they are merged in the order of the tensor, so that the result
// does not depend on which thread was faster.
Measurement InParts(const TensorSpec& spec, int threads,
                    const std::function<void(Measurement&, int64_t, int64_t)>& work) {
  const int64_t components = ComponentCount(spec);
  std::vector<std::optional<Measurement>> parts(static_cast<size_t>(std::max(threads, 1)));
  ForEachRange(components, kTileElements, threads, [&](int part, int64_t begin, int64_t end) {
    work(parts[static_cast<size_t>(part)].emplace(spec, components), begin, end);
  });
  for (size_t i = 1; i < parts.size() && parts[i].has_value(); ++i) Merge(*parts[0], *parts[i]);
  return std::move(*parts[0]);
}

// Integers as their bits where both have the same type; otherwise by value.
bool EqualsOracle(const TensorView& oracle, DType dtype, const void* got, int64_t index) {
  const DType type = oracle.spec.dtype;
  if (type == dtype) return std::memcmp(got, At(oracle, index), DTypeBytes(dtype)) == 0;
  return DecodeElement(dtype, got, 0) == DecodeElement(type, oracle.data, index);
}

void MeasureIntegerTile(const Subject& subject, const TensorView& reference,
                        const TensorView* oracle, const char* candidate, int64_t begin,
                        size_t count, Measurement& out) {
  const size_t bytes = DTypeBytes(subject.dtype);
  for (size_t i = 0; i < count; ++i) {
    const char* got = candidate + i * bytes;
    const int64_t index = begin + static_cast<int64_t>(i);
    if (std::memcmp(got, At(reference, index), bytes) == 0) continue;
    out.identical = false;
    const bool untouched = subject.poison != nullptr && subject.poison->Matches(got);
    if (untouched) ++out.untouched;
    if (!untouched && oracle != nullptr && EqualsOracle(*oracle, subject.dtype, got, index)) {
      continue;
    }
    // Distinct integers beyond 2^53 may look equal as double, and are still wrong.
    const double error =
        std::max(1.0, std::fabs(DecodeElement(subject.dtype, got, 0) -
                                DecodeElement(subject.dtype, reference.data, index)));
    TileSums sums{error, error, {error * error}};
    out.sums.Add(sums);
    if (error > out.tail.notable_ratio()) out.tail.Add(error, index);
    out.where.AddRun(index, index + 1);
  }
}

}  // namespace

ElementSource SourceOf(const TensorView& view) {
  return [view](int64_t begin, size_t, void*) -> const void* { return At(view, begin); };
}

Measurement MeasureFloats(const Subject& subject, const TensorView& reference,
                          const TensorView& wanted, const ElementLimits& limits, int threads,
                          Simd simd) {
  return InParts(reference.spec, threads, [&](Measurement& out, int64_t begin, int64_t end) {
    FloatWorker(subject, reference, wanted, limits, simd, out).Run(begin, end);
  });
}

Measurement MeasureIntegers(const Subject& subject, const TensorView& reference,
                            const TensorView* oracle, int threads) {
  return InParts(reference.spec, threads, [&](Measurement& out, int64_t begin, int64_t end) {
    const auto scratch = std::make_unique<double[]>(kTileElements);
    for (int64_t at = begin; at < end; at += kTileElements) {
      const auto count = static_cast<size_t>(std::min<int64_t>(kTileElements, end - at));
      const auto* got = static_cast<const char*>(subject.candidate(at, count, scratch.get()));
      if (std::memcmp(got, At(reference, at), count * DTypeBytes(subject.dtype)) == 0) continue;
      MeasureIntegerTile(subject, reference, oracle, got, at, count, out);
    }
  });
}

}  // namespace kerf::verify
