// Instructions that look at each element alone.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/machine/aligned.h"

namespace kerf::sim {
namespace {

template <typename F>
void Each2(int64_t n, const auto* a, const auto* b, auto* d, F&& f) {
  for (int64_t i = 0; i < n; ++i) d[i] = f(a[i], b[i]);
}

bool RealBinary(Op op, int64_t n, const float* a, const float* b, float* d) {
  switch (op) {
    case Op::TADD:
      Each2(n, a, b, d, [](float x, float y) { return x + y; });
      return true;
    case Op::TSUB:
      Each2(n, a, b, d, [](float x, float y) { return x - y; });
      return true;
    case Op::TMUL:
      Each2(n, a, b, d, [](float x, float y) { return x * y; });
      return true;
    case Op::TDIV:
      Each2(n, a, b, d, [](float x, float y) { return x / y; });
      return true;
    case Op::TMAX:
      Each2(n, a, b, d, [](float x, float y) { return x > y || std::isnan(x) ? x : y; });
      return true;
    case Op::TMIN:
      Each2(n, a, b, d, [](float x, float y) { return x < y || std::isnan(x) ? x : y; });
      return true;
    case Op::TREM:
      Each2(n, a, b, d, [](float x, float y) { return x - std::floor(x / y) * y; });
      return true;
    case Op::TFMOD:
      Each2(n, a, b, d, [](float x, float y) { return std::fmod(x, y); });
      return true;
    case Op::TPOW:
      Each2(n, a, b, d, [](float x, float y) { return std::pow(x, y); });
      return true;
    case Op::TPRELU:
      Each2(n, a, b, d, [](float x, float y) { return x > 0 ? x : x * y; });
      return true;
    default:
      return false;
  }
}

// Bits beyond the type's width are cut off when the row is stored; a shift by more yields 0.
int64_t ShiftLeft(int64_t x, int64_t y) { return y < 0 || y > 63 ? 0 : I(U(x) << y); }
int64_t ShiftRight(int64_t x, int64_t y) { return y < 0 || y > 63 ? (x < 0 ? -1 : 0) : x >> y; }

// A remainder has the divisor's sign, that of fmod the dividend's.
int64_t Divide(Op op, int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return op == Op::TDIV ? I(-U(x)) : 0;
  if (op == Op::TDIV) return x / y;
  const int64_t rest = x % y;
  return op == Op::TREM && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

int64_t Power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  int64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = I(U(base) * U(base))) {
    if ((exponent & 1) != 0) result = I(U(result) * U(base));
  }
  return result;
}

bool IntegerBinary(Op op, int64_t n, const int64_t* a, const int64_t* b, int64_t* d,
                   bool& by_zero) {
  switch (op) {
    case Op::TADD:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return I(U(x) + U(y)); });
      return true;
    case Op::TSUB:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return I(U(x) - U(y)); });
      return true;
    case Op::TMUL:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return I(U(x) * U(y)); });
      return true;
    case Op::TMAX:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return std::max(x, y); });
      return true;
    case Op::TMIN:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return std::min(x, y); });
      return true;
    case Op::TAND:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return x & y; });
      return true;
    case Op::TOR:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return x | y; });
      return true;
    case Op::TXOR:
      Each2(n, a, b, d, [](int64_t x, int64_t y) { return x ^ y; });
      return true;
    case Op::TSHL:
      Each2(n, a, b, d, ShiftLeft);
      return true;
    case Op::TSHR:
      Each2(n, a, b, d, ShiftRight);
      return true;
    case Op::TPOW:
      Each2(n, a, b, d, Power);
      return true;
    case Op::TDIV:
    case Op::TREM:
    case Op::TFMOD:
      for (int64_t i = 0; i < n; ++i) {
        by_zero = by_zero || b[i] == 0;
        d[i] = Divide(op, a[i], b[i]);
      }
      return true;
    default:
      return false;
  }
}

// The op on two tiles that an op with a scalar stands for.
bool WithoutScalar(Op op, Op& binary) {
  switch (op) {
    case Op::TADDS:
      binary = Op::TADD;
      return true;
    case Op::TSUBS:
      binary = Op::TSUB;
      return true;
    case Op::TMULS:
      binary = Op::TMUL;
      return true;
    case Op::TDIVS:
      binary = Op::TDIV;
      return true;
    case Op::TMAXS:
      binary = Op::TMAX;
      return true;
    case Op::TMINS:
      binary = Op::TMIN;
      return true;
    case Op::TREMS:
      binary = Op::TREM;
      return true;
    case Op::TFMODS:
      binary = Op::TFMOD;
      return true;
    case Op::TPOWS:
      binary = Op::TPOW;
      return true;
    case Op::TANDS:
      binary = Op::TAND;
      return true;
    case Op::TORS:
      binary = Op::TOR;
      return true;
    case Op::TXORS:
      binary = Op::TXOR;
      return true;
    case Op::TSHLS:
      binary = Op::TSHL;
      return true;
    case Op::TSHRS:
      binary = Op::TSHR;
      return true;
    case Op::TLRELU:
      binary = Op::TPRELU;
      return true;
    default:
      return false;
  }
}

bool IsBinary(Op op) { return op >= Op::TADD && op <= Op::TPRELU; }

void Binary(Unit& unit, const Call& call, Op op, bool scalar) {
  CheckTypes(unit, call, scalar ? 2 : 3);
  const Shapes shapes = Align(unit, call, scalar ? 2 : 3);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  TileIo b = scalar ? a : unit.Open(shapes.tile[2]);
  const auto n = static_cast<size_t>(shapes.cols);
  const bool swapped = scalar && call.option[0] != 0;  // the scalar comes first
  if (IsFloat(shapes.tile[0].type)) {
    std::vector<float> x(n), y(n, static_cast<float>(call.number.real));
    for (int64_t r = 0; r < shapes.rows; ++r) {
      a.ReadReal(r, 0, shapes.cols, x.data());
      if (!scalar) b.ReadReal(r, 0, shapes.cols, y.data());
      float* first = swapped ? y.data() : x.data();
      float* second = swapped ? x.data() : y.data();
      if (!RealBinary(op, shapes.cols, first, second, x.data())) Unsupported(unit, call);
      d.WriteReal(r, 0, shapes.cols, x.data());
    }
  } else {
    std::vector<int64_t> x(n), y(n, call.number.integer);
    bool by_zero = false;
    for (int64_t r = 0; r < shapes.rows; ++r) {
      a.ReadInteger(r, 0, shapes.cols, x.data());
      if (!scalar) b.ReadInteger(r, 0, shapes.cols, y.data());
      int64_t* first = swapped ? y.data() : x.data();
      int64_t* second = swapped ? x.data() : y.data();
      if (!IntegerBinary(op, shapes.cols, first, second, x.data(), by_zero))
        Unsupported(unit, call);
      d.WriteInteger(r, 0, shapes.cols, x.data());
    }
    if (by_zero) unit.complaints().Warn(FindingKind::kIndex, "divides an integer by zero");
  }
  unit.Close(a, "source 1");
  if (!scalar) unit.Close(b, "source 2");
}

float RealUnary(Op op, float x) {
  switch (op) {
    case Op::TEXP:
      return std::exp(x);
    case Op::TLOG:
      return std::log(x);
    case Op::TSQRT:
      return std::sqrt(x);
    case Op::TRSQRT:
      return 1.0F / std::sqrt(x);
    case Op::TRECIP:
      return 1.0F / x;
    case Op::TNEG:
      return -x;
    case Op::TABS:
      return std::fabs(x);
    default:
      return x > 0 ? x : 0;  // TRELU
  }
}

void Unary(Unit& unit, const Call& call) {
  CheckTypes(unit, call, 2);
  const Shapes shapes = Align(unit, call, 2);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  const auto n = static_cast<size_t>(shapes.cols);
  const Op op = call.op;
  const bool integers = op == Op::TNEG || op == Op::TABS || op == Op::TRELU || op == Op::TNOT;
  if (IsFloat(shapes.tile[0].type) && op != Op::TNOT) {
    std::vector<float> x(n);
    for (int64_t r = 0; r < shapes.rows; ++r) {
      a.ReadReal(r, 0, shapes.cols, x.data());
      for (float& value : x) value = RealUnary(op, value);
      d.WriteReal(r, 0, shapes.cols, x.data());
    }
  } else if (integers && !IsFloat(shapes.tile[0].type)) {
    std::vector<int64_t> x(n);
    for (int64_t r = 0; r < shapes.rows; ++r) {
      a.ReadInteger(r, 0, shapes.cols, x.data());
      for (int64_t& value : x) {
        if (op == Op::TNOT)
          value = ~value;
        else if (op == Op::TNEG || (op == Op::TABS && value < 0))
          value = I(-U(value));
        else if (op == Op::TRELU)
          value = std::max<int64_t>(value, 0);
      }
      d.WriteInteger(r, 0, shapes.cols, x.data());
    }
  } else {
    Unsupported(unit, call);
  }
  unit.Close(a, "source");
}

}  // namespace

bool ExecuteElementwise(Unit& unit, const Call& call) {
  Op binary{};
  if (WithoutScalar(call.op, binary)) {
    Binary(unit, call, binary, true);
  } else if (IsBinary(call.op)) {
    Binary(unit, call, call.op, false);
  } else if (call.op >= Op::TEXP && call.op <= Op::TNOT) {
    Unary(unit, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace kerf::sim
