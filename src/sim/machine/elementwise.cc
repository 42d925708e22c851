// Instructions that look at each element alone, and conversions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <kerf_pto/numbers.h>

#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

using kerf_pto::Rounding;

// Column vectors are walked along their columns: the loops over rows then do all the work.
TileRef Turned(TileRef tile) {
  std::swap(tile.rows, tile.cols);
  std::swap(tile.valid_rows, tile.valid_cols);
  tile.form = Form::kNd;
  return tile;
}

struct Shapes {
  TileRef tile[3];
  int64_t rows = 0;
  int64_t cols = 0;
};

// The region of the destination; sources must cover it.
Shapes Align(Unit& unit, const Call& call, int count) {
  Shapes shapes;
  bool columns = true;
  for (int i = 0; i < count; ++i) columns = columns && call.tile[i].form == Form::kDn;
  for (int i = 0; i < count; ++i) shapes.tile[i] = columns ? Turned(call.tile[i]) : call.tile[i];
  shapes.rows = shapes.tile[0].valid_rows;
  shapes.cols = shapes.tile[0].valid_cols;
  for (int i = 1; i < count; ++i) {
    const TileRef& source = shapes.tile[i];
    if (source.valid_rows >= shapes.rows && source.valid_cols >= shapes.cols) continue;
    unit.complaints().Warn(FindingKind::kShape,
                           "source " + std::to_string(i) + " is valid for " +
                               std::to_string(source.valid_rows) + "x" +
                               std::to_string(source.valid_cols) + ", the destination for " +
                               std::to_string(shapes.rows) + "x" + std::to_string(shapes.cols));
    shapes.rows = std::min<int64_t>(shapes.rows, source.valid_rows);
    shapes.cols = std::min<int64_t>(shapes.cols, source.valid_cols);
  }
  return shapes;
}

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
    case Op::TPRELU:
      Each2(n, a, b, d, [](float x, float y) { return x > 0 ? x : x * y; });
      return true;
    default:
      return false;
  }
}

uint64_t U(int64_t value) { return static_cast<uint64_t>(value); }
int64_t I(uint64_t value) { return static_cast<int64_t>(value); }
// Bits beyond the type's width are cut off when the row is stored; a shift by more yields 0.
int64_t ShiftLeft(int64_t x, int64_t y) { return y < 0 || y > 63 ? 0 : I(U(x) << y); }
int64_t ShiftRight(int64_t x, int64_t y) { return y < 0 || y > 63 ? (x < 0 ? -1 : 0) : x >> y; }

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
    case Op::TDIV:
    case Op::TREM:
      for (int64_t i = 0; i < n; ++i) {
        by_zero = by_zero || b[i] == 0;
        if (b[i] == 0)
          d[i] = 0;
        else if (b[i] == -1)
          d[i] = op == Op::TDIV ? I(-U(a[i])) : 0;
        else
          d[i] = op == Op::TDIV ? a[i] / b[i] : a[i] % b[i];
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

bool IsBinary(Op op) {
  return (op >= Op::TADD && op <= Op::TPRELU) || (op >= Op::TPARTADD && op <= Op::TPARTMUL);
}

void CheckTypes(Unit& unit, const Call& call, int count) {
  for (int i = 1; i < count; ++i) {
    if (call.tile[i].type == call.tile[0].type) continue;
    unit.complaints().Fail(FindingKind::kUnsupported, std::string(OpName(call.op)) + " on " +
                                                          TypeName(call.tile[0].type) + " and " +
                                                          TypeName(call.tile[i].type));
  }
}

[[noreturn]] void Unsupported(Unit& unit, const Call& call) {
  unit.complaints().Fail(FindingKind::kUnsupported,
                         std::string(OpName(call.op)) + " on " + TypeName(call.tile[0].type));
}

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

// Where only one source is valid its element is taken as it is.
void Partial(Unit& unit, const Call& call) {
  CheckTypes(unit, call, 3);
  const Op op = call.op == Op::TPARTADD   ? Op::TADD
                : call.op == Op::TPARTMUL ? Op::TMUL
                : call.op == Op::TPARTMAX ? Op::TMAX
                                          : Op::TMIN;
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo b = unit.Open(call.tile[2]);
  if (!IsFloat(call.tile[0].type)) Unsupported(unit, call);
  const int64_t cols = call.tile[0].valid_cols;
  std::vector<float> x(static_cast<size_t>(cols)), y(static_cast<size_t>(cols));
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    const int64_t na =
        r < call.tile[1].valid_rows ? std::min<int64_t>(cols, call.tile[1].valid_cols) : 0;
    const int64_t nb =
        r < call.tile[2].valid_rows ? std::min<int64_t>(cols, call.tile[2].valid_cols) : 0;
    if (na > 0) a.ReadReal(r, 0, na, x.data());
    if (nb > 0) b.ReadReal(r, 0, nb, y.data());
    RealBinary(op, std::min(na, nb), x.data(), y.data(), x.data());
    for (int64_t i = na; i < nb; ++i) x[static_cast<size_t>(i)] = y[static_cast<size_t>(i)];
    d.WriteReal(r, 0, std::max(na, nb), x.data());
  }
  unit.Close(a, "source 1");
  unit.Close(b, "source 2");
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

// --- conversions ---

double Rounded(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kRound:
      return std::round(value);
    case Rounding::kFloor:
      return std::floor(value);
    case Rounding::kCeil:
      return std::ceil(value);
    case Rounding::kTrunc:
      return std::trunc(value);
    case Rounding::kOdd: {
      const double down = std::trunc(value);
      return down == value || std::fmod(down, 2) != 0 ? down : down + (value < 0 ? -1 : 1);
    }
    default:
      return std::nearbyint(value);
  }
}

struct Range {
  int64_t low;
  int64_t high;
};
Range RangeOf(Type type) {
  switch (type) {
    case Type::kI8:
      return {-128, 127};
    case Type::kU8:
      return {0, 255};
    case Type::kBool:
      return {0, 1};
    case Type::kI16:
      return {-32768, 32767};
    case Type::kU16:
      return {0, 65535};
    case Type::kI32:
      return {INT32_MIN, INT32_MAX};
    case Type::kU32:
      return {0, UINT32_MAX};
    case Type::kU64:
      return {0, INT64_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

// NaN becomes 0. Without saturation the low bits remain, of a value that fits into 64.
int64_t ToInteger(float value, Rounding rounding, const Range& range, bool saturate) {
  if (std::isnan(value)) return 0;
  const double rounded = Rounded(value, rounding);
  constexpr double kTop = 9223372036854775808.0;
  int64_t integer = 0;
  if (rounded >= kTop)
    integer = INT64_MAX;
  else if (rounded <= -kTop)
    integer = INT64_MIN;
  else
    integer = static_cast<int64_t>(rounded);
  return saturate ? std::clamp(integer, range.low, range.high) : integer;
}

const kerf_pto::SmallFloat* FormatOf(Type type) {
  switch (type) {
    case Type::kF32:
      return &kerf_pto::kFloatFormat;
    case Type::kF16:
      return &kerf_pto::kHalfFormat;
    case Type::kBf16:
      return &kerf_pto::kBfloat16Format;
    case Type::kE4M3:
      return &kerf_pto::kE4M3Format;
    case Type::kE5M2:
      return &kerf_pto::kE5M2Format;
    default:
      return nullptr;
  }
}

struct Conversion {
  Type from;
  Type to;
  Rounding rounding;
  bool saturate;
};

void ConvertReals(const Conversion& how, std::vector<float>& x, TileIo& d, int64_t row) {
  const auto n = static_cast<int64_t>(x.size());
  if (!IsFloat(how.to)) {
    std::vector<int64_t> out(x.size());
    const Range range = RangeOf(how.to);
    for (size_t i = 0; i < x.size(); ++i)
      out[i] = ToInteger(x[i], how.rounding, range, how.saturate);
    return d.WriteInteger(row, 0, n, out.data());
  }
  if (how.from == Type::kF32 && how.to == Type::kF32) {  // to whole numbers
    if (how.rounding != Rounding::kNone) {
      for (float& value : x) value = static_cast<float>(Rounded(value, how.rounding));
    }
    return d.WriteReal(row, 0, n, x.data());
  }
  const kerf_pto::SmallFloat* format = FormatOf(how.to);
  const bool nearest = how.rounding == Rounding::kRint || how.rounding == Rounding::kNone;
  if (how.to == Type::kF32 || nearest || format == nullptr) return d.WriteReal(row, 0, n, x.data());
  for (float& value : x) {
    value = kerf_pto::DecodeSmall(kerf_pto::EncodeFloat(value, *format, how.rounding), *format);
  }
  d.WriteReal(row, 0, n, x.data());
}

void ConvertIntegers(const Conversion& how, std::vector<int64_t>& x, TileIo& d, int64_t row) {
  const auto n = static_cast<int64_t>(x.size());
  if (!IsFloat(how.to)) {
    const Range range = RangeOf(how.to);
    if (how.saturate) {
      for (int64_t& value : x) value = std::clamp(value, range.low, range.high);
    }
    return d.WriteInteger(row, 0, n, x.data());
  }
  const kerf_pto::SmallFloat* format = FormatOf(how.to);
  std::vector<float> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const bool negative = x[i] < 0;
    const uint64_t magnitude = negative ? -U(x[i]) : U(x[i]);
    out[i] =
        format == nullptr
            ? static_cast<float>(x[i])
            : kerf_pto::DecodeSmall(
                  kerf_pto::EncodeSmall(negative, magnitude, 0, *format, how.rounding), *format);
  }
  d.WriteReal(row, 0, n, out.data());
}

void Convert(Unit& unit, const Call& call) {
  const Shapes shapes = Align(unit, call, 2);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  const Conversion how{shapes.tile[1].type, shapes.tile[0].type,
                       static_cast<Rounding>(call.option[0]), call.option[1] == 0};
  const auto n = static_cast<size_t>(shapes.cols);
  std::vector<float> reals(n);
  std::vector<int64_t> integers(n);
  // Widening in place must not read what was just written.
  const bool backwards = d.element_bytes() > a.element_bytes();
  for (int64_t i = 0; i < shapes.rows; ++i) {
    const int64_t r = backwards ? shapes.rows - 1 - i : i;
    if (IsFloat(how.from)) {
      a.ReadReal(r, 0, shapes.cols, reals.data());
      ConvertReals(how, reals, d, r);
    } else {
      a.ReadInteger(r, 0, shapes.cols, integers.data());
      ConvertIntegers(how, integers, d, r);
    }
  }
  unit.Close(a, "source");
}

}  // namespace

bool ExecuteElementwise(Unit& unit, const Call& call) {
  Op binary{};
  if (WithoutScalar(call.op, binary)) {
    Binary(unit, call, binary, true);
  } else if (call.op >= Op::TPARTADD && call.op <= Op::TPARTMUL) {
    Partial(unit, call);
  } else if (IsBinary(call.op)) {
    Binary(unit, call, call.op, false);
  } else if (call.op >= Op::TEXP && call.op <= Op::TNOT) {
    Unary(unit, call);
  } else if (call.op == Op::TCVT) {
    Convert(unit, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace kerf::sim
