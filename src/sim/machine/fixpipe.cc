#include "sim/machine/fixpipe.h"

#include <algorithm>
#include <cmath>

#include <kerf_pto/numbers.h>

namespace kerf::sim {
namespace {

[[noreturn]] void Refuse(Unit& unit, const Call& call, const Finish& finish, const char* why) {
  unit.complaints().Fail(FindingKind::kUnsupported, std::string(OpName(call.op)) + " of " +
                                                        TypeName(finish.from) + " as " +
                                                        TypeName(finish.to) + why);
}

struct Limits {
  double low, high;
};
bool LimitsOf(Type type, Limits& limits) {
  switch (type) {
    case Type::kI8:
      limits = {-128, 127};
      return true;
    case Type::kU8:
      limits = {0, 255};
      return true;
    case Type::kI16:
      limits = {-32768, 32767};
      return true;
    default:
      return false;
  }
}

std::vector<float> ReadFloats(TileIo& io, int64_t row, int64_t col, int64_t count, Type from) {
  std::vector<float> values(static_cast<size_t>(count));
  if (IsFloat(from)) {
    io.ReadReal(row, col, count, values.data());
  } else {
    std::vector<int64_t> integers(values.size());
    io.ReadInteger(row, col, count, integers.data());
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(integers[i]);
  }
  return values;
}

// To nearest even, saturated; NaN becomes 0.
void Quantize(Unit& unit, const Call& call, std::vector<float>& values, const Finish& finish,
              char* line) {
  Limits limits{};
  if (!LimitsOf(finish.to, limits)) Refuse(unit, call, finish, "");
  std::vector<int64_t> integers(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double rounded = std::nearbyint(static_cast<double>(values[i]));
    integers[i] = std::isnan(rounded)
                      ? 0
                      : static_cast<int64_t>(std::clamp(rounded, limits.low, limits.high));
  }
  EncodeIntegers(finish.to, integers.data(), static_cast<int64_t>(values.size()), line);
}

}  // namespace

float ScaleOf(uint64_t parameter) {
  return kerf_pto::FloatOfBits(static_cast<uint32_t>(parameter));
}

std::vector<float> ScalesOf(Unit& unit, const TileRef& parameters, int64_t count) {
  TileIo io = unit.Open(parameters);
  const size_t size = io.element_bytes();
  if (size != 8 && parameters.type != Type::kF32) {
    unit.complaints().Fail(FindingKind::kUnsupported, std::string("parameters of type ") +
                                                          TypeName(parameters.type) +
                                                          "; they are uint64 or float32");
  }
  if (parameters.cols < count) {
    unit.complaints().Fail(
        FindingKind::kShape,
        std::to_string(count) + " columns, and parameters for " + std::to_string(parameters.cols));
  }
  std::vector<float> scales(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    io.Read(0, i, 1, &bits);
    scales[static_cast<size_t>(i)] = ScaleOf(bits);
  }
  unit.Close(io, "the parameters");
  return scales;
}

void FinishRow(Unit& unit, const Call& call, TileIo& io, int64_t row, int64_t col, int64_t count,
               const Finish& finish, char* line) {
  if (finish.from == finish.to && !finish.relu && finish.scales.empty())
    return io.Read(row, col, count, line);
  if (finish.scales.empty() && !IsFloat(finish.from)) {
    if (IsFloat(finish.to)) Refuse(unit, call, finish, " without a scale");
    std::vector<int64_t> integers(static_cast<size_t>(count));
    io.ReadInteger(row, col, count, integers.data());
    if (finish.relu)
      for (int64_t& x : integers) x = std::max<int64_t>(x, 0);
    return EncodeIntegers(finish.to, integers.data(), count, line);
  }
  std::vector<float> values = ReadFloats(io, row, col, count, finish.from);
  if (finish.relu)
    for (float& x : values) x = std::max(x, 0.0F);
  for (size_t i = 0; !finish.scales.empty() && i < values.size(); ++i)
    values[i] *= finish.scales[finish.scales.size() == 1 ? 0 : i];
  if (IsFloat(finish.to)) return EncodeReals(finish.to, values.data(), count, line);
  if (finish.scales.empty()) Refuse(unit, call, finish, " without a scale");
  Quantize(unit, call, values, finish, line);
}

}  // namespace kerf::sim
