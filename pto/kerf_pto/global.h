// Views of global memory.
#pragma once

#include "kerf_pto/tile.h"

namespace kerf_pto {

constexpr Form FormOf(pto::Layout layout) {
  switch (layout) {
    case pto::Layout::DN:
      return Form::kDn;
    case pto::Layout::NZ:
      return Form::kNz;
    case pto::Layout::MX_A_ZZ:
      return Form::kMxAZz;
    case pto::Layout::MX_A_ND:
      return Form::kMxANd;
    case pto::Layout::MX_A_DN:
      return Form::kMxADn;
    case pto::Layout::MX_B_NN:
      return Form::kMxBNn;
    case pto::Layout::MX_B_ND:
      return Form::kMxBNd;
    case pto::Layout::MX_B_DN:
      return Form::kMxBDn;
    default:
      return Form::kNd;
  }
}

// Sizes of which -1 is not known when compiling.
constexpr int64_t Times(int64_t a, int64_t b) {
  return a == pto::DYNAMIC || b == pto::DYNAMIC ? pto::DYNAMIC : a * b;
}
constexpr int64_t Over(int64_t a, int64_t b) { return a == pto::DYNAMIC ? a : a / b; }

struct FiveSizes {
  int64_t n[5];
};

// Scales of an MX operand: a line is a row of the left operand or a column of the right one, and
// two neighbours along k lie side by side. Either in boxes of 16 lines, or line by line, or pair by
// pair.
struct MxForm {
  bool left, boxed, by_line;
};
constexpr bool IsMx(Form form) { return form >= Form::kMxAZz; }
constexpr MxForm MxFormOf(Form form) {
  return {form == Form::kMxAZz || form == Form::kMxANd || form == Form::kMxADn,
          form == Form::kMxAZz || form == Form::kMxBNn,
          form == Form::kMxANd || form == Form::kMxBDn};
}
constexpr FiveSizes MxShape(Form form, int64_t rows, int64_t cols) {
  const MxForm mx = MxFormOf(form);
  const int64_t lines = mx.left ? rows : cols;
  const int64_t pairs = Over(mx.left ? cols : rows, 2);
  if (mx.boxed) return {{1, Over(lines, 16), pairs, 16, 2}};
  if (mx.by_line) return {{1, 1, lines, pairs, 2}};
  return {{1, 1, pairs, lines, 2}};
}
constexpr FiveSizes MxStride(Form form, int64_t rows, int64_t cols) {
  const MxForm mx = MxFormOf(form);
  const int64_t all = Times(rows, cols);
  const int64_t lines = mx.left ? rows : cols;
  const int64_t depth = mx.left ? cols : rows;
  if (mx.boxed) return {{all, Times(depth, 16), 32, 2, 1}};
  return {{all, all, mx.by_line ? depth : Times(lines, 2), 2, 1}};
}

// Of a view with two dimensions; `c0` is what 32 bytes hold.
constexpr FiveSizes ShapeOf(pto::Layout layout, int64_t rows, int64_t cols, int64_t c0) {
  if (IsMx(FormOf(layout))) return MxShape(FormOf(layout), rows, cols);
  if (layout == pto::Layout::NZ) return {{1, Over(cols, c0), Over(rows, 16), 16, c0}};
  return {{1, 1, 1, rows, cols}};
}
constexpr FiveSizes StrideOf(pto::Layout layout, int64_t rows, int64_t cols, int64_t c0) {
  const int64_t all = Times(rows, cols);
  if (IsMx(FormOf(layout))) return MxStride(FormOf(layout), rows, cols);
  if (layout == pto::Layout::NZ) return {{all, Times(rows, c0), 16 * c0, c0, 1}};
  if (layout == pto::Layout::DN) return {{all, all, all, 1, rows}};
  return {{all, all, all, cols, 1}};
}
template <typename T>
inline constexpr int64_t kC0 = int64_t{32} / sizeof(T) * PerByte(TypeOf<T>());

}  // namespace kerf_pto

namespace pto {

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
    // Kernels also give the shape of scales as plain rows and columns.
    if constexpr (kerf_pto::IsMx(kerf_pto::FormOf(Layout_)) && Shape_::staticShape[4] != 2) {
      const auto sizes = kerf_pto::MxShape(ref.form, shape_.shape[3], shape_.shape[4]);
      for (int i = 0; i < 5; ++i) ref.shape[i] = sizes.n[i];
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
template <typename T, int Rows, int Cols, Layout L>
struct TwoDimensions {
  static constexpr int ShapeAt(int i) {
    return static_cast<int>(kerf_pto::ShapeOf(L, Rows, Cols, kerf_pto::kC0<T>).n[i]);
  }
  static constexpr int StrideAt(int i) {
    return static_cast<int>(kerf_pto::StrideOf(L, Rows, Cols, kerf_pto::kC0<T>).n[i]);
  }
  using Extents = Shape<ShapeAt(0), ShapeAt(1), ShapeAt(2), ShapeAt(3), ShapeAt(4)>;
  using Steps = Stride<StrideAt(0), StrideAt(1), StrideAt(2), StrideAt(3), StrideAt(4)>;
};
}  // namespace detail
template <typename T, int Rows = DYNAMIC, int Cols = DYNAMIC, Layout L = Layout::ND>
struct TileShape2D : detail::TwoDimensions<T, Rows, Cols, L>::Extents {
  using Base = typename detail::TwoDimensions<T, Rows, Cols, L>::Extents;
  TileShape2D() = default;
  TileShape2D(int64_t rows, int64_t cols) {
    const auto sizes = kerf_pto::ShapeOf(L, rows, cols, kerf_pto::kC0<T>);
    for (int i = 0; i < 5; ++i) this->shape[i] = sizes.n[i];
  }
};
template <typename T, int Rows = DYNAMIC, int Cols = DYNAMIC, Layout L = Layout::ND>
struct BaseShape2D : detail::TwoDimensions<T, Rows, Cols, L>::Steps {
  using Base = typename detail::TwoDimensions<T, Rows, Cols, L>::Steps;
  BaseShape2D() = default;
  BaseShape2D(int64_t rows, int64_t cols) {
    const auto sizes = kerf_pto::StrideOf(L, rows, cols, kerf_pto::kC0<T>);
    for (int i = 0; i < 5; ++i) this->shape[i] = sizes.n[i];
  }
};

}  // namespace pto
