// Windows that slide over an image of one to three axes: convolution and pooling. Terms outside
// the image are guarded; the guards become bounds of the window's loops.
#include <algorithm>
#include <cmath>

#include "synth/lowerer.h"
#include "synth/transposed.h"

namespace kerf::synth {
namespace {

struct Window {
  Shape kernel, stride, padding, dilation;
};

// ---- convolution ----

struct Conv {
  int input = 0, weight = 0;
  Window window;
  int64_t groups = 1;
  size_t axes = 0;
};

ExprPtr Term(Lowerer& l, const Conv& c, const Indices& in, const Indices& at_weight,
             const ExprPtr& inside, DType type) {
  const ExprPtr product =
      Binary(Op::kMul, Cast(l.At(c.input, in), type), Cast(l.At(c.weight, at_weight), type));
  return Select(inside, product, Integer(type, 0));
}

int Forward(Lowerer& l, const Conv& c, const Shape& shape, DType type) {
  const Shape& weight = l.tensor(c.weight).shape;
  const Shape& input = l.tensor(c.input).shape;
  const int64_t per_group = weight[0] / c.groups;
  Shape reduced(weight.begin() + 1, weight.end());
  const Indices out = Vars(shape);
  const Indices k = ReducedVars(shape, reduced);
  Indices in = {out[0], out[1].Div(per_group) * weight[1] + k[0]};
  Indices at_weight = {out[1], k[0]};
  ExprPtr inside = Integer(DType::kBool, 1);
  for (size_t i = 0; i < c.axes; ++i) {
    const Index at = out[2 + i] * c.window.stride[i] - Index(c.window.padding[i]) +
                     k[1 + i] * c.window.dilation[i];
    in.push_back(at);
    at_weight.push_back(k[1 + i]);
    inside = Both(inside, InRange(at, 0, input[2 + i]));
  }
  return l.Reduce(Combine::kSum, type, shape, reduced, Term(l, c, in, at_weight, inside, type),
                  "convolution");
}

// Each output gathers from the inputs whose window covers it.
int Transposed(Lowerer& l, const Conv& c, const ConvolutionShape& as, const Shape& shape,
               DType type) {
  const TransposedTerm t = WalkTransposed(as, l.tensor(c.input).shape, l.tensor(c.weight).shape,
                                          shape, TransposedWalk::kInputs);
  return l.Reduce(Combine::kSum, type, shape, t.reduced,
                  Term(l, c, t.input, t.weight, t.inside, type), "transposed convolution");
}

void Convolution(Lowerer& l) {
  Conv c;
  c.input = l.TensorArg("input");
  c.weight = l.TensorArg("weight");
  if (l.refused()) return;
  c.axes = l.tensor(c.weight).shape.size() - 2;
  c.groups = l.Int("groups", 1);
  c.window.stride = l.IntsFor("stride", c.axes, 1);
  c.window.padding = l.IntsFor("padding", c.axes, 0);
  c.window.dilation = l.IntsFor("dilation", c.axes, 1);
  const bool transposed = l.Bool("transposed", false);
  if (l.refused()) return;
  if (l.tensor(c.input).shape.size() != c.axes + 2) {
    // Without a batch: one image.
    Shape one = l.tensor(c.input).shape;
    one.insert(one.begin(), 1);
    c.input = l.Reshape(c.input, one);
  }
  Shape shape = l.OutShape();
  if (shape.size() == c.axes + 1) shape.insert(shape.begin(), 1);
  const DType type = RegisterType(l.OutType());
  const ConvolutionShape as = {c.input,           c.weight, c.window.stride, c.window.padding,
                               c.window.dilation, c.groups, transposed};
  const int sum = transposed ? Transposed(l, c, as, shape, type) : Forward(l, c, shape, type);
  l.tensor(sum).contraction = true;
  l.tensor(sum).convolution = as;
  const Indices out = Vars(shape);
  ExprPtr value = l.At(sum, out);
  if (l.Has("bias"))
    value = Binary(Op::kAdd, value, Cast(l.At(l.TensorArg("bias"), {out[1]}), type));
  if (l.refused()) return;
  const int result = l.Pointwise(l.OutType(), shape, value, "convolution and bias");
  l.Give(0, l.Reshape(result, l.OutShape()));
}

// ---- pooling ----

Window PoolWindow(Lowerer& l, size_t axes) {
  Window w;
  w.kernel = l.IntsFor("kernel_size", axes, 1);
  w.stride = l.Ints("stride").empty() ? w.kernel : l.IntsFor("stride", axes, 1);
  w.padding = l.IntsFor("padding", axes, 0);
  w.dilation = l.IntsFor("dilation", axes, 1);
  return w;
}

struct Pool {
  Indices in;  // of the element under the window
  ExprPtr inside;
};

Pool UnderWindow(const Window& w, const Shape& input, const Shape& shape) {
  const size_t axes = w.kernel.size();
  const size_t lead = shape.size() - axes;
  Pool pool;
  const Indices out = Vars(shape);
  const Indices k = ReducedVars(shape, w.kernel);
  pool.in.assign(out.begin(), out.begin() + static_cast<int64_t>(lead));
  pool.inside = Integer(DType::kBool, 1);
  for (size_t i = 0; i < axes; ++i) {
    const Index at = out[lead + i] * w.stride[i] - Index(w.padding[i]) + k[i] * w.dilation[i];
    pool.in.push_back(at);
    pool.inside = Both(pool.inside, InRange(at, 0, input[lead + i]));
  }
  return pool;
}

template <size_t kAxes>
void MaxPool(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Window w = PoolWindow(l, kAxes);
  if (l.refused()) return;
  const size_t shown = l.Wanted(0) ? 0 : 1;
  const Shape shape = l.OutShape(shown);
  const Shape input = l.tensor(id).shape;
  const Pool pool = UnderWindow(w, input, shape);
  const ExprPtr x = l.At(id, pool.in);
  const ExprPtr term = Select(pool.inside, x, Identity(Combine::kMax, x->type));
  if (l.Wanted(0))
    l.Give(0,
           l.Reduce(Combine::kMax, l.OutType(0), shape, w.kernel, term, "maximum of the window"));
  if (!l.Wanted(1)) return;
  const int place = l.Reduce(Combine::kArgMax, DType::kInt64, shape, w.kernel, term,
                             "place of the maximum in the window");
  // From the place in the window to the place in the image.
  const Indices out = Vars(shape);
  const size_t lead = shape.size() - kAxes;
  ExprPtr flat = Integer(DType::kInt64, 0);
  int64_t unit = Numel(w.kernel);
  const ExprPtr found = l.At(place, out);
  for (size_t i = 0; i < kAxes; ++i) {
    const int64_t above = unit;
    unit /= w.kernel[i];
    const ExprPtr within =
        Binary(Op::kTruncDiv, Binary(Op::kFmod, found, Integer(DType::kInt64, above)),
               Integer(DType::kInt64, unit));
    const ExprPtr corner = IndexValue(out[lead + i] * w.stride[i] - Index(w.padding[i]));
    const ExprPtr at =
        Binary(Op::kAdd, corner, Binary(Op::kMul, within, Integer(DType::kInt64, w.dilation[i])));
    flat = Binary(Op::kAdd, Binary(Op::kMul, flat, Integer(DType::kInt64, input[lead + i])), at);
  }
  l.Give(1, flat);
}

// How many terms a window has along one axis, where that differs from place to place.
ExprPtr CountAlong(const Index& out, int64_t kernel, int64_t stride, int64_t padding,
                   int64_t extent, bool with_pad) {
  const auto number = [](int64_t n) { return Integer(DType::kInt64, n); };
  const ExprPtr start = IndexValue(out * stride - Index(padding));
  const ExprPtr end =
      Binary(Op::kMin, Binary(Op::kAdd, start, number(kernel)), number(extent + padding));
  if (with_pad) return Binary(Op::kSub, end, start);
  return Binary(Op::kSub, Binary(Op::kMin, end, number(extent)),
                Binary(Op::kMax, start, number(0)));
}

template <size_t kAxes>
void AvgPool(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Window w = PoolWindow(l, kAxes);
  const bool with_pad = l.Bool("count_include_pad", true);
  const bool fixed = l.Has("divisor_override");
  const int64_t divisor = l.Int("divisor_override", 1);
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  const Shape input = l.tensor(id).shape;
  const size_t lead = shape.size() - kAxes;
  const DType type = RegisterType(l.OutType());
  const Pool pool = UnderWindow(w, input, shape);
  const ExprPtr term = Select(pool.inside, l.At(id, pool.in), Integer(type, 0));
  const int sum = l.Reduce(Combine::kSum, type, shape, w.kernel, term, "sum of the window");
  const Indices out = Vars(shape);
  ExprPtr count = Integer(DType::kInt64, 1);
  bool same = true;
  for (size_t i = 0; i < kAxes; ++i) {
    const int64_t last = (shape[lead + i] - 1) * w.stride[i] - w.padding[i] + w.kernel[i];
    const bool inside = last <= input[lead + i] + w.padding[i] && (with_pad || w.padding[i] == 0);
    same = same && inside;
    const ExprPtr along = inside ? Integer(DType::kInt64, w.kernel[i])
                                 : CountAlong(out[lead + i], w.kernel[i], w.stride[i], w.padding[i],
                                              input[lead + i], with_pad);
    count = Binary(Op::kMul, count, along);
  }
  ExprPtr by = fixed  ? Number(type, static_cast<double>(divisor))
               : same ? Number(type, static_cast<double>(Numel(w.kernel)))
                      : Cast(count, type);
  l.Give(0, Binary(Op::kDiv, l.At(sum, out), by), "mean of the window");
}

// Window o covers floor(o * in / out) … ceil((o + 1) * in / out).
template <size_t kAxes, bool kMaximum>
void AdaptivePool(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  if (kMaximum && l.Wanted(1)) return l.Refuse("the places of its maxima are asked for");
  const Shape shape = l.OutShape();
  const Shape input = l.tensor(id).shape;
  const size_t lead = shape.size() - kAxes;
  const DType type = RegisterType(l.OutType());
  const Indices out = Vars(shape);
  Shape reduced;
  for (size_t i = 0; i < kAxes; ++i) {
    const int64_t in = input[lead + i];
    const int64_t o = shape[lead + i];
    reduced.push_back(o == 0 ? 0 : in % o == 0 ? in / o : (in + o - 1) / o + 1);
  }
  const Indices k = ReducedVars(shape, reduced);
  Indices at(out.begin(), out.begin() + static_cast<int64_t>(lead));
  ExprPtr inside = Integer(DType::kBool, 1);
  ExprPtr count = Integer(DType::kInt64, 1);
  for (size_t i = 0; i < kAxes; ++i) {
    const int64_t in = input[lead + i];
    const int64_t o = shape[lead + i];
    if (o == 0 || in % o == 0) {
      at.push_back(out[lead + i] * reduced[i] + k[i]);
      count = Binary(Op::kMul, count, Integer(DType::kInt64, reduced[i]));
      continue;
    }
    const Index start = (out[lead + i] * in).Div(o);
    const Index end = ((out[lead + i] + Index(1)) * in + Index(o - 1)).Div(o);
    at.push_back(start + k[i]);
    inside = Both(inside, InRange(end - start - k[i], 1, int64_t{1} << 60));
    count = Binary(Op::kMul, count, IndexValue(end - start));
  }
  const Combine combine = kMaximum ? Combine::kMax : Combine::kSum;
  const ExprPtr term = Select(inside, l.At(id, at), Identity(combine, type));
  const int joined = l.Reduce(combine, kMaximum ? l.OutType() : type, shape, reduced, term,
                              kMaximum ? "maximum of the window" : "sum of the window");
  if (kMaximum) return l.Give(0, joined);
  l.Give(0, Binary(Op::kDiv, l.At(joined, out), Cast(count, type)), "mean of the window");
}

}  // namespace

void AddWindows(HandlerTable& t) {
  t["aten.convolution.default"] = Convolution;
  t["aten.max_pool2d_with_indices.default"] = MaxPool<2>;
  t["aten.max_pool3d_with_indices.default"] = MaxPool<3>;
  t["aten.max_pool2d.default"] = MaxPool<2>;
  t["aten.max_pool3d.default"] = MaxPool<3>;
  t["aten.avg_pool1d.default"] = AvgPool<1>;
  t["aten.avg_pool2d.default"] = AvgPool<2>;
  t["aten.avg_pool3d.default"] = AvgPool<3>;
  t["aten.adaptive_avg_pool1d.default"] = AdaptivePool<1, false>;
  t["aten._adaptive_avg_pool2d.default"] = AdaptivePool<2, false>;
  t["aten._adaptive_avg_pool3d.default"] = AdaptivePool<3, false>;
  t["aten.adaptive_max_pool2d.default"] = AdaptivePool<2, true>;
  t["aten.adaptive_max_pool3d.default"] = AdaptivePool<3, true>;
}

}  // namespace kerf::synth
