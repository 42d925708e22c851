// Instructions of the vector pipe. What each does stands in src/sim/machine.
//
// A new one: a name in KERF_PTO_OPS (abi.h), a template here, its meaning in src/sim/machine, and
// it goes from missing.h; src/sim/machine/*_test.cc must name it.
#pragma once

#include "kerf_pto/call.h"

#define KERF_PTO_AT kerf_pto::Place place = kerf_pto::Place::current()

// NAME(d, a, b), with a scratch tile, and with an algorithm as the template argument.
#define KERF_PTO_BINARY(NAME)                                                                    \
  template <typename D, typename A, typename B>                                                  \
  RecordEvent NAME(D& d, const A& a, const B& b, KERF_PTO_AT) {                                  \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(d).Tile(a).Tile(b).Run();           \
  }                                                                                              \
  template <typename D, typename A, typename B, typename T,                                      \
            std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>                                     \
  RecordEvent NAME(D& d, const A& a, const B& b, T& tmp, KERF_PTO_AT) {                          \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(d).Tile(a).Tile(b).Tile(tmp).Run(); \
  }                                                                                              \
  template <auto Algorithm, typename D, typename A, typename B>                                  \
  RecordEvent NAME(D& d, const A& a, const B& b, KERF_PTO_AT) {                                  \
    return NAME(d, a, b, place);                                                                 \
  }                                                                                              \
  template <auto Algorithm, typename D, typename A, typename B, typename T,                      \
            std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>                                     \
  RecordEvent NAME(D& d, const A& a, const B& b, T& tmp, KERF_PTO_AT) {                          \
    return NAME(d, a, b, tmp, place);                                                            \
  }

// NAME(d, a, s), with a scratch tile, and with an algorithm as the template argument.
#define KERF_PTO_SCALAR(NAME)                                                                     \
  template <typename D, typename A, typename S, std::enable_if_t<!kerf_pto::kIsTile<S>, int> = 0> \
  RecordEvent NAME(D& d, const A& a, S s, KERF_PTO_AT) {                                          \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                                           \
        .Tile(d)                                                                                  \
        .Tile(a)                                                                                  \
        .Value(kerf_pto::NumberOf<typename A::DType>(s))                                          \
        .Run();                                                                                   \
  }                                                                                               \
  template <typename D, typename A, typename S, typename T,                                       \
            std::enable_if_t<!kerf_pto::kIsTile<S> && kerf_pto::kIsTile<T>, int> = 0>             \
  RecordEvent NAME(D& d, const A& a, S s, T& tmp, KERF_PTO_AT) {                                  \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                                           \
        .Tile(d)                                                                                  \
        .Tile(a)                                                                                  \
        .Tile(tmp)                                                                                \
        .Value(kerf_pto::NumberOf<typename A::DType>(s))                                          \
        .Run();                                                                                   \
  }                                                                                               \
  template <auto Algorithm, typename D, typename A, typename S, typename... T,                    \
            std::enable_if_t<!kerf_pto::kIsTile<S> && (kerf_pto::kIsTile<T> && ...), int> = 0>    \
  RecordEvent NAME(D& d, const A& a, S s, T&... tmp, KERF_PTO_AT) {                               \
    return NAME(d, a, s, tmp..., place);                                                          \
  }

#define KERF_PTO_UNARY(NAME)                                                   \
  template <typename D, typename A>                                            \
  RecordEvent NAME(D& d, const A& a, KERF_PTO_AT) {                            \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(d).Tile(a).Run(); \
  }                                                                            \
  template <auto Algorithm, typename D, typename A>                            \
  RecordEvent NAME(D& d, const A& a, KERF_PTO_AT) {                            \
    return NAME(d, a, place);                                                  \
  }

// NAME(d, a, tmp); what the scratch tile holds afterwards is not defined.
#define KERF_PTO_REDUCE(NAME)                                                            \
  template <typename D, typename A, typename T>                                          \
  RecordEvent NAME(D& d, const A& a, T& tmp, KERF_PTO_AT) {                              \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(d).Tile(a).Tile(tmp).Run(); \
  }                                                                                      \
  template <typename D, typename A, typename T>                                          \
  RecordEvent NAME(D& d, const A& a, T& tmp, bool, KERF_PTO_AT) {                        \
    return NAME(d, a, tmp, place);                                                       \
  }                                                                                      \
  template <typename D, typename A>                                                      \
  RecordEvent NAME(D& d, const A& a, KERF_PTO_AT) {                                      \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(d).Tile(a).Run();           \
  }

namespace pto {

KERF_PTO_BINARY(TADD)
KERF_PTO_BINARY(TSUB)
KERF_PTO_BINARY(TMUL)
KERF_PTO_BINARY(TDIV)
KERF_PTO_BINARY(TMAX)
KERF_PTO_BINARY(TMIN)
KERF_PTO_BINARY(TREM)
KERF_PTO_BINARY(TAND)
KERF_PTO_BINARY(TOR)
KERF_PTO_BINARY(TXOR)
KERF_PTO_BINARY(TSHL)
KERF_PTO_BINARY(TSHR)
KERF_PTO_BINARY(TPRELU)
KERF_PTO_BINARY(TPARTADD)
KERF_PTO_BINARY(TPARTMAX)
KERF_PTO_BINARY(TPARTMIN)
KERF_PTO_BINARY(TPARTMUL)
KERF_PTO_BINARY(TROWEXPANDADD)
KERF_PTO_BINARY(TROWEXPANDSUB)
KERF_PTO_BINARY(TROWEXPANDMUL)
KERF_PTO_BINARY(TROWEXPANDDIV)
KERF_PTO_BINARY(TROWEXPANDMAX)
KERF_PTO_BINARY(TROWEXPANDMIN)
KERF_PTO_BINARY(TROWEXPANDEXPDIF)
KERF_PTO_BINARY(TCOLEXPANDADD)
KERF_PTO_BINARY(TCOLEXPANDSUB)
KERF_PTO_BINARY(TCOLEXPANDMUL)
KERF_PTO_BINARY(TCOLEXPANDDIV)
KERF_PTO_BINARY(TCOLEXPANDMAX)
KERF_PTO_BINARY(TCOLEXPANDMIN)
KERF_PTO_BINARY(TCOLEXPANDEXPDIF)
KERF_PTO_BINARY(TCONCAT)

KERF_PTO_SCALAR(TADDS)
KERF_PTO_SCALAR(TSUBS)
KERF_PTO_SCALAR(TMULS)
KERF_PTO_SCALAR(TDIVS)
KERF_PTO_SCALAR(TMAXS)
KERF_PTO_SCALAR(TMINS)
KERF_PTO_SCALAR(TREMS)
KERF_PTO_SCALAR(TANDS)
KERF_PTO_SCALAR(TORS)
KERF_PTO_SCALAR(TXORS)
KERF_PTO_SCALAR(TSHLS)
KERF_PTO_SCALAR(TSHRS)
KERF_PTO_SCALAR(TLRELU)
// The scalar divided by the tile.
template <typename D, typename A, typename S, std::enable_if_t<!kerf_pto::kIsTile<S>, int> = 0>
RecordEvent TDIVS(D& d, S s, const A& a, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TDIVS, place)
      .Tile(d)
      .Tile(a)
      .Value(kerf_pto::NumberOf<typename A::DType>(s))
      .Option(0, 1)
      .Run();
}

KERF_PTO_UNARY(TEXP)
KERF_PTO_UNARY(TLOG)
KERF_PTO_UNARY(TSQRT)
KERF_PTO_UNARY(TRSQRT)
KERF_PTO_UNARY(TRECIP)
KERF_PTO_UNARY(TNEG)
KERF_PTO_UNARY(TABS)
KERF_PTO_UNARY(TRELU)
KERF_PTO_UNARY(TNOT)
KERF_PTO_UNARY(TROWEXPAND)
KERF_PTO_UNARY(TCOLEXPAND)
template <typename D, typename A, typename T, std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TRSQRT(D& d, const A& a, T& tmp, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TRSQRT, place).Tile(d).Tile(a).Tile(tmp).Run();
}

KERF_PTO_REDUCE(TROWMAX)
KERF_PTO_REDUCE(TROWMIN)
KERF_PTO_REDUCE(TROWSUM)
KERF_PTO_REDUCE(TROWPROD)
KERF_PTO_REDUCE(TCOLMAX)
KERF_PTO_REDUCE(TCOLMIN)
KERF_PTO_REDUCE(TCOLSUM)
KERF_PTO_REDUCE(TCOLPROD)

// options: 0 rounding, 1 saturation off
template <typename D, typename A>
RecordEvent TCVT(D& d, const A& a, RoundMode mode, SaturationMode saturation, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TCVT, place)
      .Tile(d)
      .Tile(a)
      .Option(0, static_cast<int64_t>(mode))
      .Option(1, saturation == SaturationMode::OFF ? 1 : 0)
      .Run();
}
template <typename D, typename A>
RecordEvent TCVT(D& d, const A& a, RoundMode mode = RoundMode::CAST_RINT, KERF_PTO_AT) {
  return TCVT(d, a, mode, SaturationMode::ON, place);
}
template <typename D, typename A, typename T, std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TCVT(D& d, const A& a, T&, RoundMode mode,
                 SaturationMode saturation = SaturationMode::ON, KERF_PTO_AT) {
  return TCVT(d, a, mode, saturation, place);
}
// Integers cut to narrower ones: the low bits remain. options as of TCVT
template <typename D, typename A>
RecordEvent TPACK(D& d, const A& a, KERF_PTO_AT) {
  static_assert(std::is_integral_v<typename D::DType> && std::is_integral_v<typename A::DType> &&
                    sizeof(typename D::DType) < sizeof(typename A::DType),
                "kerf: TPACK is documented for narrower elements, and simulated for integers");
  return kerf_pto::Builder(kerf_pto::Op::TPACK, place).Tile(d).Tile(a).Option(1, 1).Run();
}

template <typename D, typename S, std::enable_if_t<!kerf_pto::kIsTile<S>, int> = 0>
RecordEvent TEXPANDS(D& d, S s, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TEXPANDS, place)
      .Tile(d)
      .Value(kerf_pto::NumberOf<typename D::DType>(s))
      .Run();
}

KERF_PTO_UNARY(TFILLPAD)
KERF_PTO_UNARY(TFILLPAD_INPLACE)
KERF_PTO_UNARY(TFILLPAD_EXPAND)

// d = a.flat[idx]
template <typename D, typename A, typename I, typename T,
          std::enable_if_t<kerf_pto::kIsTile<I> && kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TGATHER(D& d, const A& a, const I& idx, T& tmp, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TGATHER, place).Tile(d).Tile(a).Tile(idx).Tile(tmp).Run();
}
template <typename D, typename A, typename I, std::enable_if_t<kerf_pto::kIsTile<I>, int> = 0>
RecordEvent TGATHER(D& d, const A& a, const I& idx, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TGATHER, place).Tile(d).Tile(a).Tile(idx).Run();
}
template <typename D, typename A, MaskPattern Pattern>
RecordEvent TGATHER(D& d, const A& a, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TGATHER, place)
      .Tile(d)
      .Tile(a)
      .Option(0, static_cast<int64_t>(Pattern))
      .Run();
}
template <typename D, typename A, typename O>
RecordEvent TGATHERB(D& d, const A& a, const O& offsets, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TGATHERB, place).Tile(d).Tile(a).Tile(offsets).Run();
}
template <typename D, typename A, typename I>
RecordEvent TSCATTER(D& d, const A& a, const I& idx, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSCATTER, place).Tile(d).Tile(a).Tile(idx).Run();
}

// 1, 2, 3 … or downwards. options: 0 descending, 1 with a scratch tile (then on the vector pipe)
template <typename D, typename S, int Descending>
RecordEvent TCI(D& d, S start, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TCI, place)
      .Tile(d)
      .Value(kerf_pto::NumberOf<typename D::DType>(start))
      .Option(0, Descending)
      .Run();
}
template <typename D, typename T, typename S, int Descending>
RecordEvent TCI(D& d, S start, T&, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TCI, place)
      .Tile(d)
      .Value(kerf_pto::NumberOf<typename D::DType>(start))
      .Option(0, Descending)
      .Option(1, 1)
      .Run();
}

template <typename D, typename A, typename I>
RecordEvent TSORT32(D& d, const A& a, const I& idx, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSORT32, place).Tile(d).Tile(a).Tile(idx).Run();
}
template <typename D, typename A, typename I, typename T,
          std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TSORT32(D& d, const A& a, const I& idx, T& tmp, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSORT32, place).Tile(d).Tile(a).Tile(idx).Tile(tmp).Run();
}

// How many elements of each list a merge took.
struct MrgSortExecutedNumList {
  uint16_t mrgSortList0 = 0;
  uint16_t mrgSortList1 = 0;
  uint16_t mrgSortList2 = 0;
  uint16_t mrgSortList3 = 0;
};
// options: 0 the length of a run; -1 for lists that are tiles, then 1 exhausted, 2 the counts'
// address
template <typename D, typename A, typename L, std::enable_if_t<!kerf_pto::kIsTile<L>, int> = 0>
RecordEvent TMRGSORT(D& d, const A& a, L length, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TMRGSORT, place)
      .Tile(d)
      .Tile(a)
      .Option(0, static_cast<int64_t>(length))
      .Run();
}
template <typename D, typename T, typename A, typename B, bool Exhausted>
RecordEvent TMRGSORT(D& d, MrgSortExecutedNumList& executed, T& tmp, const A& a, const B& b,
                     KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TMRGSORT, place)
      .Tile(d)
      .Tile(tmp)
      .Tile(a)
      .Tile(b)
      .Option(0, -1)
      .Option(1, Exhausted)
      .Option(2, reinterpret_cast<int64_t>(&executed))
      .Run();
}
template <typename D, typename T, typename A, typename B, typename C, bool Exhausted>
RecordEvent TMRGSORT(D& d, MrgSortExecutedNumList& executed, T& tmp, const A& a, const B& b,
                     const C& c, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TMRGSORT, place)
      .Tile(d)
      .Tile(tmp)
      .Tile(a)
      .Tile(b)
      .Tile(c)
      .Option(0, -1)
      .Option(1, Exhausted)
      .Option(2, reinterpret_cast<int64_t>(&executed))
      .Run();
}
template <typename D, typename T, typename A, typename B, typename C, typename E, bool Exhausted>
RecordEvent TMRGSORT(D& d, MrgSortExecutedNumList& executed, T& tmp, const A& a, const B& b,
                     const C& c, const E& e, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TMRGSORT, place)
      .Tile(d)
      .Tile(tmp)
      .Tile(a)
      .Tile(b)
      .Tile(c)
      .Tile(e)
      .Option(0, -1)
      .Option(1, Exhausted)
      .Option(2, reinterpret_cast<int64_t>(&executed))
      .Run();
}

template <typename D, typename A, typename T>
RecordEvent TTRANS(D& d, const A& a, T& tmp, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TTRANS, place).Tile(d).Tile(a).Tile(tmp).Run();
}

// Comparisons write one bit per element, packed along the row.
template <typename D, typename A, typename B>
RecordEvent TCMP(D& d, const A& a, const B& b, CmpMode mode, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TCMP, place)
      .Tile(d)
      .Tile(a)
      .Tile(b)
      .Option(0, static_cast<int64_t>(mode))
      .Run();
}
template <typename D, typename A, typename S, std::enable_if_t<!kerf_pto::kIsTile<S>, int> = 0>
RecordEvent TCMPS(D& d, const A& a, S s, CmpMode mode, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TCMPS, place)
      .Tile(d)
      .Tile(a)
      .Value(kerf_pto::NumberOf<typename A::DType>(s))
      .Option(0, static_cast<int64_t>(mode))
      .Run();
}
template <typename D, typename M, typename A, typename B,
          std::enable_if_t<kerf_pto::kIsTile<B>, int> = 0>
RecordEvent TSEL(D& d, const M& mask, const A& a, const B& b, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSEL, place).Tile(d).Tile(mask).Tile(a).Tile(b).Run();
}
template <typename D, typename M, typename A, typename B, typename T,
          std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TSEL(D& d, const M& mask, const A& a, const B& b, T& tmp, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSEL, place)
      .Tile(d)
      .Tile(mask)
      .Tile(a)
      .Tile(b)
      .Tile(tmp)
      .Run();
}

}  // namespace pto
