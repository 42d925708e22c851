// Other places of the same elements, and tensors made from nothing. Each is a change of indices.
#include <algorithm>

#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

void View(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (!l.refused()) l.Give(0, l.Reshape(id, l.OutShape()));
}

void Expand(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (!l.refused()) l.Give(0, l.BroadcastAt(id, Vars(l.OutShape())));
}

void Permute(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Shape dims = l.Ints("dims");
  if (l.refused()) return;
  const Indices out = Vars(l.OutShape());
  Indices in(out.size());
  for (size_t i = 0; i < dims.size(); ++i)
    in[static_cast<size_t>(WrapAxis(dims[i], out.size()))] = out[i];
  l.Give(0, l.At(id, in));
}

void Transpose(Lowerer& l) {
  const int id = l.TensorArg("self");
  const size_t rank = l.OutShape().size();
  const bool matrix = l.op() == "aten.t.default";
  const int a = matrix ? 0 : WrapAxis(l.Int("dim0", 0), rank);
  const int b = matrix ? 1 : WrapAxis(l.Int("dim1", 1), rank);
  Indices in = Vars(l.OutShape());
  if (rank > 1) std::swap(in[static_cast<size_t>(a)], in[static_cast<size_t>(b)]);
  if (!l.refused()) l.Give(0, l.At(id, in));
}

void Slice(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Shape& shape = l.tensor(id).shape;
  const auto axis = static_cast<size_t>(WrapAxis(l.Int("dim", 0), shape.size()));
  const int64_t extent = shape[axis];
  int64_t start = l.Int("start", 0);
  if (start < 0) start += extent;
  start = std::clamp<int64_t>(start, 0, extent);
  const int64_t step = l.Int("step", 1);
  Indices in = Vars(l.OutShape());
  in[axis] = in[axis] * step + Index(start);
  if (!l.refused()) l.Give(0, l.At(id, in));
}

void SelectInt(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Shape& shape = l.tensor(id).shape;
  const int axis = WrapAxis(l.Int("dim", 0), shape.size());
  int64_t index = l.Int("index", 0);
  if (index < 0) index += shape[static_cast<size_t>(axis)];
  Indices in = Vars(l.OutShape());
  in.insert(in.begin() + axis, Index(index));
  if (!l.refused()) l.Give(0, l.At(id, in));
}

void Flip(Lowerer& l) {
  const int id = l.TensorArg("self");
  Indices in = Vars(l.OutShape());
  for (const int64_t dim : l.Ints("dims")) {
    const auto axis = static_cast<size_t>(WrapAxis(dim, in.size()));
    in[axis] = Index(l.OutShape()[axis] - 1) - in[axis];
  }
  if (!l.refused()) l.Give(0, l.At(id, in));
}

void Roll(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Shape shifts = l.Ints("shifts");
  const Shape dims = l.Ints("dims");
  if (l.refused() || l.tensor(id).numel() == 0) return l.Give(0, id);
  Indices in = Vars(l.OutShape());
  const auto rolled = [](const Index& at, int64_t shift, int64_t extent) {
    return (at + Index(((-shift) % extent + extent) % extent)).Mod(extent);
  };
  if (dims.empty()) {
    const Shape& shape = l.OutShape();
    const Index flat = rolled(FlatIndex(shape, in), shifts.at(0), Numel(shape));
    const Shape strides = ContiguousStrides(shape);
    for (size_t i = 0; i < shape.size(); ++i) in[i] = flat.Div(strides[i]).Mod(shape[i]);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto axis = static_cast<size_t>(WrapAxis(dims[i], in.size()));
    in[axis] = rolled(in[axis], shifts[i], l.OutShape()[axis]);
  }
  l.Give(0, l.At(id, in));
}

void Cat(Lowerer& l) {
  const std::vector<int> parts = l.TensorList("tensors");
  if (l.refused() || parts.empty()) return l.Refuse("it joins nothing");
  const Indices out = Vars(l.OutShape());
  const auto axis = static_cast<size_t>(WrapAxis(l.Int("dim", 0), out.size()));
  const DType type = RegisterType(l.OutType());
  ExprPtr joined;
  int64_t end = l.OutShape()[axis];
  for (size_t i = parts.size(); i-- > 0;) {
    const Shape shape = l.tensor(parts[i]).shape;
    if (shape.size() == 1 && shape[0] == 0) continue;  // torch lets old-style empties pass
    const int64_t start = end - shape[axis];
    Indices in = out;
    in[axis] = in[axis] - Index(start);
    if (shape[axis] == 0) continue;
    const ExprPtr part = Cast(l.At(parts[i], in), type);
    joined = joined == nullptr ? part : Select(InRange(out[axis], start, end), part, joined);
    end = start;
  }
  if (joined == nullptr) joined = Integer(type, 0);
  l.Give(0, joined, "parts side by side");
}

void Stack(Lowerer& l) {
  const std::vector<int> parts = l.TensorList("tensors");
  if (l.refused() || parts.empty()) return l.Refuse("it joins nothing");
  Indices out = Vars(l.OutShape());
  const int axis = WrapAxis(l.Int("dim", 0), out.size());
  const Index which = out[static_cast<size_t>(axis)];
  out.erase(out.begin() + axis);
  ExprPtr joined;
  for (size_t i = parts.size(); i-- > 0;) {
    const auto number = static_cast<int64_t>(i);
    const ExprPtr part = Cast(l.At(parts[i], out), RegisterType(l.OutType()));
    joined = joined == nullptr ? part : Select(InRange(which, number, number + 1), part, joined);
  }
  l.Give(0, joined);
}

// pad lists (before, after) from the last axis on.
void ConstantPad(Lowerer& l) {
  const int id = l.TensorArg("self");
  const Shape pad = l.Ints("pad");
  const DType type = RegisterType(l.OutType());
  const ExprPtr fill = l.Has("value") ? l.Operand("value", {}, type) : Integer(type, 0);
  if (l.refused()) return;
  Indices in = Vars(l.OutShape());
  ExprPtr inside = Integer(DType::kBool, 1);
  for (size_t i = 0; 2 * i < pad.size(); ++i) {
    const size_t axis = in.size() - 1 - i;
    in[axis] = in[axis] - Index(pad[2 * i]);
    inside = Both(inside, InRange(in[axis], 0, l.tensor(id).shape[axis]));
  }
  l.Give(0, Select(inside, l.At(id, in), fill), "padded with a constant");
}

// min(max(i, 0), n - 1) and the mirror image, as integers read by the index.
ExprPtr ClampedIndex(const Index& at, int64_t extent) {
  const ExprPtr i = IndexValue(at);
  const ExprPtr low = Binary(Op::kMax, i, Integer(DType::kInt64, 0));
  return Binary(Op::kMin, low, Integer(DType::kInt64, extent - 1));
}

ExprPtr MirroredIndex(const Index& at, int64_t extent) {
  const ExprPtr distance = Unary(Op::kAbs, IndexValue(at));
  const ExprPtr last = Integer(DType::kInt64, extent - 1);
  const ExprPtr over = Unary(Op::kAbs, Binary(Op::kSub, last, distance));
  return Binary(Op::kSub, last, over);
}

void EdgePad(Lowerer& l) {
  const bool reflect = l.op().find("reflection") != std::string::npos;
  const int id = l.TensorArg("self");
  const Shape pad = l.Ints("padding");
  if (l.refused()) return;
  Indices in = Vars(l.OutShape());
  for (size_t i = 0; 2 * i < pad.size(); ++i) {
    const size_t axis = in.size() - 1 - i;
    const int64_t extent = l.tensor(id).shape[axis];
    const Index at = in[axis] - Index(pad[2 * i]);
    const ExprPtr wrapped = reflect ? MirroredIndex(at, extent) : ClampedIndex(at, extent);
    in[axis] = Index::Value(wrapped);
  }
  l.Give(0, l.At(id, in));
}

void Repeat(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Shape shape = l.tensor(id).shape;
  Indices in = Vars(l.OutShape());
  in.erase(in.begin(), in.begin() + static_cast<int64_t>(in.size() - shape.size()));
  for (size_t i = 0; i < in.size(); ++i) {
    if (shape[i] > 0) in[i] = in[i].Mod(shape[i]);
  }
  l.Give(0, l.At(id, in));
}

void Diagonal(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const size_t rank = l.tensor(id).shape.size();
  const int64_t offset = l.Int("offset", 0);
  const int a = WrapAxis(l.Int("dim1", 0), rank);
  const int b = WrapAxis(l.Int("dim2", 1), rank);
  Indices out = Vars(l.OutShape());
  const Index at = out.back();
  out.pop_back();
  Indices in;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (static_cast<int>(i) == a) {
      in.push_back(at + Index(std::max<int64_t>(-offset, 0)));
    } else if (static_cast<int>(i) == b) {
      in.push_back(at + Index(std::max<int64_t>(offset, 0)));
    } else {
      in.push_back(out[next++]);
    }
  }
  l.Give(0, l.At(id, in));
}

void DiagEmbed(Lowerer& l) {
  const int id = l.TensorArg("self");
  const int64_t offset = l.Int("offset", 0);
  if (l.refused()) return;
  const Indices out = Vars(l.OutShape());
  const size_t rank = out.size();
  const auto a = static_cast<size_t>(WrapAxis(l.Int("dim1", -2), rank));
  const auto b = static_cast<size_t>(WrapAxis(l.Int("dim2", -1), rank));
  Indices in;
  for (size_t i = 0; i < rank; ++i) {
    if (i != a && i != b) in.push_back(out[i]);
  }
  const Index row = out[a] - Index(std::max<int64_t>(-offset, 0));
  const Index column = out[b] - Index(std::max<int64_t>(offset, 0));
  in.push_back(row);
  const ExprPtr on = Both(InRange(row - column, 0, 1), InRange(row, 0, l.tensor(id).shape.back()));
  const DType type = RegisterType(l.OutType());
  l.Give(0, Select(on, l.At(id, in), Integer(type, 0)));
}

template <bool kLower>
void Triangle(Lowerer& l) {
  const int id = l.TensorArg("self");
  const int64_t diagonal = l.Int("diagonal", 0);
  if (l.refused()) return;
  const Indices at = Vars(l.OutShape());
  const Index distance = at[at.size() - 1] - at[at.size() - 2];  // column - row
  constexpr int64_t kFar = int64_t{1} << 60;
  const ExprPtr kept =
      kLower ? InRange(distance, -kFar, diagonal + 1) : InRange(distance, diagonal, kFar);
  l.Give(0, Select(kept, l.At(id, at), Integer(RegisterType(l.OutType()), 0)));
}

void Full(Lowerer& l) {
  const DType type = RegisterType(l.OutType());
  const char* name = l.Has("fill_value") ? "fill_value" : l.Has("value") ? "value" : "s";
  const ExprPtr value = l.Operand(name, Vars(l.OutShape()), type);
  if (!l.refused()) l.Give(0, value);
}

template <int kValue>
void Filled(Lowerer& l) {
  l.Give(0, Integer(RegisterType(l.OutType()), kValue));
}

void Arange(Lowerer& l) {
  const DType type = RegisterType(l.OutType());
  const ExprPtr i = IndexValue(Vars(l.OutShape()).at(0));
  const DType work = IsFloat(type) ? DType::kFloat64 : DType::kInt64;
  const ExprPtr start = l.Has("start") ? l.Operand("start", {}, work) : Integer(work, 0);
  const ExprPtr step = l.Has("step") ? l.Operand("step", {}, work) : Integer(work, 1);
  if (l.refused()) return;
  l.Give(0, Cast(Binary(Op::kAdd, start, Binary(Op::kMul, Cast(i, work), step)), type));
}

void Eye(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  l.Give(0, Select(InRange(at[0] - at[1], 0, 1), Integer(type, 1), Integer(type, 0)));
}

// Windows as an axis of their own.
void Unfold(Lowerer& l) {
  const int id = l.TensorArg("self");
  const auto axis = static_cast<size_t>(WrapAxis(l.Int("dimension", 0), l.tensor(id).shape.size()));
  const int64_t step = l.Int("step", 1);
  if (l.refused()) return;
  Indices in = Vars(l.OutShape());
  const Index within = in.back();
  in.pop_back();
  in[axis] = in[axis] * step + within;
  l.Give(0, l.At(id, in));
}

void PixelShuffle(Lowerer& l) {
  const int id = l.TensorArg("self");
  const bool shuffle = l.op() == "aten.pixel_shuffle.default";
  const int64_t r = l.Int(shuffle ? "upscale_factor" : "downscale_factor", 1);
  if (l.refused()) return;
  Indices in = Vars(l.OutShape());
  const size_t n = in.size();
  const Index c = in[n - 3], h = in[n - 2], w = in[n - 1];
  if (shuffle) {
    in[n - 3] = c * (r * r) + h.Mod(r) * r + w.Mod(r);
    in[n - 2] = h.Div(r);
    in[n - 1] = w.Div(r);
  } else {
    in[n - 3] = c.Div(r * r);
    in[n - 2] = h * r + c.Div(r).Mod(r);
    in[n - 1] = w * r + c.Mod(r);
  }
  l.Give(0, l.At(id, in));
}

}  // namespace

void AddViews(HandlerTable& t) {
  for (const char* name : {"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default",
                           "aten.unsqueeze.default", "aten.squeeze.default", "aten.squeeze.dim",
                           "aten.squeeze.dims", "aten.flatten.using_ints"})
    t[name] = View;
  t["aten.expand.default"] = Expand;
  t["aten.permute.default"] = Permute;
  t["aten.transpose.int"] = Transpose;
  t["aten.t.default"] = Transpose;
  t["aten.slice.Tensor"] = Slice;
  t["aten.select.int"] = SelectInt;
  t["aten.flip.default"] = Flip;
  t["aten.roll.default"] = Roll;
  t["aten.cat.default"] = Cat;
  t["aten.stack.default"] = Stack;
  t["aten.constant_pad_nd.default"] = ConstantPad;
  for (const char* dims : {"1d", "2d", "3d"}) {
    t["aten.reflection_pad" + std::string(dims) + ".default"] = EdgePad;
    t["aten.replication_pad" + std::string(dims) + ".default"] = EdgePad;
  }
  t["aten.repeat.default"] = Repeat;
  t["aten.diagonal.default"] = Diagonal;
  t["aten.diag_embed.default"] = DiagEmbed;
  t["aten.tril.default"] = Triangle<true>;
  t["aten.triu.default"] = Triangle<false>;
  t["aten.full.default"] = Full;
  t["aten.full_like.default"] = Full;
  t["aten.fill.Scalar"] = Full;
  t["aten.fill.Tensor"] = Full;
  t["aten.scalar_tensor.default"] = Full;
  t["aten.zeros.default"] = Filled<0>;
  t["aten.zeros_like.default"] = Filled<0>;
  t["aten.ones.default"] = Filled<1>;
  t["aten.ones_like.default"] = Filled<1>;
  t["aten.arange.default"] = Arange;
  t["aten.arange.start"] = Arange;
  t["aten.arange.start_step"] = Arange;
  t["aten.eye.default"] = Eye;
  t["aten.eye.m"] = Eye;
  t["aten.unfold.default"] = Unfold;
  t["aten.pixel_shuffle.default"] = PixelShuffle;
  t["aten.pixel_unshuffle.default"] = PixelShuffle;
}

}  // namespace kerf::synth
