// What the families of operators (lower_*.cc) work with: the arguments of a node, and tensors to
// define. A family refuses by calling Refuse(); what it does afterwards is dropped.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/graph.h"
#include "synth/program.h"

namespace kerf::synth {

using Shape = std::vector<int64_t>;
using Indices = std::vector<Index>;

class Lowerer {
 public:
  explicit Lowerer(const Graph& graph);

  // The node being lowered.
  void Begin(const GraphNode& node);
  [[nodiscard]] const std::string& op() const { return node_->op; }
  [[nodiscard]] bool refused() const { return !reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  void Refuse(std::string reason);

  // Arguments by their schema names. A missing or null one gives the fallback; one of the wrong
  // kind refuses.
  [[nodiscard]] bool Has(std::string_view name) const;
  bool IsTensor(std::string_view name) const;
  int TensorArg(std::string_view name);
  std::vector<int> TensorList(std::string_view name);  // -1 for null
  int64_t Int(std::string_view name, int64_t fallback);
  double Float(std::string_view name, double fallback);
  bool Bool(std::string_view name, bool fallback);
  std::string String(std::string_view name, const std::string& fallback);
  std::optional<DType> Type(std::string_view name) const;
  Shape Ints(std::string_view name);
  std::vector<double> Floats(std::string_view name);
  // One number for each of `count` axes: [2] and 2 mean [2, 2].
  Shape IntsFor(std::string_view name, size_t count, int64_t fallback);

  // What the node gives.
  [[nodiscard]] size_t OutputCount() const { return node_->outputs.size(); }
  [[nodiscard]] bool Wanted(size_t output) const;
  [[nodiscard]] const Shape& OutShape(size_t output = 0) const;
  [[nodiscard]] DType OutType(size_t output = 0) const;

  [[nodiscard]] const Tensor& tensor(int id) const {
    return program_.tensors[static_cast<size_t>(id)];
  }
  Tensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }

  // Definitions; each returns the new tensor's id.
  int Pointwise(DType dtype, Shape shape, ExprPtr body, std::string what = "");
  int Reduce(Combine combine, DType dtype, Shape shape, Shape reduced, ExprPtr body,
             std::string what);
  int Scan(Combine combine, DType dtype, Shape shape, int axis, ExprPtr body, std::string what);
  int AddSpecial(DType dtype, Shape shape, Special special, std::string what);
  // A tensor with the same elements in another shape.
  int Reshape(int id, Shape shape);
  // The node's output is this tensor. Shape and dtype must be what the graph says.
  void Give(size_t output, int id);
  // The node's output is this expression over Vars(OutShape(output)).
  void Give(size_t output, ExprPtr body, std::string what = "");

  // Elements. Indices are aligned at the last axis, as broadcasting does.
  [[nodiscard]] ExprPtr At(int id, const Indices& indices) const;
  [[nodiscard]] ExprPtr BroadcastAt(int id, const Indices& indices) const;
  // A tensor or number argument, broadcast to `indices`, as `type`.
  ExprPtr Operand(std::string_view name, const Indices& indices, DType type);
  // The type in which arguments meet, as torch promotes them.
  DType Promote(std::initializer_list<std::string_view> names);

  int ValueTensor(int value) const { return of_value_[static_cast<size_t>(value)]; }
  Program TakeProgram();

 private:
  int Add(Tensor tensor);
  [[nodiscard]] const GraphArg* Find(std::string_view name) const;

  const Graph& graph_;
  const GraphNode* node_ = nullptr;
  Program program_;
  std::vector<int> of_value_;
  std::string reason_;
};

// 0 … rank-1 of a tensor's own axes.
Indices Vars(const Shape& shape);
// The variables of reduced axes follow those of the tensor's own.
Indices ReducedVars(const Shape& shape, const Shape& reduced);
int64_t Numel(const Shape& shape);
// -1 is the last axis.
int WrapAxis(int64_t axis, size_t rank);

using Handler = void (*)(Lowerer&);
using HandlerTable = std::map<std::string, Handler, std::less<>>;

// One for each family.
void AddPointwise(HandlerTable& table);
void AddBinary(HandlerTable& table);
void AddViews(HandlerTable& table);
void AddReductions(HandlerTable& table);
void AddNorms(HandlerTable& table);
void AddMatmul(HandlerTable& table);
void AddWindows(HandlerTable& table);
void AddScans(HandlerTable& table);
void AddIndexing(HandlerTable& table);
void AddSorting(HandlerTable& table);

}  // namespace kerf::synth
