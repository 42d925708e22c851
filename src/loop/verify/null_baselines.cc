#include "loop/verify/null_baselines.h"

#include <array>
#include <cmath>
#include <functional>

namespace kerf::verify {
namespace {

double MeanOf(const TensorView& view) {
  std::array<double, kTileElements> values{};
  const DType type = ComponentType(view.spec.dtype);
  const int64_t count = view.spec.numel() * ComponentsOf(view.spec.dtype);
  double sum = 0;
  int64_t finite = 0;
  for (int64_t at = 0; at < count; at += kTileElements) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kTileElements, count - at));
    DecodeElements(
        type, static_cast<const char*>(view.data) + at * static_cast<int64_t>(DTypeBytes(type)), n,
        values.data());
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(values[i])) continue;
      sum += values[i];
      ++finite;
    }
  }
  return finite == 0 ? 0 : sum / static_cast<double>(finite);
}

// A tensor whose component i is `value(i)`, rounded to the output's type.
ElementSource Made(DType dtype, std::function<double(int64_t)> value) {
  return [dtype, value = std::move(value)](int64_t begin, size_t count, void* scratch) {
    for (size_t i = 0; i < count; ++i) {
      const auto offset = static_cast<int64_t>(i);
      EncodeElement(dtype, value(begin + offset), scratch, offset);
    }
    return static_cast<const void*>(scratch);
  };
}

}  // namespace

std::vector<NullBaseline> RunNullBaselines(const Expected& expected, const Budget& budget,
                                           const std::vector<NamedView>& others, int threads) {
  const TensorSpec& spec = expected.reference.spec;
  const TensorView& wanted = expected.wanted();
  const int64_t parts = ComponentsOf(spec.dtype);
  const int64_t count = spec.numel() * parts;
  std::vector<NullBaseline> results;
  const auto run = [&](std::string name, const ElementSource& source) {
    results.push_back({std::move(name), CompareSource(source, expected, budget, nullptr, threads)});
  };
  const auto made = [&](std::string name, std::function<double(int64_t)> value) {
    run(std::move(name), Made(spec.dtype, std::move(value)));
  };
  const auto wanted_at = [wanted](int64_t i) {
    return DecodeElement(wanted.spec.dtype, wanted.data, i);
  };
  if (count > 0) {
    made("zeros", [](int64_t) { return 0.0; });
    made("ones", [](int64_t) { return 1.0; });
  }
  if (spec.numel() > 1) {  // of one element, as losses have, the mean is the answer
    made("mean", [mean = MeanOf(wanted)](int64_t) { return mean; });
    made("shifted", [=](int64_t i) { return wanted_at((i + parts) % count); });
    made("first half only", [=](int64_t i) { return i < count / 2 ? wanted_at(i) : 0.0; });
  }
  for (const NamedView& other : others) {
    if (other.view.spec == spec) run("copy of " + other.name, SourceOf(other.view));
  }
  return results;
}

}  // namespace kerf::verify
