// Tiles: the operands of every instruction.
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
  static constexpr int PerByte = kerf_pto::PerByte(kerf_pto::TypeOf<Element_>());
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
    // Of values that share a byte, a box of 512 bytes holds twice as many.
    constexpr int packed = SFractalSize_ == 512 ? PerByte : 1;
    ref.box_rows = InnerRows * (isInnerColMajor ? packed : 1);
    ref.box_cols = InnerCols * (isInnerRowMajor ? packed : 1);
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

}  // namespace pto
