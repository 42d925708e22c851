// Instructions of the vector pipe that do several things at once, choose, or give two results. What
// each does stands in src/sim/machine.
#pragma once

#include "kerf_pto/vector.h"

namespace pto {

enum class FmodSAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class FmodAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RemAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RemSAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class PowAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class ScatterAxis : uint8_t { SCATTER_ROW, SCATTER_COL };
enum class HistByte : uint8_t { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };

// --- remainders and powers ---
KERF_PTO_BINARY(TFMOD)
KERF_PTO_BINARY(TPOW)
KERF_PTO_SCALAR(TFMODS)
KERF_PTO_SCALAR(TPOWS)

// --- three operands ---
// a + b + c, a - b + c
#define KERF_PTO_TERNARY(NAME)                                                                 \
  template <typename D, typename A, typename B, typename C>                                    \
  RecordEvent NAME(D& d, const A& a, const B& b, const C& c, KERF_PTO_AT) {                    \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(d).Tile(a).Tile(b).Tile(c).Run(); \
  }
KERF_PTO_TERNARY(TADDC)
KERF_PTO_TERNARY(TSUBC)
#undef KERF_PTO_TERNARY

// a + s + b, a - s + b
#define KERF_PTO_SCALAR_BETWEEN(NAME)                                                 \
  template <typename D, typename A, typename S, typename B,                           \
            std::enable_if_t<!kerf_pto::kIsTile<S> && kerf_pto::kIsTile<B>, int> = 0> \
  RecordEvent NAME(D& d, const A& a, S s, const B& b, KERF_PTO_AT) {                  \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                               \
        .Tile(d)                                                                      \
        .Tile(a)                                                                      \
        .Tile(b)                                                                      \
        .Value(kerf_pto::NumberOf<typename A::DType>(s))                              \
        .Run();                                                                       \
  }
KERF_PTO_SCALAR_BETWEEN(TADDSC)
KERF_PTO_SCALAR_BETWEEN(TSUBSC)
#undef KERF_PTO_SCALAR_BETWEEN

// d = s·a + d; a half source may be added to a float destination
template <typename D, typename A, typename S, std::enable_if_t<!kerf_pto::kIsTile<S>, int> = 0>
RecordEvent TAXPY(D& d, const A& a, S s, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TAXPY, place)
      .Tile(d)
      .Tile(a)
      .Value(kerf_pto::NumberOf<typename A::DType>(s))
      .Run();
}
// a·d + b, the larger of that and 0, a·b + d, the larger of a - b and 0
KERF_PTO_BINARY(TFUSEDMULADD)
KERF_PTO_BINARY(TFUSEDMULADDRELU)
KERF_PTO_BINARY(TMULADDDST)
KERF_PTO_BINARY(TSUBRELU)
// The larger of a + b and 0, narrowed.
KERF_PTO_BINARY(TADDRELUCONV)
template <typename D, typename A, typename B, typename T>
RecordEvent TADDDEQRELU(D& d, const A& a, const B& b, float scale, T& tmp, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TADDDEQRELU, place)
      .Tile(d)
      .Tile(a)
      .Tile(b)
      .Tile(tmp)
      .Value({static_cast<double>(scale), 0})
      .Run();
}

// --- choosing ---
// The tile where the mask has a bit, else the scalar.
template <typename D, typename M, typename A, typename T, typename S,
          std::enable_if_t<!kerf_pto::kIsTile<S>, int> = 0>
RecordEvent TSELS(D& d, const M& mask, const A& a, T& tmp, S s, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSELS, place)
      .Tile(d)
      .Tile(mask)
      .Tile(a)
      .Tile(tmp)
      .Value(kerf_pto::NumberOf<typename A::DType>(s))
      .Run();
}

// Values and where they stand. tiles: values, indices, source, scratch
#define KERF_PTO_ARG(NAME)                                                   \
  KERF_PTO_REDUCE(NAME)                                                      \
  template <typename V, typename I, typename A, typename T,                  \
            std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>                 \
  RecordEvent NAME(V& values, I& indices, const A& a, T& tmp, KERF_PTO_AT) { \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                      \
        .Tile(values)                                                        \
        .Tile(indices)                                                       \
        .Tile(a)                                                             \
        .Tile(tmp)                                                           \
        .Run();                                                              \
  }
KERF_PTO_ARG(TROWARGMAX)
KERF_PTO_ARG(TROWARGMIN)
KERF_PTO_ARG(TCOLARGMAX)
KERF_PTO_ARG(TCOLARGMIN)
#undef KERF_PTO_ARG

// Of two sources with their indices. tiles: values, indices, a, b, the indices of a, of b
#define KERF_PTO_PART_ARG(NAME)                                                               \
  template <typename V, typename A, typename B, typename I, typename IA, typename IB>         \
  RecordEvent NAME(V& values, const A& a, const B& b, I& indices, const IA& ia, const IB& ib, \
                   KERF_PTO_AT) {                                                             \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                                       \
        .Tile(values)                                                                         \
        .Tile(indices)                                                                        \
        .Tile(a)                                                                              \
        .Tile(b)                                                                              \
        .Tile(ia)                                                                             \
        .Tile(ib)                                                                             \
        .Run();                                                                               \
  }
KERF_PTO_PART_ARG(TPARTARGMAX)
KERF_PTO_PART_ARG(TPARTARGMIN)
#undef KERF_PTO_PART_ARG

// Which elements compare with the value of their row, and how many. tiles: indices, counts,
// source, values, scratch. options: 0 -1, 1 comparison, 2 the first column's number
template <typename D, typename A, typename K, typename C, typename T, CmpMode Mode, typename O,
          std::enable_if_t<std::is_integral_v<O>, int> = 0>
RecordEvent TGATHER(D& d, const A& a, const K& values, C& counts, T& tmp, O offset, KERF_PTO_AT) {
  static_assert(Mode == CmpMode::GT || Mode == CmpMode::EQ, "kerf: TGATHER compares by GT or EQ");
  return kerf_pto::Builder(kerf_pto::Op::TGATHER, place)
      .Tile(d)
      .Tile(counts)
      .Tile(a)
      .Tile(values)
      .Tile(tmp)
      .Option(0, -1)
      .Option(1, static_cast<int64_t>(Mode))
      .Option(2, static_cast<int64_t>(offset))
      .Run();
}

// --- making and weaving ---
// Sums of neighbours, then zeros.
KERF_PTO_UNARY(TPAIRREDUCESUM)

// Ones below (above) a diagonal. options: 0 upper, 1 diagonal
template <typename D, int Upper>
RecordEvent TTRI(D& d, int diagonal, KERF_PTO_AT) {
  static_assert(Upper == 0 || Upper == 1, "kerf: TTRI is lower (0) or upper (1)");
  return kerf_pto::Builder(kerf_pto::Op::TTRI, place)
      .Tile(d)
      .Option(0, Upper)
      .Option(1, diagonal)
      .Run();
}

// Elements into every second or fourth place, zeros between them. options: 0 pattern, 1 axis
template <MaskPattern Pattern, ScatterAxis Axis = ScatterAxis::SCATTER_ROW, typename D, typename A>
RecordEvent TSCATTER(D& d, const A& a, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSCATTER, place)
      .Tile(d)
      .Tile(a)
      .Option(0, static_cast<int64_t>(Pattern))
      .Option(1, static_cast<int64_t>(Axis))
      .Run();
}

// tiles: first result, second result, first source, second source (none: one source holds both)
#define KERF_PTO_WEAVE(NAME, OP)                                                                 \
  template <typename D1, typename D0, typename S1, typename S0,                                  \
            std::enable_if_t<kerf_pto::kIsTile<S0>, int> = 0>                                    \
  RecordEvent NAME(D1& d1, D0& d0, const S1& s1, const S0& s0, KERF_PTO_AT) {                    \
    return kerf_pto::Builder(kerf_pto::Op::OP, place).Tile(d0).Tile(d1).Tile(s0).Tile(s1).Run(); \
  }
KERF_PTO_WEAVE(TInterleave, TINTERLEAVE)
KERF_PTO_WEAVE(TINTERLEAVE, TINTERLEAVE)
KERF_PTO_WEAVE(TDeInterleave, TDEINTERLEAVE)
KERF_PTO_WEAVE(TDEINTERLEAVE, TDEINTERLEAVE)
#undef KERF_PTO_WEAVE
template <typename D1, typename D0, typename S>
RecordEvent TDEINTERLEAVE(D1& d1, D0& d0, const S& s, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TDEINTERLEAVE, place).Tile(d0).Tile(d1).Tile(s).Run();
}
template <typename D1, typename D0, typename S>
RecordEvent TDeInterleave(D1& d1, D0& d0, const S& s, KERF_PTO_AT) {
  return TDEINTERLEAVE(d1, d0, s, place);
}

// How often each value of a byte occurs among elements whose bytes above it are as said.
// options: 0 which byte
template <HistByte Byte, typename D, typename A, typename I>
RecordEvent THISTOGRAM(D& d, const A& a, const I& above, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::THISTOGRAM, place)
      .Tile(d)
      .Tile(a)
      .Tile(above)
      .Option(0, static_cast<int64_t>(Byte))
      .Run();
}

}  // namespace pto
