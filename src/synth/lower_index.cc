// Elements found by indices that are data: gathering is an index read from a tensor, scattering an
// algorithm of its own.
#include <algorithm>

#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

// A negative index counts from the end.
Index Wrapped(const ExprPtr& index, int64_t extent) {
  const ExprPtr i = Cast(index, DType::kInt64);
  const ExprPtr zero = Integer(DType::kInt64, 0);
  return Index::Value(
      Select(Binary(Op::kLt, i, zero), Binary(Op::kAdd, i, Integer(DType::kInt64, extent)), i));
}

Index Plain(const ExprPtr& index) { return Index::Value(Cast(index, DType::kInt64)); }

void Embedding(Lowerer& l) {
  const int weight = l.TensorArg("weight");
  const int indices = l.TensorArg("indices");
  if (l.refused()) return;
  Indices out = Vars(l.OutShape());
  const Index column = out.back();
  out.pop_back();
  l.Give(0, l.At(weight, {Plain(l.At(indices, out)), column}), "rows of a table");
}

void IndexSelect(Lowerer& l) {
  const int id = l.TensorArg("self");
  const int index = l.TensorArg("index");
  if (l.refused()) return;
  Indices in = Vars(l.OutShape());
  if (in.empty()) return l.Give(0, l.At(id, in));
  const auto axis = static_cast<size_t>(WrapAxis(l.Int("dim", 0), in.size()));
  const Indices place = l.tensor(index).shape.empty() ? Indices{} : Indices{in[axis]};
  in[axis] = Plain(l.At(index, place));
  l.Give(0, l.At(id, in));
}

void Gather(Lowerer& l) {
  const int id = l.TensorArg("self");
  const int index = l.TensorArg("index");
  if (l.refused()) return;
  const Indices out = Vars(l.OutShape());
  if (out.empty()) return l.Give(0, l.At(id, {}));
  Indices in = out;
  in[static_cast<size_t>(WrapAxis(l.Int("dim", 0), in.size()))] = Plain(l.At(index, out));
  l.Give(0, l.At(id, in));
}

// self[a, :, b]: the axes of the index tensors stand where the first of them was, or in front when
// they are not neighbours.
void IndexTensor(Lowerer& l) {
  const int id = l.TensorArg("self");
  const std::vector<int> given = l.TensorList("indices");
  if (l.refused()) return;
  const Shape shape = l.tensor(id).shape;
  std::vector<size_t> indexed;
  size_t wide = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0) continue;
    if (!IsInteger(l.tensor(given[i]).dtype))
      return l.Refuse("a mask as an index gives a shape that depends on data");
    indexed.push_back(i);
    wide = std::max(wide, l.tensor(given[i]).shape.size());
  }
  if (indexed.empty()) return l.Give(0, l.At(id, Vars(shape)));
  const bool neighbours = indexed.back() - indexed.front() + 1 == indexed.size();
  const size_t first = neighbours ? indexed.front() : 0;
  const Indices out = Vars(l.OutShape());
  const Indices place(out.begin() + static_cast<int64_t>(first),
                      out.begin() + static_cast<int64_t>(first + wide));
  Indices in;
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < given.size() && given[i] >= 0) {
      in.push_back(Wrapped(l.BroadcastAt(given[i], place), shape[i]));
      continue;
    }
    if (next == first) next += wide;
    in.push_back(out[next++]);
  }
  l.Give(0, l.At(id, in));
}

void Take(Lowerer& l) {
  const int id = l.TensorArg("self");
  const int index = l.TensorArg("index");
  if (l.refused()) return;
  const int flat = l.Reshape(id, {l.tensor(id).numel()});
  l.Give(0, l.At(flat, {Wrapped(l.At(index, Vars(l.OutShape())), l.tensor(id).numel())}));
}

// ---- scattering ----

enum ScatterMode : int64_t { kSet = 0, kAdd = 1, kMultiply = 2, kMaximum = 3, kMinimum = 4 };

int ScatterModeOf(Lowerer& l, const std::string& name) {
  if (name == "sum" || name == "add") return kAdd;
  if (name == "prod" || name == "multiply") return kMultiply;
  if (name == "amax") return kMaximum;
  if (name == "amin") return kMinimum;
  l.Refuse("its reduction '" + name + "' is not known");
  return kSet;
}

// A copy that lies in memory, of the result's type.
int InMemory(Lowerer& l, const Shape& shape, ExprPtr body, DType type, std::string what) {
  return l.Pointwise(type, shape, Cast(std::move(body), RegisterType(type)), std::move(what));
}

void Scatter(Lowerer& l) {
  const int self = l.TensorArg("self");
  const int index = l.TensorArg("index");
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  const Shape places = l.tensor(index).shape;
  if (places.size() != shape.size() || shape.empty())
    return l.Refuse("it scatters into a tensor without axes");
  const DType type = l.OutType();
  const bool is_add = l.op() == "aten.scatter_add.default";
  const bool reduces = l.Has("reduce");
  int64_t mode = is_add ? kAdd : kSet;
  if (reduces) mode = ScatterModeOf(l, l.String("reduce", ""));
  if (l.Has("include_self") && !l.Bool("include_self", true))
    return l.Refuse("include_self=False is not known");
  ExprPtr value;
  if (l.IsTensor("src")) {
    value = l.At(l.TensorArg("src"), Vars(places));
  } else {
    value = l.Operand("value", Vars(places), type);
  }
  if (l.refused()) return;
  Special special;
  special.name = "scatter";
  special.operands = {InMemory(l, shape, l.At(self, Vars(shape)), type, "what is scattered into"),
                      InMemory(l, places, l.At(index, Vars(places)), DType::kInt64, "places"),
                      InMemory(l, places, value, type, "what is scattered")};
  special.numbers = {{"axis", WrapAxis(l.Int("dim", 0), shape.size())}, {"mode", mode}};
  l.Give(0, l.AddSpecial(type, shape, std::move(special), "scattered elements"));
}

// self[indices] = values, or += with accumulate: the indices together give a flat place.
void IndexPut(Lowerer& l) {
  const int self = l.TensorArg("self");
  const std::vector<int> given = l.TensorList("indices");
  const int values = l.TensorArg("values");
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  size_t wide = 0;
  std::vector<size_t> indexed;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0) continue;
    if (!IsInteger(l.tensor(given[i]).dtype))
      return l.Refuse("a mask as an index gives a shape that depends on data");
    wide = std::max(wide, l.tensor(given[i]).shape.size());
    indexed.push_back(i);
  }
  if (indexed.empty()) return l.Refuse("it has no index");
  const bool neighbours = indexed.back() - indexed.front() + 1 == indexed.size();
  const size_t first = neighbours ? indexed.front() : 0;
  Shape broadcast(wide, 1);
  for (const size_t i : indexed) {
    const Shape& one = l.tensor(given[i]).shape;
    for (size_t k = 0; k < one.size(); ++k) {
      int64_t& extent = broadcast[wide - one.size() + k];
      if (one[k] != 1) extent = one[k];
    }
  }
  Shape places;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (places.size() == first) places.insert(places.end(), broadcast.begin(), broadcast.end());
    if (i < given.size() && given[i] >= 0) continue;
    places.push_back(shape[i]);
  }
  if (places.size() == first) places.insert(places.end(), broadcast.begin(), broadcast.end());
  const Indices out = Vars(places);
  const Indices place(out.begin() + static_cast<int64_t>(first),
                      out.begin() + static_cast<int64_t>(first + wide));
  Indices in;
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < given.size() && given[i] >= 0) {
      in.push_back(Wrapped(l.BroadcastAt(given[i], place), shape[i]));
    } else {
      if (next == first) next += wide;
      in.push_back(out[next++]);
    }
  }
  const DType type = l.OutType();
  Special special;
  special.name = "scatter_flat";
  special.operands = {
      InMemory(l, shape, l.At(self, Vars(shape)), type, "what is scattered into"),
      InMemory(l, places, IndexValue(FlatIndex(shape, in)), DType::kInt64, "places"),
      InMemory(l, places, l.BroadcastAt(values, out), type, "what is scattered")};
  special.numbers = {{"mode", l.Bool("accumulate", false) ? kAdd : kSet}};
  l.Give(0, l.AddSpecial(type, shape, std::move(special), "scattered elements"));
}

void IndexAdd(Lowerer& l) {
  const int self = l.TensorArg("self");
  const int index = l.TensorArg("index");
  const int source = l.TensorArg("source");
  const double alpha = l.Float("alpha", 1);
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  const Shape places = l.tensor(source).shape;
  if (shape.empty()) return l.Refuse("it scatters into a tensor without axes");
  const auto axis = static_cast<size_t>(WrapAxis(l.Int("dim", 0), shape.size()));
  Indices in = Vars(places);
  in[axis] = Plain(l.At(index, {in[axis]}));
  const DType type = l.OutType();
  ExprPtr value = Cast(l.At(source, Vars(places)), RegisterType(type));
  if (alpha != 1) value = Binary(Op::kMul, value, Number(RegisterType(type), alpha));
  Special special;
  special.name = "scatter_flat";
  special.operands = {
      InMemory(l, shape, l.At(self, Vars(shape)), type, "what is scattered into"),
      InMemory(l, places, IndexValue(FlatIndex(shape, in)), DType::kInt64, "places"),
      InMemory(l, places, value, type, "what is scattered")};
  special.numbers = {{"mode", kAdd}};
  l.Give(0, l.AddSpecial(type, shape, std::move(special), "scattered elements"));
}

void SliceScatter(Lowerer& l) {
  const int self = l.TensorArg("self");
  const int source = l.TensorArg("src");
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  const auto axis = static_cast<size_t>(WrapAxis(l.Int("dim", 0), shape.size()));
  const int64_t extent = shape[axis];
  int64_t start = l.Int("start", 0);
  if (start < 0) start += extent;
  start = std::clamp<int64_t>(start, 0, extent);
  const int64_t step = l.Int("step", 1);
  const Indices out = Vars(shape);
  Indices in = out;
  const Index off = out[axis] - Index(start);
  ExprPtr inside = InRange(off, 0, l.tensor(source).shape[axis] * step);
  in[axis] = off;
  if (step > 1) {
    const int64_t shift = (start + step) / step * step;
    inside = Both(inside, InRange((off + Index(shift)).Mod(step), 0, 1));
    in[axis] = (off + Index(shift)).Div(step) - Index(shift / step);
  }
  l.Give(0, Select(inside, Cast(l.At(source, in), RegisterType(l.OutType())), l.At(self, out)));
}

void SelectScatter(Lowerer& l) {
  const int self = l.TensorArg("self");
  const int source = l.TensorArg("src");
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  const int axis = WrapAxis(l.Int("dim", 0), shape.size());
  int64_t index = l.Int("index", 0);
  if (index < 0) index += shape[static_cast<size_t>(axis)];
  const Indices out = Vars(shape);
  Indices in = out;
  in.erase(in.begin() + axis);
  const ExprPtr here = InRange(out[static_cast<size_t>(axis)], index, index + 1);
  l.Give(0, Select(here, Cast(l.At(source, in), RegisterType(l.OutType())), l.At(self, out)));
}

}  // namespace

void AddIndexing(HandlerTable& t) {
  t["aten.embedding.default"] = Embedding;
  t["aten.index_select.default"] = IndexSelect;
  t["aten.gather.default"] = Gather;
  t["aten.index.Tensor"] = IndexTensor;
  t["aten._unsafe_index.Tensor"] = IndexTensor;
  t["aten.take.default"] = Take;
  t["aten.scatter.src"] = Scatter;
  t["aten.scatter.value"] = Scatter;
  t["aten.scatter.reduce"] = Scatter;
  t["aten.scatter.value_reduce"] = Scatter;
  t["aten.scatter_add.default"] = Scatter;
  t["aten.scatter_reduce.two"] = Scatter;
  t["aten.index_put.default"] = IndexPut;
  t["aten._unsafe_index_put.default"] = IndexPut;
  t["aten.index_add.default"] = IndexAdd;
  t["aten.slice_scatter.default"] = SliceScatter;
  t["aten.select_scatter.default"] = SelectScatter;
}

}  // namespace kerf::synth
