// Instructions that compute on three operands at once, or compute and narrow.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/machine/aligned.h"

namespace kerf::sim {
namespace {

constexpr float kLargestHalf = 65504;

// What an element becomes: `d` is the destination before, `s` the scalar.
struct Operands {
  int sources;  // tiles behind the destination
  bool reads_destination;
  bool scalar;
};
bool OperandsOf(Op op, Operands& operands) {
  switch (op) {
    case Op::TADDC:
    case Op::TSUBC:
      operands = {3, false, false};
      return true;
    case Op::TADDSC:
    case Op::TSUBSC:
      operands = {2, false, true};
      return true;
    case Op::TFUSEDMULADD:
    case Op::TFUSEDMULADDRELU:
    case Op::TMULADDDST:
      operands = {2, true, false};
      return true;
    case Op::TSUBRELU:
      operands = {2, false, false};
      return true;
    default:
      return false;
  }
}

float Fuse(Op op, float d, float a, float b, float c) {
  switch (op) {
    case Op::TADDC:
      return a + b + c;
    case Op::TSUBC:
      return a - b + c;
    case Op::TADDSC:  // c is the scalar
      return a + c + b;
    case Op::TSUBSC:
      return a - c + b;
    case Op::TFUSEDMULADD:
      return std::fma(a, d, b);
    case Op::TFUSEDMULADDRELU:
      return std::max(std::fma(a, d, b), 0.0F);
    case Op::TMULADDDST:
      return std::fma(a, b, d);
    default:
      return std::max(a - b, 0.0F);  // TSUBRELU
  }
}

int64_t Fuse(Op op, int64_t, int64_t a, int64_t b, int64_t c) {
  switch (op) {
    case Op::TADDC:
    case Op::TADDSC:
      return I(U(a) + U(b) + U(c));
    case Op::TSUBC:
      return I(U(a) - U(b) + U(c));
    default:
      return I(U(a) - U(c) + U(b));  // TSUBSC
  }
}

template <typename T>
void Run(Unit& unit, const Call& call, const Operands& operands) {
  const Shapes shapes = Align(unit, call, 1 + operands.sources);
  TileIo d = unit.Open(shapes.tile[0]);
  std::vector<TileIo> sources;
  for (int i = 0; i < operands.sources; ++i) sources.push_back(unit.Open(shapes.tile[1 + i]));
  const auto n = static_cast<size_t>(shapes.cols);
  T scalar{};
  if constexpr (std::is_same_v<T, float>)
    scalar = static_cast<float>(call.number.real);
  else
    scalar = call.number.integer;
  std::vector<T> old(n), x[3] = {std::vector<T>(n), std::vector<T>(n), std::vector<T>(n, scalar)};
  for (int64_t r = 0; r < shapes.rows; ++r) {
    if (operands.reads_destination) ReadRow(d, r, 0, shapes.cols, old.data());
    for (size_t i = 0; i < sources.size(); ++i) ReadRow(sources[i], r, 0, shapes.cols, x[i].data());
    for (size_t i = 0; i < n; ++i) old[i] = Fuse(call.op, old[i], x[0][i], x[1][i], x[2][i]);
    WriteRow(d, r, 0, shapes.cols, old.data());
  }
  unit.Close(d, "the destination, which is read too");
  for (const TileIo& source : sources) unit.Close(source, "source");
}

// d = s·a + d
void ScaleAndAdd(Unit& unit, const Call& call) {
  const Shapes shapes = Align(unit, call, 2);
  const Type to = shapes.tile[0].type;
  const Type from = shapes.tile[1].type;
  const bool widens = to == Type::kF32 && from == Type::kF16;
  if (!IsFloat(to) || (to != from && !widens)) Unsupported(unit, call);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  const auto scale = static_cast<float>(call.number.real);
  std::vector<float> x(static_cast<size_t>(shapes.cols)), y(x.size());
  for (int64_t r = 0; r < shapes.rows; ++r) {
    a.ReadReal(r, 0, shapes.cols, x.data());
    d.ReadReal(r, 0, shapes.cols, y.data());
    for (size_t i = 0; i < x.size(); ++i) y[i] = std::fma(scale, x[i], y[i]);
    d.WriteReal(r, 0, shapes.cols, y.data());
  }
  unit.Close(d, "the destination, which is read too");
  unit.Close(a, "source");
}

// The larger of a + b and 0 in a narrower type, saturated, to nearest even.
void AddReluConvert(Unit& unit, const Call& call) {
  const Shapes shapes = Align(unit, call, 3);
  const Type to = shapes.tile[0].type;
  const Type from = shapes.tile[1].type;
  const bool to_half = from == Type::kF32 && to == Type::kF16;
  const bool to_byte = (from == Type::kF16 || from == Type::kI16) && to == Type::kI8;
  if (shapes.tile[2].type != from || (!to_half && !to_byte)) Unsupported(unit, call);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  TileIo b = unit.Open(shapes.tile[2]);
  std::vector<float> x(static_cast<size_t>(shapes.cols)), y(x.size());
  std::vector<int64_t> p(x.size()), q(x.size());
  for (int64_t r = 0; r < shapes.rows; ++r) {
    if (IsFloat(from)) {
      a.ReadReal(r, 0, shapes.cols, x.data());
      b.ReadReal(r, 0, shapes.cols, y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = std::min(std::max(x[i] + y[i], 0.0F), to_half ? kLargestHalf : 127.0F);
        p[i] = std::lrint(x[i]);
      }
    } else {
      a.ReadInteger(r, 0, shapes.cols, p.data());
      b.ReadInteger(r, 0, shapes.cols, q.data());
      for (size_t i = 0; i < p.size(); ++i) p[i] = std::clamp<int64_t>(p[i] + q[i], 0, 127);
    }
    if (to_half)
      d.WriteReal(r, 0, shapes.cols, x.data());
    else
      d.WriteInteger(r, 0, shapes.cols, p.data());
  }
  unit.Close(a, "source 1");
  unit.Close(b, "source 2");
}

// The larger of (a + b)·scale and 0, as half.
void AddDequantizeRelu(Unit& unit, const Call& call) {
  const Shapes shapes = Align(unit, call, 3);
  const bool known = shapes.tile[0].type == Type::kF16 && shapes.tile[1].type == Type::kI32 &&
                     shapes.tile[2].type == Type::kI32;
  if (!known) Unsupported(unit, call);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  TileIo b = unit.Open(shapes.tile[2]);
  std::vector<int64_t> p(static_cast<size_t>(shapes.cols)), q(p.size());
  std::vector<float> out(p.size());
  for (int64_t r = 0; r < shapes.rows; ++r) {
    a.ReadInteger(r, 0, shapes.cols, p.data());
    b.ReadInteger(r, 0, shapes.cols, q.data());
    for (size_t i = 0; i < p.size(); ++i) {
      const auto sum = static_cast<int32_t>(static_cast<uint32_t>(p[i] + q[i]));
      const double scaled = static_cast<double>(sum) * call.number.real;
      out[i] = static_cast<float>(std::clamp(scaled, 0.0, static_cast<double>(kLargestHalf)));
    }
    d.WriteReal(r, 0, shapes.cols, out.data());
  }
  unit.Close(a, "source 1");
  unit.Close(b, "source 2");
}

}  // namespace

bool ExecuteFused(Unit& unit, const Call& call) {
  Operands operands{};
  if (OperandsOf(call.op, operands)) {
    CheckTypes(unit, call, 1 + operands.sources);
    const bool real = IsFloat(call.tile[0].type);
    const bool sums = call.op >= Op::TADDC && call.op <= Op::TSUBSC;
    if (!real && !sums) Unsupported(unit, call);
    real ? Run<float>(unit, call, operands) : Run<int64_t>(unit, call, operands);
  } else if (call.op == Op::TAXPY) {
    ScaleAndAdd(unit, call);
  } else if (call.op == Op::TADDRELUCONV) {
    AddReluConvert(unit, call);
  } else if (call.op == Op::TADDDEQRELU) {
    AddDequantizeRelu(unit, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace kerf::sim
