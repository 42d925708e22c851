// Matrix products: operands are unpacked into plain rows, so that one loop serves all layouts.
#include <algorithm>
#include <vector>

#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

struct Sizes {
  int64_t m = 0, k = 0, n = 0;
};

template <typename T>
std::vector<T> Unpack(TileIo& io, int64_t rows, int64_t cols) {
  std::vector<T> out(static_cast<size_t>(rows * cols));
  for (int64_t r = 0; r < rows; ++r) {
    if constexpr (std::is_same_v<T, float>) {
      io.ReadReal(r, 0, cols, out.data() + r * cols);
    } else {
      std::vector<int64_t> line(static_cast<size_t>(cols));
      io.ReadInteger(r, 0, cols, line.data());
      std::copy(line.begin(), line.end(), out.begin() + r * cols);
    }
  }
  return out;
}

template <typename T>
void Pack(TileIo& io, const std::vector<T>& values, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    if constexpr (std::is_same_v<T, float>) {
      io.WriteReal(r, 0, cols, values.data() + r * cols);
    } else {
      const std::vector<int64_t> line(values.begin() + r * cols, values.begin() + (r + 1) * cols);
      io.WriteInteger(r, 0, cols, line.data());
    }
  }
}

// c += a·b, k ascending, so that the sum has one order.
template <typename T, typename Sum>
void MultiplyAdd(const Sizes& s, const std::vector<T>& a, const std::vector<T>& b,
                 std::vector<Sum>& c) {
  for (int64_t i = 0; i < s.m; ++i) {
    Sum* row = c.data() + i * s.n;
    for (int64_t k = 0; k < s.k; ++k) {
      const T x = a[static_cast<size_t>(i * s.k + k)];
      const T* other = b.data() + k * s.n;
      for (int64_t j = 0; j < s.n; ++j)
        row[j] = static_cast<Sum>(static_cast<T>(row[j]) + x * other[j]);
    }
  }
}

Sizes SizesOf(Unit& unit, Op op, const TileRef& c, const TileRef& a, const TileRef& b) {
  const Sizes sizes{a.valid_rows, a.valid_cols, b.valid_cols};
  const auto complain = [&](const std::string& text) {
    unit.complaints().Fail(FindingKind::kShape, text);
  };
  const bool vector = op >= Op::TGEMV && op <= Op::TGEMV_MX;
  if (vector && sizes.m != 1) complain("a vector has one row, a has " + std::to_string(sizes.m));
  if (b.valid_rows != sizes.k) {
    complain("a has " + std::to_string(sizes.k) + " valid columns, b has " +
             std::to_string(b.valid_rows) + " valid rows");
  }
  if (c.rows < sizes.m || c.cols < sizes.n) {
    complain("the product is " + std::to_string(sizes.m) + "x" + std::to_string(sizes.n) +
             ", its tile " + std::to_string(c.rows) + "x" + std::to_string(c.cols));
  }
  if (sizes.m > 4095 || sizes.k > 4095 || sizes.n > 4095)
    complain("M, K and N of a product are at most 4095");
  return sizes;
}

// What a product starts from: zeros, what was there, or a bias for each column.
template <typename T>
std::vector<T> Initial(Unit& unit, const Sizes& sizes, const TileRef* tile, bool bias) {
  std::vector<T> sum(static_cast<size_t>(sizes.m * sizes.n));
  if (tile == nullptr) return sum;
  TileIo start = unit.Open(*tile);
  sum = Unpack<T>(start, bias ? 1 : sizes.m, sizes.n);
  unit.Close(start, bias ? "the bias" : "the accumulator");
  sum.resize(static_cast<size_t>(sizes.m * sizes.n));
  for (int64_t r = 1; bias && r < sizes.m; ++r)
    std::copy_n(sum.begin(), sizes.n, sum.begin() + r * sizes.n);
  return sum;
}

template <typename T>
void Product(Unit& unit, const Call& call, const TileRef* initial, bool bias) {
  const Sizes sizes = SizesOf(unit, call.op, call.tile[0], call.tile[1], call.tile[2]);
  TileIo c = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo b = unit.Open(call.tile[2]);
  const std::vector<T> x = Unpack<T>(a, sizes.m, sizes.k);
  const std::vector<T> y = Unpack<T>(b, sizes.k, sizes.n);
  std::vector<T> sum = Initial<T>(unit, sizes, initial, bias);
  MultiplyAdd(sizes, x, y, sum);
  Pack(c, sum, sizes.m, sizes.n);
  unit.Close(a, "a");
  unit.Close(b, "b");
}

// Two of fp8, or two of fp4.
void CheckScaledTypes(Unit& unit, const Call& call) {
  const Type a = call.tile[1].type;
  const Type b = call.tile[3].type;
  const auto fp8 = [](Type type) { return type == Type::kE4M3 || type == Type::kE5M2; };
  const auto fp4 = [](Type type) { return type == Type::kE2M1x2 || type == Type::kE1M2x2; };
  const bool scales = call.tile[2].type == Type::kE8M0 && call.tile[4].type == Type::kE8M0;
  if (scales && ((fp8(a) && fp8(b)) || (fp4(a) && fp4(b)))) return;
  unit.complaints().Fail(FindingKind::kUnsupported,
                         std::string(OpName(call.op)) + " on " + TypeName(a) + " and " +
                             TypeName(b) + " with scales of " + TypeName(call.tile[2].type) +
                             " and " + TypeName(call.tile[4].type) +
                             "; it takes two of fp8 or two of fp4, and fp8_e8m0");
}

// A row-major matrix whose element (r, c) is multiplied by scale(r, c). In double nothing is lost:
// 2^-127 times 2^127 is 1.
template <typename F>
std::vector<double> Scale(const std::vector<float>& values, int64_t cols, F&& scale) {
  std::vector<double> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    out[i] = static_cast<double>(values[i]) * static_cast<double>(scale(at / cols, at % cols));
  }
  return out;
}

// One scale of 8 bits for each 32 steps of k, of every row of a and every column of b.
void ScaledProduct(Unit& unit, const Call& call) {
  CheckScaledTypes(unit, call);
  const TileRef& ta = call.tile[1];
  const TileRef& tb = call.tile[3];
  const Sizes sizes = SizesOf(unit, call.op, call.tile[0], ta, tb);
  TileIo c = unit.Open(call.tile[0]);
  TileIo a = unit.Open(ta);
  TileIo scale_a = unit.Open(call.tile[2]);
  TileIo b = unit.Open(tb);
  TileIo scale_b = unit.Open(call.tile[4]);
  const int64_t groups = (sizes.k + 31) / 32;
  const std::vector<float> sa = Unpack<float>(scale_a, sizes.m, groups);
  const std::vector<float> sb = Unpack<float>(scale_b, groups, sizes.n);
  const std::vector<double> x =
      Scale(Unpack<float>(a, sizes.m, sizes.k), sizes.k,
            [&](int64_t r, int64_t k) { return sa[static_cast<size_t>(r * groups + k / 32)]; });
  const std::vector<double> y = Scale(
      Unpack<float>(b, sizes.k, sizes.n), sizes.n,
      [&](int64_t k, int64_t col) { return sb[static_cast<size_t>(k / 32 * sizes.n + col)]; });
  std::vector<float> sum =
      Initial<float>(unit, sizes, call.tiles == 6 ? &call.tile[5] : nullptr, call.option[1] != 0);
  MultiplyAdd(sizes, x, y, sum);
  Pack(c, sum, sizes.m, sizes.n);
  for (const TileIo* io : {&a, &scale_a, &b, &scale_b}) unit.Close(*io, "source");
}

}  // namespace

bool ExecuteProduct(Unit& unit, const Call& call) {
  const bool accumulate = call.op == Op::TMATMUL_ACC || call.op == Op::TGEMV_ACC;
  const bool bias = call.op == Op::TMATMUL_BIAS || call.op == Op::TGEMV_BIAS;
  if (call.op == Op::TMATMUL_MX || call.op == Op::TGEMV_MX) {
    ScaledProduct(unit, call);
    return true;
  }
  if (!accumulate && !bias && call.op != Op::TMATMUL && call.op != Op::TGEMV) return false;
  const TileRef* initial = nullptr;
  if (accumulate) initial = call.tiles == 4 ? &call.tile[3] : &call.tile[0];
  if (bias) initial = &call.tile[3];
  const Type in = call.tile[1].type;
  const Type out = call.tile[0].type;
  if (call.tile[2].type == in && IsFloat(in) && kerf_pto::PerByte(in) == 1 && out == Type::kF32) {
    Product<float>(unit, call, initial, bias);
  } else if (call.tile[2].type == in && (in == Type::kI8 || in == Type::kU8) && out == Type::kI32) {
    Product<int32_t>(unit, call, initial, bias);
  } else {
    unit.complaints().Fail(FindingKind::kUnsupported,
                           std::string(OpName(call.op)) + " of " + TypeName(in) + " and " +
                               TypeName(call.tile[2].type) + " into " + TypeName(out));
  }
  return true;
}

}  // namespace kerf::sim
