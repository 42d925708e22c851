// Tiles and views of global memory: the operands of every instruction.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kerf_pto/core.h"

namespace kerf_pto {

template <typename T>
constexpr Type TypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return Type::kF32;
  else if constexpr (std::is_same_v<U, double>)
    return Type::kF64;
  else if constexpr (std::is_same_v<U, half>)
    return Type::kF16;
  else if constexpr (std::is_same_v<U, bfloat16_t>)
    return Type::kBf16;
  else if constexpr (std::is_same_v<U, bool>)
    return Type::kBool;
  else if constexpr (std::is_same_v<U, float8_e4m3_t>)
    return Type::kE4M3;
  else if constexpr (std::is_same_v<U, float8_e5m2_t>)
    return Type::kE5M2;
  else if constexpr (std::is_same_v<U, float8_e8m0_t>)
    return Type::kE8M0;
  else if constexpr (std::is_same_v<U, float4_e2m1x2_t>)
    return Type::kE2M1x2;
  else if constexpr (std::is_same_v<U, float4_e1m2x2_t>)
    return Type::kE1M2x2;
  else if constexpr (std::is_same_v<U, hifloat8_t>)
    return Type::kHif8;
  else if constexpr (std::is_same_v<U, int4b_t>)
    return Type::kI4;
  else {
    static_assert(std::is_integral_v<U>,
                  "kerf: a tile cannot hold this type (pto/kerf_pto/tile.h, TypeOf)");
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1)
      return is_signed ? Type::kI8 : Type::kU8;
    else if constexpr (sizeof(U) == 2)
      return is_signed ? Type::kI16 : Type::kU16;
    else if constexpr (sizeof(U) == 4)
      return is_signed ? Type::kI32 : Type::kU32;
    else
      return is_signed ? Type::kI64 : Type::kU64;
  }
}

// Mem::kGm stands for a kind that has no memory.
constexpr Mem MemOf(pto::TileType type) {
  switch (type) {
    case pto::TileType::Vec:
      return Mem::kUb;
    case pto::TileType::Mat:
      return Mem::kL1;
    case pto::TileType::Left:
      return Mem::kL0a;
    case pto::TileType::Right:
      return Mem::kL0b;
    case pto::TileType::Acc:
      return Mem::kL0c;
    case pto::TileType::Bias:
      return Mem::kBias;
    case pto::TileType::Scaling:
      return Mem::kFixpipe;
    case pto::TileType::ScaleLeft:
      return Mem::kScaleA;
    case pto::TileType::ScaleRight:
      return Mem::kScaleB;
    case pto::TileType::Ctrl:
      return Mem::kGm;
  }
  return Mem::kGm;
}

constexpr Form FormOf(pto::BLayout outer, pto::SLayout inner) {
  const bool rows = outer == pto::BLayout::RowMajor;
  if (inner == pto::SLayout::NoneBox) return rows ? Form::kNd : Form::kDn;
  if (inner == pto::SLayout::RowMajor) return rows ? Form::kZz : Form::kNz;
  return rows ? Form::kZn : Form::kNn;
}

constexpr Form FormOf(pto::Layout layout) {
  switch (layout) {
    case pto::Layout::DN:
    case pto::Layout::MX_A_DN:
    case pto::Layout::MX_B_DN:
      return Form::kDn;
    case pto::Layout::NZ:
      return Form::kNz;
    case pto::Layout::MX_A_ZZ:
      return Form::kZz;
    case pto::Layout::MX_B_NN:
      return Form::kNn;
    default:
      return Form::kNd;
  }
}

struct TileBase {};
struct GlobalBase {};
template <typename T>
inline constexpr bool kIsTile = std::is_base_of_v<TileBase, std::remove_cv_t<T>>;
template <typename T>
inline constexpr bool kIsGlobal = std::is_base_of_v<GlobalBase, std::remove_cv_t<T>>;

}  // namespace kerf_pto

namespace pto {

template <TileType Loc_, typename Element_, int Rows_, int Cols_,
          BLayout BFractal_ = BLayout::RowMajor, int RowValid_ = Rows_, int ColValid_ = Cols_,
          SLayout SFractal_ = SLayout::NoneBox, int SFractalSize_ = 512,
          PadValue PadVal_ = PadValue::Null, CompactMode Compact_ = CompactMode::Null>
struct Tile : kerf_pto::TileBase {
  using DType = Element_;
  using TileDType = Element_*;
  static constexpr TileType Loc = Loc_;
  static constexpr int Rows = Rows_;
  static constexpr int Cols = Cols_;
  static constexpr int ValidRow = RowValid_;
  static constexpr int ValidCol = ColValid_;
  static constexpr int Numel = Rows_ * Cols_;
  static constexpr BLayout BFractal = BFractal_;
  static constexpr SLayout SFractal = SFractal_;
  static constexpr int SFractalSize = SFractalSize_;
  static constexpr PadValue PadVal = PadVal_;
  static constexpr CompactMode Compact = Compact_;
  static constexpr bool isRowMajor = BFractal_ == BLayout::RowMajor;
  static constexpr bool isBoxedLayout = SFractal_ != SLayout::NoneBox;
  static constexpr bool isInnerRowMajor = SFractal_ == SLayout::RowMajor;
  static constexpr bool isInnerColMajor = SFractal_ == SLayout::ColMajor;
  static constexpr int ElementBytes = static_cast<int>(sizeof(Element_));
  // Boxes of 512 bytes are 16 by 32 bytes, of 1024 16 by 16, of 32 (scales) 16 by 2; an inner
  // column-major box is the transpose.
  static constexpr int Short = SFractalSize_ == 32     ? 2
                               : SFractalSize_ == 1024 ? 16
                                                       : 32 / ElementBytes;
  static constexpr int InnerRows = !isBoxedLayout ? 1 : isInnerRowMajor ? 16 : Short;
  static constexpr int InnerCols = !isBoxedLayout ? 1 : isInnerRowMajor ? Short : 16;
  static constexpr int RowStride = isRowMajor ? Cols_ : 1;
  static constexpr int ColStride = isRowMajor ? 1 : Rows_;

  static_assert(Rows_ > 0 && Cols_ > 0, "kerf: a tile has rows and columns");
  static_assert(RowValid_ == DYNAMIC || (RowValid_ >= 0 && RowValid_ <= Rows_),
                "kerf: more valid rows than the tile has");
  static_assert(ColValid_ == DYNAMIC || (ColValid_ >= 0 && ColValid_ <= Cols_),
                "kerf: more valid columns than the tile has");
  static_assert(
      isBoxedLayout || Loc_ != TileType::Vec ||
          (isRowMajor ? Cols_ : Rows_) * ElementBytes % 32 == 0,
      "kerf: a row (a column, when column-major) of an unboxed tile is a multiple of 32 bytes");

  Tile() = default;
  template <typename R, typename C,
            std::enable_if_t<std::is_convertible_v<R, int64_t> && std::is_convertible_v<C, int64_t>,
                             int> = 0>
  Tile(R rows, C cols) : valid_rows_(static_cast<int>(rows)), valid_cols_(static_cast<int>(cols)) {}
  // The one that is not known when compiling.
  template <typename V,
            std::enable_if_t<
                std::is_integral_v<V> && (RowValid_ == DYNAMIC) != (ColValid_ == DYNAMIC), int> = 0>
  explicit Tile(V valid) {
    if constexpr (RowValid_ == DYNAMIC)
      valid_rows_ = static_cast<int>(valid);
    else
      valid_cols_ = static_cast<int>(valid);
  }

  int GetValidRow() const { return RowValid_ == DYNAMIC ? valid_rows_ : RowValid_; }
  int GetValidCol() const { return ColValid_ == DYNAMIC ? valid_cols_ : ColValid_; }
  template <typename R, typename C>
  void SetValidShape(R rows, C cols) {
    SetValidRow(rows);
    SetValidCol(cols);
  }
  template <typename R>
  void SetValidRow(R rows) {
    valid_rows_ = static_cast<int>(rows);
  }
  template <typename C>
  void SetValidCol(C cols) {
    valid_cols_ = static_cast<int>(cols);
  }

  // A pointer that can be read, and turns back into the address when given to TASSIGN.
  Element_* data() const {
    return static_cast<Element_*>(kerf_pto::TheCore().Address(kerf_pto::MemOf(Loc_), address_));
  }
  Element_ GetValue(int64_t offset, kerf_pto::Place place = kerf_pto::Place::current()) const {
    return *static_cast<Element_*>(
        kerf_pto::TheCore().Scalar(Ref(), offset, false, kerf_pto::SiteOf(place)));
  }
  template <typename V>
  void SetValue(int64_t offset, V value, kerf_pto::Place place = kerf_pto::Place::current()) {
    *static_cast<Element_*>(kerf_pto::TheCore().Scalar(
        Ref(), offset, true, kerf_pto::SiteOf(place))) = static_cast<Element_>(value);
  }

  kerf_pto::TileRef Ref() const {
    kerf_pto::TileRef ref;
    ref.addr = address_;
    ref.mem = kerf_pto::MemOf(Loc_);
    ref.type = kerf_pto::TypeOf<Element_>();
    ref.form = kerf_pto::FormOf(BFractal_, SFractal_);
    ref.bound = bound_;
    ref.owner = 0;
    ref.rows = Rows_;
    ref.cols = Cols_;
    ref.valid_rows = GetValidRow();
    ref.valid_cols = GetValidCol();
    ref.box_rows = InnerRows;
    ref.box_cols = InnerCols;
    constexpr auto pad = static_cast<uint64_t>(PadVal_);
    ref.pad = pad >> 32 != 0 ? 4 : static_cast<uint8_t>(pad);
    ref.pad_bits = static_cast<uint32_t>(pad);
    return ref;
  }
  void Bind(uint64_t address) {
    address_ = address;
    bound_ = true;
  }
  uint64_t Address() const { return address_; }
  bool Bound() const { return bound_; }

 private:
  uint64_t address_ = 0;
  int valid_rows_ = RowValid_ == DYNAMIC ? Rows_ : RowValid_;
  int valid_cols_ = ColValid_ == DYNAMIC ? Cols_ : ColValid_;
  bool bound_ = false;
};

#ifdef PTO_NPU_ARCH_A5
inline constexpr BLayout kLeftOuter = BLayout::ColMajor;
#else
inline constexpr BLayout kLeftOuter = BLayout::RowMajor;
#endif
template <typename T, int R, int C, int RV = R, int CV = C>
using TileLeft = Tile<TileType::Left, T, R, C, kLeftOuter, RV, CV, SLayout::RowMajor, 512>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileRight = Tile<TileType::Right, T, R, C, BLayout::RowMajor, RV, CV, SLayout::ColMajor, 512>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileAcc = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, RV, CV, SLayout::RowMajor, 1024>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileLeftCompact = Tile<TileType::Left, T, R, C, kLeftOuter, RV, CV, SLayout::RowMajor, 512,
                             PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileRightCompact = Tile<TileType::Right, T, R, C, BLayout::RowMajor, RV, CV,
                              SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileAccCompact = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, RV, CV, SLayout::RowMajor,
                            1024, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileLeftScale =
    Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, RV, CV, SLayout::RowMajor, 32>;
template <typename T, int R, int C, int RV = R, int CV = C>
using TileRightScale =
    Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, RV, CV, SLayout::ColMajor, 32>;

// Five sizes; those given as -1 are told to the constructor, in order, or all five are.
template <int... N>
struct Sizes {
  static_assert(sizeof...(N) == 5, "kerf: a view of global memory has five dimensions");
  static constexpr int64_t staticShape[5] = {N...};
  static constexpr int Unknown = ((N == DYNAMIC ? 1 : 0) + ...);
  int64_t shape[5] = {(N == DYNAMIC ? 1 : N)...};

  Sizes() = default;
  template <typename... V,
            std::enable_if_t<(sizeof...(V) > 0) && (std::is_convertible_v<V, int64_t> && ...) &&
                                 (sizeof...(V) == Unknown || sizeof...(V) == 5),
                             int> = 0>
  Sizes(V... values) {
    const int64_t given[] = {static_cast<int64_t>(values)...};
    int next = 0;
    for (int i = 0; i < 5; ++i) {
      if (sizeof...(V) == 5)
        shape[i] = staticShape[i] == DYNAMIC ? given[i] : staticShape[i];
      else if (staticShape[i] == DYNAMIC)
        shape[i] = given[next++];
    }
  }
};
template <int N1 = DYNAMIC, int N2 = DYNAMIC, int N3 = DYNAMIC, int N4 = DYNAMIC, int N5 = DYNAMIC>
struct Shape : Sizes<N1, N2, N3, N4, N5> {
  using Sizes<N1, N2, N3, N4, N5>::Sizes;
};
template <int N1 = DYNAMIC, int N2 = DYNAMIC, int N3 = DYNAMIC, int N4 = DYNAMIC, int N5 = DYNAMIC>
struct Stride : Sizes<N1, N2, N3, N4, N5> {
  using Sizes<N1, N2, N3, N4, N5>::Sizes;
};

template <typename Element_, typename Shape_, typename Stride_, Layout Layout_ = Layout::ND>
struct GlobalTensor : kerf_pto::GlobalBase {
  using DType = Element_;
  using RawDType = std::remove_cv_t<Element_>;
  static constexpr Layout layout = Layout_;
  static constexpr const int64_t (&staticShape)[5] = Shape_::staticShape;
  static constexpr const int64_t (&staticStride)[5] = Stride_::staticShape;

  GlobalTensor() = default;
  explicit GlobalTensor(Element_* data) : data_(data) {}
  GlobalTensor(Element_* data, const Shape_& shape) : data_(data), shape_(shape) {}
  GlobalTensor(Element_* data, const Shape_& shape, const Stride_& stride)
      : data_(data), shape_(shape), stride_(stride) {}

  Element_* data() const { return data_; }
  void SetAddr(Element_* data) { data_ = data; }
  int64_t GetShape(int i) const { return shape_.shape[i]; }
  int64_t GetStride(int i) const { return stride_.shape[i]; }
  int64_t GetShape(GlobalTensorDim i) const { return shape_.shape[static_cast<int>(i)]; }
  int64_t GetStride(GlobalTensorDim i) const { return stride_.shape[static_cast<int>(i)]; }
  template <auto I>
  int64_t GetShape() const {
    return shape_.shape[static_cast<int>(I)];
  }
  template <auto I>
  int64_t GetStride() const {
    return stride_.shape[static_cast<int>(I)];
  }
  template <auto I, typename V>
  void SetShape(V value) {
    shape_.shape[static_cast<int>(I)] = static_cast<int64_t>(value);
  }
  template <auto I, typename V>
  void SetStride(V value) {
    stride_.shape[static_cast<int>(I)] = static_cast<int64_t>(value);
  }

  kerf_pto::GlobalRef Ref() const {
    kerf_pto::GlobalRef ref;
    ref.data = const_cast<RawDType*>(data_);
    ref.type = kerf_pto::TypeOf<RawDType>();
    ref.form = kerf_pto::FormOf(Layout_);
    for (int i = 0; i < 5; ++i) {
      ref.shape[i] = shape_.shape[i];
      ref.stride[i] = stride_.shape[i];
    }
    return ref;
  }

 private:
  Element_* data_ = nullptr;
  Shape_ shape_;
  Stride_ stride_;
};

// The shape and (despite its name) the stride of a two-dimensional view.
namespace detail {
template <typename T, int R, int C, Layout L>
struct Shape2D {
  using type = Shape<1, 1, 1, R, C>;
};
template <typename T, int R, int C>
struct Shape2D<T, R, C, Layout::NZ> {
  static constexpr int C0 = 32 / static_cast<int>(sizeof(T));
  using type = Shape<1, C == DYNAMIC ? DYNAMIC : C / C0, R == DYNAMIC ? DYNAMIC : R / 16, 16, C0>;
};
constexpr int Product(int a, int b) { return a == DYNAMIC || b == DYNAMIC ? DYNAMIC : a * b; }
template <typename T, int R, int C, Layout L>
struct Stride2D {
  using type = Stride<Product(R, C), Product(R, C), Product(R, C), C, 1>;
};
template <typename T, int R, int C>
struct Stride2D<T, R, C, Layout::DN> {
  using type = Stride<Product(R, C), Product(R, C), Product(R, C), 1, R>;
};
template <typename T, int R, int C>
struct Stride2D<T, R, C, Layout::NZ> {
  static constexpr int C0 = 32 / static_cast<int>(sizeof(T));
  using type = Stride<Product(R, C), Product(R, C0), 16 * C0, C0, 1>;
};
}  // namespace detail
template <typename T, int Rows = DYNAMIC, int Cols = DYNAMIC, Layout L = Layout::ND>
struct TileShape2D : detail::Shape2D<T, Rows, Cols, L>::type {
  using Base = typename detail::Shape2D<T, Rows, Cols, L>::type;
  TileShape2D() = default;
  TileShape2D(int64_t rows, int64_t cols) {
    if constexpr (L == Layout::NZ) {
      constexpr int64_t c0 = 32 / sizeof(T);
      this->shape[1] = cols / c0;
      this->shape[2] = rows / 16;
    } else {
      this->shape[3] = rows;
      this->shape[4] = cols;
    }
  }
};
template <typename T, int Rows = DYNAMIC, int Cols = DYNAMIC, Layout L = Layout::ND>
struct BaseShape2D : detail::Stride2D<T, Rows, Cols, L>::type {
  using Base = typename detail::Stride2D<T, Rows, Cols, L>::type;
  BaseShape2D() = default;
  BaseShape2D(int64_t rows, int64_t cols) {
    constexpr int64_t c0 = 32 / sizeof(T);
    const int64_t outer = L == Layout::NZ ? rows * c0 : rows * cols;
    this->shape[0] = rows * cols;
    this->shape[1] = outer;
    this->shape[2] = L == Layout::NZ ? 16 * c0 : outer;
    this->shape[3] = L == Layout::ND ? cols : L == Layout::DN ? 1 : c0;
    this->shape[4] = L == Layout::DN ? rows : 1;
  }
};

}  // namespace pto
