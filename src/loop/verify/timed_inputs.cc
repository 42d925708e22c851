#include "loop/verify/timed_inputs.h"

#include "loop/verify/element.h"

namespace kerf::verify {
namespace {

// Multiplies the floats of a tensor by a factor near one: values nobody has seen, with the
// structure they had.
void Scale(const TensorSpec& spec, char* data, double factor) {
  const DType component = ComponentType(spec.dtype);
  const int64_t count = spec.numel() * ComponentsOf(spec.dtype);
  if (component == DType::kFloat32) {
    const auto by = static_cast<float>(factor);
    auto* values = reinterpret_cast<float*>(data);
    for (int64_t i = 0; i < count; ++i) values[i] *= by;
  } else if (component == DType::kFloat64) {
    auto* values = reinterpret_cast<double*>(data);
    for (int64_t i = 0; i < count; ++i) values[i] *= factor;
  } else if (IsFloat(component)) {
    for (int64_t i = 0; i < count; ++i) {
      EncodeElement(component, DecodeElement(component, data, i) * factor, data, i);
    }
  }
}

// Changes single elements, so that a result kept from other inputs cannot be scaled to fit.
void Disturb(const TensorSpec& spec, char* data, IdSource& random) {
  constexpr int kMostElements = 64;
  if (!IsFloat(spec.dtype) || HasOrder(spec, data)) return;
  const auto count = static_cast<uint64_t>(spec.numel());
  for (int k = 0; k < kMostElements && static_cast<uint64_t>(k) * 16 <= count; ++k) {
    const auto at = static_cast<int64_t>(random.Next() % count);
    const double factor = random.Next() % 2 == 0 ? 0.8 : 1.25;
    EncodeElement(spec.dtype, DecodeElement(spec.dtype, data, at) * factor, data, at);
  }
}

}  // namespace

bool HasOrder(const TensorSpec& spec, const char* data) {
  const int64_t count = spec.numel();
  if (count < 3) return true;
  const auto value = [&](int64_t i) { return DecodeElement(spec.dtype, data, i); };
  const int64_t row = spec.shape.back() < 3 ? count : spec.shape.back();
  bool rises = true;
  bool falls = true;
  for (int64_t i = 1; i < count && (rises || falls); ++i) {
    if (i % row == 0) continue;
    rises = rises && value(i) >= value(i - 1);
    falls = falls && value(i) <= value(i - 1);
  }
  if (rises || falls) return true;
  const size_t rank = spec.shape.size();
  if (rank < 2 || spec.shape[rank - 1] != row || spec.shape[rank - 2] != row) return false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t r = i / row % row;
    const int64_t c = i % row;
    if (value(i) != value(i / (row * row) * row * row + c * row + r)) return false;
  }
  return true;
}

Renewal::Renewal(IdSource& random)
    : random_(random),
      factor_(0.97 + 0.06 * static_cast<double>(random.Next() >> 11) / 9007199254740992.0) {}

void Renewal::Apply(const TensorSpec& spec, char* data) {
  Scale(spec, data, factor_);
  Disturb(spec, data, random_);
}

}  // namespace kerf::verify
