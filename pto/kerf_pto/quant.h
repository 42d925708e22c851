// Quantization: on the vector pipe, and by the fixpipe with one parameter for each column.
#pragma once

#include "kerf_pto/move.h"

namespace pto {

enum class QuantType : uint8_t { MXFP8, INT8_SYM, INT8_ASYM, MXFP4_E2M1 };
enum class QuantScaleAlg : uint8_t { OCP, NV };
enum class MxQuantAlg : uint8_t { OcpMxFp8E4M3, NvMxFp8E4M3, OcpMxFp4E2M1, NvMxFp4E2M1 };

// round(a / scale) + offset, one scale for each row (or one for all). options: 0 0, 1 offset given
template <QuantType Type, typename D, typename A, typename P,
          std::enable_if_t<kerf_pto::kIsTile<P>, int> = 0>
RecordEvent TQUANT(D& d, const A& a, const P& scale, P* offset = nullptr, KERF_PTO_AT) {
  static_assert(Type == QuantType::INT8_SYM || Type == QuantType::INT8_ASYM,
                "kerf: this form of TQUANT is for INT8_SYM and INT8_ASYM");
  kerf_pto::Builder call(kerf_pto::Op::TQUANT, place);
  call.Tile(d).Tile(a).Tile(scale);
  if (offset != nullptr) call.Tile(*offset).Option(1, 1);
  return call.Run();
}
template <QuantType Type, typename D, typename A, typename P, typename T,
          std::enable_if_t<kerf_pto::kIsTile<P> && kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TQUANT(D& d, const A& a, const P& scale, T&, P* offset = nullptr, KERF_PTO_AT) {
  return TQUANT<Type>(d, a, scale, offset, place);
}
// Groups of 32 share an exponent. tiles: values, exponents, source, scratch, scratch.
// options: 0 1, 1 along rows (1) or columns (0)
template <int Axis, MxQuantAlg How, typename D, typename A, typename E, typename M, typename S>
RecordEvent TQUANT(D& d, const A& a, E* exponents, M* largest, S* scaling, KERF_PTO_AT) {
  static_assert(How == MxQuantAlg::OcpMxFp8E4M3 || How == MxQuantAlg::OcpMxFp4E2M1,
                "kerf: TQUANT to MX is simulated for OcpMxFp8E4M3 and OcpMxFp4E2M1; the others "
                "would be added in pto/kerf_pto/quant.h and src/sim/machine/quantize.cc");
  static_assert(
      std::is_same_v<typename D::DType, float4_e2m1x2_t> == (How == MxQuantAlg::OcpMxFp4E2M1),
      "kerf: TQUANT to MXFP4 writes float4_e2m1x2_t, to MXFP8 float8_e4m3_t");
  return kerf_pto::Builder(kerf_pto::Op::TQUANT, place)
      .Tile(d)
      .Tile(*exponents)
      .Tile(a)
      .Tile(*largest)
      .Tile(*scaling)
      .Option(0, 1)
      .Option(1, Axis)
      .Run();
}
template <QuantType Type, typename D, typename A, typename E, typename M, typename S>
RecordEvent TQUANT(D& d, const A& a, E* exponents, M* largest, S* scaling, KERF_PTO_AT) {
  static_assert(Type == QuantType::MXFP8 || Type == QuantType::MXFP4_E2M1,
                "kerf: TQUANT with exponents is simulated for MXFP8 and MXFP4_E2M1");
  constexpr auto how =
      Type == QuantType::MXFP8 ? MxQuantAlg::OcpMxFp8E4M3 : MxQuantAlg::OcpMxFp4E2M1;
  return TQUANT<1, how>(d, a, exponents, largest, scaling, place);
}

// (a - offset)·scale, one of each for a row
template <typename D, typename A, typename P>
RecordEvent TDEQUANT(D& d, const A& a, const P& scale, const P& offset, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TDEQUANT, place)
      .Tile(d)
      .Tile(a)
      .Tile(scale)
      .Tile(offset)
      .Run();
}

// --- by the fixpipe: `fp` is a tile of the fixpipe buffer with one parameter for each column ---
// options as of TMOV and TSTORE
template <typename D, typename A, typename F, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TMOV_FP(D& d, const A& a, const F& fp, KERF_PTO_AT) {
  static_assert(F::Loc == TileType::Scaling, "kerf: the parameters lie in the fixpipe buffer");
  return kerf_pto::Builder(kerf_pto::Op::TMOV_FP, place)
      .Tile(d)
      .Tile(a)
      .Tile(fp)
      .Option(2, static_cast<int64_t>(Relu))
      .Run();
}
#define KERF_PTO_WINDOW_FP(NAME)                                                                  \
  template <typename D, typename A, typename F, ReluPreMode Relu = ReluPreMode::NoRelu,           \
            typename R = uint16_t, typename C = uint16_t>                                         \
  RecordEvent NAME(D& d, const A& a, const F& fp, R row, C col, KERF_PTO_AT) {                    \
    static_assert(F::Loc == TileType::Scaling, "kerf: the parameters lie in the fixpipe buffer"); \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                                           \
        .Tile(d)                                                                                  \
        .Tile(a)                                                                                  \
        .Tile(fp)                                                                                 \
        .Option(0, static_cast<int64_t>(row))                                                     \
        .Option(1, static_cast<int64_t>(col))                                                     \
        .Option(2, static_cast<int64_t>(Relu))                                                    \
        .Run();                                                                                   \
  }
KERF_PTO_WINDOW_FP(TEXTRACT_FP)
KERF_PTO_WINDOW_FP(TINSERT_FP)
#undef KERF_PTO_WINDOW_FP
template <typename T, typename G, typename F, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE_FP(const G& global, const T& tile, const F& fp, KERF_PTO_AT) {
  static_assert(F::Loc == TileType::Scaling, "kerf: the parameters lie in the fixpipe buffer");
  return kerf_pto::Builder(kerf_pto::Op::TSTORE_FP, place)
      .Tile(tile)
      .Tile(fp)
      .Global(global)
      .Option(0, static_cast<int64_t>(Atomic))
      .Option(1, static_cast<int64_t>(Relu))
      .Run();
}

}  // namespace pto
