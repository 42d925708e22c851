#include "synth/lowerer.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace kerf::synth {

Indices Vars(const Shape& shape) {
  Indices vars;
  for (size_t i = 0; i < shape.size(); ++i)
    vars.push_back(Index::Var(static_cast<int>(i), shape[i]));
  return vars;
}

Indices ReducedVars(const Shape& shape, const Shape& reduced) {
  Indices vars;
  for (size_t i = 0; i < reduced.size(); ++i)
    vars.push_back(Index::Var(static_cast<int>(shape.size() + i), reduced[i]));
  return vars;
}

int64_t Numel(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

int WrapAxis(int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  return static_cast<int>(axis < 0 ? axis + std::max<int64_t>(r, 1) : axis);
}

Lowerer::Lowerer(const Graph& graph) : graph_(graph), of_value_(graph.values.size(), -1) {
  for (const GraphInput& input : graph.inputs) {
    const GraphValue& value = graph.values[static_cast<size_t>(input.value)];
    Tensor tensor;
    tensor.kind = TensorKind::kInput;
    tensor.name = value.name;
    tensor.dtype = value.spec.dtype;
    tensor.shape = value.spec.shape;
    tensor.source = {input.source, static_cast<int>(input.index), input.data};
    const int id = Add(std::move(tensor));
    of_value_[static_cast<size_t>(input.value)] = id;
    program_.inputs.push_back(id);
  }
}

void Lowerer::Begin(const GraphNode& node) { node_ = &node; }

void Lowerer::Refuse(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
}

int Lowerer::Add(Tensor tensor) {
  if (node_ != nullptr) {
    tensor.op = node_->op;
    tensor.line = static_cast<int>(node_->line);
    tensor.text = node_->text;
  }
  program_.tensors.push_back(std::move(tensor));
  return static_cast<int>(program_.tensors.size()) - 1;
}

const GraphArg* Lowerer::Find(std::string_view name) const {
  for (const auto& [key, arg] : node_->args) {
    if (key == name) return arg.kind() == GraphArg::Kind::kNone ? nullptr : &arg;
  }
  return nullptr;
}

bool Lowerer::Has(std::string_view name) const { return Find(name) != nullptr; }

bool Lowerer::IsTensor(std::string_view name) const {
  const GraphArg* arg = Find(name);
  return arg != nullptr && arg->kind() == GraphArg::Kind::kValue;
}

int Lowerer::TensorArg(std::string_view name) {
  const GraphArg* arg = Find(name);
  if (arg == nullptr || arg->kind() != GraphArg::Kind::kValue) {
    Refuse("its argument '" + std::string(name) + "' is no tensor");
    return 0;
  }
  return ValueTensor(static_cast<int>(*arg->AsValue()));
}

std::vector<int> Lowerer::TensorList(std::string_view name) {
  std::vector<int> ids;
  const GraphArg* arg = Find(name);
  if (arg == nullptr || arg->kind() != GraphArg::Kind::kList) return ids;
  for (const GraphArg& item : arg->items()) {
    if (item.kind() == GraphArg::Kind::kNone) {
      ids.push_back(-1);
    } else if (item.kind() == GraphArg::Kind::kValue) {
      ids.push_back(ValueTensor(static_cast<int>(*item.AsValue())));
    } else {
      Refuse("its argument '" + std::string(name) + "' holds something that is no tensor");
    }
  }
  return ids;
}

int64_t Lowerer::Int(std::string_view name, int64_t fallback) {
  const GraphArg* arg = Find(name);
  if (arg == nullptr) return fallback;
  if (arg->kind() == GraphArg::Kind::kInt) return *arg->AsInt();
  if (arg->kind() == GraphArg::Kind::kBool) return *arg->AsBool() ? 1 : 0;
  Refuse("its argument '" + std::string(name) + "' is no whole number");
  return fallback;
}

double Lowerer::Float(std::string_view name, double fallback) {
  const GraphArg* arg = Find(name);
  if (arg == nullptr) return fallback;
  if (arg->kind() == GraphArg::Kind::kFloat) return *arg->AsNumber();
  if (arg->kind() == GraphArg::Kind::kInt) return static_cast<double>(*arg->AsInt());
  if (arg->kind() == GraphArg::Kind::kBool) return *arg->AsBool() ? 1 : 0;
  Refuse("its argument '" + std::string(name) + "' is no number");
  return fallback;
}

bool Lowerer::Bool(std::string_view name, bool fallback) {
  const GraphArg* arg = Find(name);
  if (arg == nullptr) return fallback;
  if (arg->kind() == GraphArg::Kind::kBool) return *arg->AsBool();
  if (arg->kind() == GraphArg::Kind::kInt) return *arg->AsInt() != 0;
  Refuse("its argument '" + std::string(name) + "' is neither true nor false");
  return fallback;
}

std::string Lowerer::String(std::string_view name, const std::string& fallback) {
  const GraphArg* arg = Find(name);
  if (arg == nullptr) return fallback;
  if (arg->kind() == GraphArg::Kind::kString) return *arg->AsString();
  Refuse("its argument '" + std::string(name) + "' is no word");
  return fallback;
}

std::optional<DType> Lowerer::Type(std::string_view name) const {
  const GraphArg* arg = Find(name);
  if (arg == nullptr || arg->kind() != GraphArg::Kind::kDType) return std::nullopt;
  return arg->AsDType();
}

Shape Lowerer::Ints(std::string_view name) {
  const GraphArg* arg = Find(name);
  if (arg == nullptr) return {};
  if (arg->kind() == GraphArg::Kind::kInt) return {*arg->AsInt()};
  Shape ints;
  if (arg->kind() == GraphArg::Kind::kList) {
    for (const GraphArg& item : arg->items()) {
      if (item.kind() != GraphArg::Kind::kInt) {
        Refuse("its argument '" + std::string(name) + "' is no list of whole numbers");
        return {};
      }
      ints.push_back(*item.AsInt());
    }
    return ints;
  }
  Refuse("its argument '" + std::string(name) + "' is no list of whole numbers");
  return {};
}

std::vector<double> Lowerer::Floats(std::string_view name) {
  const GraphArg* arg = Find(name);
  std::vector<double> floats;
  if (arg == nullptr) return floats;
  if (arg->kind() != GraphArg::Kind::kList) {
    Refuse("its argument '" + std::string(name) + "' is no list of numbers");
    return floats;
  }
  for (const GraphArg& item : arg->items()) {
    if (item.kind() == GraphArg::Kind::kInt) {
      floats.push_back(static_cast<double>(*item.AsInt()));
    } else if (item.kind() == GraphArg::Kind::kFloat) {
      floats.push_back(*item.AsNumber());
    } else {
      Refuse("its argument '" + std::string(name) + "' is no list of numbers");
    }
  }
  return floats;
}

Shape Lowerer::IntsFor(std::string_view name, size_t count, int64_t fallback) {
  Shape ints = Ints(name);
  if (ints.empty()) ints = {fallback};
  if (ints.size() == 1) ints.resize(count, ints[0]);
  if (ints.size() != count) {
    Refuse("its argument '" + std::string(name) + "' does not fit the axes");
    ints.assign(count, fallback);
  }
  return ints;
}

bool Lowerer::Wanted(size_t output) const {
  return output < node_->outputs.size() && node_->outputs[output] != kNoValue;
}

const Shape& Lowerer::OutShape(size_t output) const {
  KERF_CHECK(Wanted(output), "only wanted outputs have a shape");
  return graph_.values[static_cast<size_t>(node_->outputs[output])].spec.shape;
}

DType Lowerer::OutType(size_t output) const {
  KERF_CHECK(Wanted(output), "only wanted outputs have a type");
  return graph_.values[static_cast<size_t>(node_->outputs[output])].spec.dtype;
}

int Lowerer::Pointwise(DType dtype, Shape shape, ExprPtr body, std::string what) {
  Tensor tensor;
  tensor.kind = TensorKind::kPointwise;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.body = std::move(body);
  tensor.what = std::move(what);
  KERF_CHECK(tensor.body->type == RegisterType(dtype), "a body has its tensor's type");
  return Add(std::move(tensor));
}

int Lowerer::Reduce(Combine combine, DType dtype, Shape shape, Shape reduced, ExprPtr body,
                    std::string what) {
  Tensor tensor;
  tensor.kind = TensorKind::kReduce;
  tensor.combine = combine;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.reduced = std::move(reduced);
  tensor.body = std::move(body);
  tensor.what = std::move(what);
  return Add(std::move(tensor));
}

int Lowerer::Scan(Combine combine, DType dtype, Shape shape, int axis, ExprPtr body,
                  std::string what) {
  Tensor tensor;
  tensor.kind = TensorKind::kScan;
  tensor.combine = combine;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.axis = axis;
  tensor.body = std::move(body);
  tensor.what = std::move(what);
  return Add(std::move(tensor));
}

int Lowerer::AddSpecial(DType dtype, Shape shape, Special special, std::string what) {
  Tensor tensor;
  tensor.kind = TensorKind::kSpecial;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.special = std::move(special);
  tensor.what = std::move(what);
  return Add(std::move(tensor));
}

int Lowerer::Reshape(int id, Shape shape) {
  const Tensor& from = tensor(id);
  if (from.shape == shape) return id;
  if (from.numel() != Numel(shape)) {
    Refuse("its result has " + std::to_string(Numel(shape)) +
           " elements in the graph, where kerf expects " + std::to_string(from.numel()));
    return id;
  }
  const DType dtype = from.dtype;
  if (Numel(shape) == 0) {
    const ExprPtr nothing = Integer(RegisterType(dtype), 0);
    return Pointwise(dtype, std::move(shape), nothing);
  }
  const Index flat = FlatIndex(shape, Vars(shape));
  Indices indices;
  const Shape strides = ContiguousStrides(from.shape);
  for (size_t i = 0; i < from.shape.size(); ++i)
    indices.push_back(flat.Div(strides[i]).Mod(from.shape[i]));
  const ExprPtr body = At(id, indices);
  return Pointwise(dtype, std::move(shape), body);
}

void Lowerer::Give(size_t output, int id) {
  if (refused() || !Wanted(output)) return;
  const auto value = static_cast<size_t>(node_->outputs[output]);
  const GraphValue& expected = graph_.values[value];
  if (tensor(id).shape != expected.spec.shape || tensor(id).dtype != expected.spec.dtype) {
    Refuse("its result is " + expected.spec.ToString() + " in the graph, where kerf expects " +
           TensorSpec{tensor(id).dtype, tensor(id).shape}.ToString());
    return;
  }
  if (tensor(id).name.empty()) tensor(id).name = expected.name;
  of_value_[value] = id;
}

void Lowerer::Give(size_t output, ExprPtr body, std::string what) {
  if (refused() || !Wanted(output)) return;
  Give(output, Pointwise(OutType(output), OutShape(output), std::move(body), std::move(what)));
}

ExprPtr Lowerer::At(int id, const Indices& indices) const {
  return Load(id, tensor(id).dtype, indices);
}

ExprPtr Lowerer::BroadcastAt(int id, const Indices& indices) const {
  const Shape& shape = tensor(id).shape;
  KERF_CHECK(shape.size() <= indices.size(), "a broadcast does not drop axes");
  Indices own;
  for (size_t i = 0; i < shape.size(); ++i) {
    own.push_back(shape[i] == 1 ? Index(0) : indices[indices.size() - shape.size() + i]);
  }
  return At(id, own);
}

ExprPtr Lowerer::Operand(std::string_view name, const Indices& indices, DType type) {
  const GraphArg* arg = Find(name);
  if (arg != nullptr && arg->kind() == GraphArg::Kind::kValue) {
    const int id = TensorArg(name);
    if (tensor(id).shape.size() > indices.size()) {
      Refuse("its argument '" + std::string(name) + "' has more axes than the result");
      return Integer(RegisterType(type), 0);
    }
    const ExprPtr value = BroadcastAt(id, indices);
    return value->type == RegisterType(type) ? value : Cast(value, RegisterType(type));
  }
  if (arg != nullptr && arg->kind() == GraphArg::Kind::kFloat)
    return Cast(Number(DType::kFloat64, *arg->AsNumber()), RegisterType(type));
  if (arg != nullptr && arg->kind() == GraphArg::Kind::kInt)
    return Integer(RegisterType(type), *arg->AsInt());
  if (arg != nullptr && arg->kind() == GraphArg::Kind::kBool)
    return Integer(RegisterType(type), *arg->AsBool() ? 1 : 0);
  Refuse("its argument '" + std::string(name) + "' is neither tensor nor number");
  return Integer(RegisterType(type), 0);
}

namespace {

int Category(DType type) { return type == DType::kBool ? 0 : IsInteger(type) ? 1 : 2; }

DType Wider(DType a, DType b) {
  if (a == b) return a;
  if (Category(a) != Category(b)) return Category(a) > Category(b) ? a : b;
  if (Category(a) == 2) {
    if (DTypeBytes(a) == DTypeBytes(b)) return DType::kFloat32;  // float16 and bfloat16
    return DTypeBytes(a) > DTypeBytes(b) ? a : b;
  }
  if (DTypeBytes(a) != DTypeBytes(b)) {
    const DType wide = DTypeBytes(a) > DTypeBytes(b) ? a : b;
    return wide;
  }
  return DType::kInt16;  // int8 and uint8
}

}  // namespace

// torch: axes beat no axes beat numbers, within a category; a higher category always wins.
DType Lowerer::Promote(std::initializer_list<std::string_view> names) {
  std::optional<DType> by_rank[3];
  const auto meet = [](std::optional<DType>& slot, DType type) {
    slot = slot.has_value() ? Wider(*slot, type) : type;
  };
  for (const std::string_view name : names) {
    const GraphArg* arg = Find(name);
    if (arg == nullptr) continue;
    if (arg->kind() == GraphArg::Kind::kValue) {
      const Tensor& t = tensor(TensorArg(name));
      meet(by_rank[t.shape.empty() ? 1 : 0], t.dtype);
    } else if (arg->kind() == GraphArg::Kind::kFloat) {
      meet(by_rank[2], DType::kFloat32);
    } else {
      meet(by_rank[2], arg->kind() == GraphArg::Kind::kBool ? DType::kBool : DType::kInt64);
    }
  }
  std::optional<DType> result;
  for (const auto& slot : by_rank) {
    if (!slot.has_value()) continue;
    if (!result.has_value() || Category(*slot) > Category(*result)) result = slot;
  }
  return result.value_or(DType::kFloat32);
}

Program Lowerer::TakeProgram() {
  for (const ValueId value : graph_.outputs)
    program_.outputs.push_back(of_value_[static_cast<size_t>(value)]);
  return std::move(program_);
}

}  // namespace kerf::synth
