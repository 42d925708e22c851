// Binding, transfers and matrix products.
#pragma once

#include "kerf_pto/call.h"
#include "kerf_pto/vector.h"

namespace pto {

// --- binding ---
template <typename T, typename A>
void TASSIGN(T& operand, A address, KERF_PTO_AT) {
  if constexpr (kerf_pto::kIsTile<T>) {
    uint64_t value = 0;
    if constexpr (std::is_pointer_v<A>)
      value = reinterpret_cast<uint64_t>(address);
    else
      value = static_cast<uint64_t>(address);
    operand.Bind(kerf_pto::TheCore().Offset(kerf_pto::MemOf(T::Loc), value));
    kerf_pto::TheCore().Assign(operand.Ref(), kerf_pto::SiteOf(place));
  } else {
    static_assert(kerf_pto::kIsGlobal<T>, "kerf: TASSIGN binds a tile or a GlobalTensor");
    operand.SetAddr(reinterpret_cast<typename T::DType*>(address));
  }
}
template <auto Address, typename T>
void TASSIGN(T& tile, KERF_PTO_AT) {
  static_assert(static_cast<uint64_t>(Address) % 32 == 0,
                "kerf: a tile's address is a multiple of 32");
  TASSIGN(tile, static_cast<uint64_t>(Address), place);
}

// The same bytes under another type or shape.
template <typename D, typename A>
RecordEvent TRESHAPE(D& d, const A& a, KERF_PTO_AT) {
  static_assert(D::Loc == A::Loc, "kerf: TRESHAPE keeps the memory");
  static_assert(D::isBoxedLayout == A::isBoxedLayout,
                "kerf: TRESHAPE does not change between boxed and plain layouts");
  static_assert(D::Numel * sizeof(typename D::DType) / D::PerByte ==
                    A::Numel * sizeof(typename A::DType) / A::PerByte,
                "kerf: TRESHAPE keeps the number of bytes");
  d.Bind(a.Address());
  kerf_pto::TheCore().Assign(d.Ref(), kerf_pto::SiteOf(place));
  return {};
}

// A part of a tile as a tile of its own: the same bytes, from (row, col) on. Only where a row of
// the part lies as a row of the whole does.
template <typename D, typename A, typename R, typename C>
RecordEvent TSUBVIEW(D& d, const A& a, R row, C col, KERF_PTO_AT) {
  static_assert(D::Loc == A::Loc && D::BFractal == A::BFractal && D::SFractal == A::SFractal &&
                    !D::isBoxedLayout,
                "kerf: TSUBVIEW keeps the memory and the layout, which is not boxed");
  static_assert(
      D::isRowMajor ? (D::Cols == A::Cols || D::Rows == 1) : (D::Rows == A::Rows || D::Cols == 1),
      "kerf: a part of a tile has the tile's step between rows");
  const uint64_t at =
      static_cast<uint64_t>(row) * A::RowStride + static_cast<uint64_t>(col) * A::ColStride;
  d.Bind(a.Address() + at * sizeof(typename A::DType) / A::PerByte);
  kerf_pto::TheCore().Assign(d.Ref(), kerf_pto::SiteOf(place));
  return {};
}

// --- global memory ---
template <typename T, typename G>
RecordEvent TLOAD(T& tile, const G& global, KERF_PTO_AT) {
  static_assert(sizeof(typename T::DType) == sizeof(typename G::DType),
                "kerf: TLOAD needs elements of one size on both sides");
  return kerf_pto::Builder(kerf_pto::Op::TLOAD, place).Tile(tile).Global(global).Run();
}
// Into a cache that is not simulated: nothing but an instruction. Some kernels name a tile too.
template <typename G>
RecordEvent TPREFETCH(const G& global, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TPREFETCH, place).Global(global).Run();
}
template <typename T, typename G>
RecordEvent TPREFETCH(T&, const G& global, KERF_PTO_AT) {
  return TPREFETCH(global, place);
}
// options: 0 atomic, 1 relu, 2 whether a quantization scale is in option 3 (the bits of a float)
template <typename T, typename G, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE(const G& global, const T& tile, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSTORE, place)
      .Tile(tile)
      .Global(global)
      .Option(0, static_cast<int64_t>(Atomic))
      .Option(1, static_cast<int64_t>(Relu))
      .Run();
}
template <STPhase Phase, typename T, typename G, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE(const G& global, const T& tile, KERF_PTO_AT) {
  return TSTORE<T, G, Atomic, Relu>(global, tile, place);
}
template <typename T, typename G, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu, typename Q,
          std::enable_if_t<std::is_integral_v<Q>, int> = 0>
RecordEvent TSTORE(const G& global, const T& tile, Q scale, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TSTORE, place)
      .Tile(tile)
      .Global(global)
      .Option(0, static_cast<int64_t>(Atomic))
      .Option(1, static_cast<int64_t>(Relu))
      .Option(2, 1)
      .Option(3, static_cast<int64_t>(scale))
      .Run();
}

// --- between on-chip memories ---
// options: 0 row, 1 column, 2 relu, 3: 1 + the mode of Acc to Vec. The number is a quantization
// scale when its integer is not 0: the lower 32 bits of the parameter are a float.
inline kerf_pto::Number ScaleNumber(uint64_t parameter) {
  return {static_cast<double>(kerf_pto::FloatOfBits(static_cast<uint32_t>(parameter))), 1};
}
template <typename D, typename A>
kerf_pto::Builder MoveCall(kerf_pto::Op op, D& d, const A& a, ReluPreMode relu,
                           const kerf_pto::Place& place) {
  kerf_pto::Builder call(op, place);
  call.Tile(d).Tile(a).Option(2, static_cast<int64_t>(relu));
  return call;
}
template <typename D, typename A>
RecordEvent TMOV(D& d, const A& a, KERF_PTO_AT) {
  return MoveCall(kerf_pto::Op::TMOV, d, a, ReluPreMode::NoRelu, place).Run();
}
template <typename D, typename A, ReluPreMode Relu>
RecordEvent TMOV(D& d, const A& a, KERF_PTO_AT) {
  return MoveCall(kerf_pto::Op::TMOV, d, a, Relu, place).Run();
}
// Exponents of groups along rows into the boxes of an MX scale, with scratch.
template <typename D, typename A, typename T, std::enable_if_t<kerf_pto::kIsTile<T>, int> = 0>
RecordEvent TMOV(D& d, const A& a, T&, KERF_PTO_AT) {
  static_assert(T::Loc == TileType::Vec, "kerf: the third tile of TMOV is scratch in UB");
  return TMOV(d, a, place);
}
template <typename D, typename A, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TMOV(D& d, const A& a, KERF_PTO_AT) {
  return MoveCall(kerf_pto::Op::TMOV, d, a, Relu, place)
      .Option(3, 1 + static_cast<int64_t>(Mode))
      .Run();
}
template <typename D, typename A, ReluPreMode Relu = ReluPreMode::NoRelu, typename Q,
          std::enable_if_t<std::is_integral_v<Q>, int> = 0>
RecordEvent TMOV(D& d, const A& a, Q scale, KERF_PTO_AT) {
  return MoveCall(kerf_pto::Op::TMOV, d, a, Relu, place)
      .Value(ScaleNumber(static_cast<uint64_t>(scale)))
      .Run();
}
// NAME(d, a, row, col), with relu, with a mode of Acc to Vec, and with a scale before the place.
#define KERF_PTO_WINDOW(NAME)                                                                      \
  template <typename D, typename A, ReluPreMode Relu = ReluPreMode::NoRelu, typename R = uint16_t, \
            typename C = uint16_t, std::enable_if_t<!kerf_pto::kIsTile<R>, int> = 0>               \
  RecordEvent NAME(D& d, const A& a, R row, C col, KERF_PTO_AT) {                                  \
    return MoveCall(kerf_pto::Op::NAME, d, a, Relu, place)                                         \
        .Option(0, static_cast<int64_t>(row))                                                      \
        .Option(1, static_cast<int64_t>(col))                                                      \
        .Run();                                                                                    \
  }                                                                                                \
  template <typename D, typename A, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu,     \
            typename R = uint16_t, typename C = uint16_t>                                          \
  RecordEvent NAME(D& d, const A& a, R row, C col, KERF_PTO_AT) {                                  \
    return MoveCall(kerf_pto::Op::NAME, d, a, Relu, place)                                         \
        .Option(0, static_cast<int64_t>(row))                                                      \
        .Option(1, static_cast<int64_t>(col))                                                      \
        .Option(3, 1 + static_cast<int64_t>(Mode))                                                 \
        .Run();                                                                                    \
  }                                                                                                \
  template <typename D, typename A, ReluPreMode Relu = ReluPreMode::NoRelu, typename Q,            \
            typename R = uint16_t, typename C = uint16_t,                                          \
            std::enable_if_t<std::is_integral_v<Q> && std::is_integral_v<C>, int> = 0>             \
  RecordEvent NAME(D& d, const A& a, Q scale, R row, C col, KERF_PTO_AT) {                         \
    return MoveCall(kerf_pto::Op::NAME, d, a, Relu, place)                                         \
        .Option(0, static_cast<int64_t>(row))                                                      \
        .Option(1, static_cast<int64_t>(col))                                                      \
        .Value(ScaleNumber(static_cast<uint64_t>(scale)))                                          \
        .Run();                                                                                    \
  }
KERF_PTO_WINDOW(TEXTRACT)
KERF_PTO_WINDOW(TINSERT)
#undef KERF_PTO_WINDOW

// --- products ---
#define KERF_PTO_PRODUCT(NAME)                                                         \
  template <typename C, typename A, typename B>                                        \
  RecordEvent NAME(C& c, const A& a, const B& b, KERF_PTO_AT) {                        \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place).Tile(c).Tile(a).Tile(b).Run(); \
  }                                                                                    \
  template <AccPhase Phase, typename C, typename A, typename B>                        \
  RecordEvent NAME(C& c, const A& a, const B& b, KERF_PTO_AT) {                        \
    return NAME(c, a, b, place);                                                       \
  }
KERF_PTO_PRODUCT(TMATMUL)
KERF_PTO_PRODUCT(TMATMUL_ACC)
KERF_PTO_PRODUCT(TGEMV)
KERF_PTO_PRODUCT(TGEMV_ACC)
#undef KERF_PTO_PRODUCT
// out = in + a·b; tiles: out, a, b, in
template <typename O, typename C, typename A, typename B,
          std::enable_if_t<kerf_pto::kIsTile<B>, int> = 0>
RecordEvent TMATMUL_ACC(O& out, const C& in, const A& a, const B& b, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TMATMUL_ACC, place)
      .Tile(out)
      .Tile(a)
      .Tile(b)
      .Tile(in)
      .Run();
}
template <typename O, typename C, typename A, typename B,
          std::enable_if_t<kerf_pto::kIsTile<B>, int> = 0>
RecordEvent TGEMV_ACC(O& out, const C& in, const A& a, const B& b, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TGEMV_ACC, place).Tile(out).Tile(a).Tile(b).Tile(in).Run();
}
template <typename C, typename A, typename B, typename D>
RecordEvent TMATMUL_BIAS(C& c, const A& a, const B& b, const D& bias, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TMATMUL_BIAS, place)
      .Tile(c)
      .Tile(a)
      .Tile(b)
      .Tile(bias)
      .Run();
}
template <typename C, typename A, typename B, typename D>
RecordEvent TGEMV_BIAS(C& c, const A& a, const B& b, const D& bias, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::TGEMV_BIAS, place)
      .Tile(c)
      .Tile(a)
      .Tile(b)
      .Tile(bias)
      .Run();
}
// options: 0 accumulate, 1 the last tile is a bias; tiles: c, a, scale a, b, scale b [, in or bias]
#define KERF_PTO_SCALED_PRODUCT(NAME)                                                       \
  template <typename C, typename A, typename SA, typename B, typename SB>                   \
  RecordEvent NAME(C& c, const A& a, const SA& sa, const B& b, const SB& sb, KERF_PTO_AT) { \
    return kerf_pto::Builder(kerf_pto::Op::NAME, place)                                     \
        .Tile(c)                                                                            \
        .Tile(a)                                                                            \
        .Tile(sa)                                                                           \
        .Tile(b)                                                                            \
        .Tile(sb)                                                                           \
        .Run();                                                                             \
  }                                                                                         \
  template <typename O, typename X, typename A, typename SA, typename B, typename SB,       \
            std::enable_if_t<kerf_pto::kIsTile<SB>, int> = 0>                               \
  RecordEvent NAME(O& out, const X& x, const A& a, const SA& sa, const B& b, const SB& sb,  \
                   KERF_PTO_AT) {                                                           \
    kerf_pto::Builder call(kerf_pto::Op::NAME, place);                                      \
    if constexpr (X::Loc == TileType::Acc) {                                                \
      call.Tile(out).Tile(a).Tile(sa).Tile(b).Tile(sb).Tile(x).Option(0, 1);                \
    } else { /* (c, a, scale a, b, scale b, bias) */                                        \
      call.Tile(out).Tile(x).Tile(a).Tile(sa).Tile(b).Tile(sb).Option(1, 1);                \
    }                                                                                       \
    return call.Run();                                                                      \
  }                                                                                         \
  template <AccPhase Phase, typename C, typename... T>                                      \
  RecordEvent NAME(C& c, const T&... tiles) {                                               \
    return NAME(c, tiles...);                                                               \
  }
KERF_PTO_SCALED_PRODUCT(TMATMUL_MX)
KERF_PTO_SCALED_PRODUCT(TGEMV_MX)
#undef KERF_PTO_SCALED_PRODUCT

// Where the scales of an operand at `data` of L0A or L0B lie (a5): one byte for 32 of its elements.
template <typename T>
uint64_t GetScaleAddr(T* data) {
  constexpr uint64_t kLargest = 65536;  // of L0A and L0B
  const auto address = reinterpret_cast<uint64_t>(data);
  const uint64_t left = kerf_pto::TheCore().Offset(kerf_pto::Mem::kL0a, address);
  if (left < kLargest) return left / 16;
  return kerf_pto::TheCore().Offset(kerf_pto::Mem::kL0b, address) / 16;
}
template <typename D, typename A>
RecordEvent TGET_SCALE_ADDR(D& d, const A& a, KERF_PTO_AT) {
  TASSIGN(d, a.Address() / 16, place);
  return {};
}

// --- scattered access to global memory ---
template <Coalesce How = Coalesce::Elem, ScatterAtomicOp Atomic = ScatterAtomicOp::None,
          ScatterOOB Outside = ScatterOOB::Undefined, typename G, typename S, typename I>
RecordEvent MSCATTER(const G& global, const S& source, const I& index, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::MSCATTER, place)
      .Tile(source)
      .Tile(index)
      .Global(global)
      .Option(0, static_cast<int64_t>(How))
      .Option(1, static_cast<int64_t>(Atomic))
      .Option(2, static_cast<int64_t>(Outside))
      .Run();
}
template <Coalesce How = Coalesce::Elem, GatherOOB Outside = GatherOOB::Undefined, typename D,
          typename G, typename I>
RecordEvent MGATHER(D& d, const G& global, const I& index, KERF_PTO_AT) {
  return kerf_pto::Builder(kerf_pto::Op::MGATHER, place)
      .Tile(d)
      .Tile(index)
      .Global(global)
      .Option(0, static_cast<int64_t>(How))
      .Option(2, static_cast<int64_t>(Outside))
      .Run();
}

}  // namespace pto
