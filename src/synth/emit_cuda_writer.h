// What the kernels of a group and of a product have in common: names, loads, stores, statements
// and joins, for one thread.
#pragma once

#include "synth/emit_cuda_group.h"

namespace kerf::synth {

class CudaWriter {
 public:
  CudaWriter(const CudaContext& context, int group);
  virtual ~CudaWriter() = default;
  CudaWriter(const CudaWriter&) = delete;
  CudaWriter& operator=(const CudaWriter&) = delete;

 protected:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return context_.plan.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const Storage& storage(int id) const {
    return context_.plan.storage[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const {
    return context_.names[static_cast<size_t>(id)];
  }
  [[nodiscard]] bool Reduces(const Statement& s) const {
    return tensor(s.tensor).kind == TensorKind::kReduce;
  }
  [[nodiscard]] bool Scans(const Statement& s) const {
    return tensor(s.tensor).kind == TensorKind::kScan;
  }
  [[nodiscard]] bool IsScalar(int id) const {
    return storage(id).place == Place::kScalar || storage(id).also_scalar;
  }

  void Describe();
  void CollectArguments();
  [[nodiscard]] std::string Parameters() const;
  [[nodiscard]] std::string ScalarName(int id) const;
  [[nodiscard]] DType AccumulatorType(const Statement& s) const;
  std::string JoinText(Combine combine, DType type, const std::string& a, const std::string& b);
  std::string JoinFunction(Combine combine, DType type);
  std::string GuardText(const std::vector<Guard>& guards);
  std::string PlaceInReduction(const Pass& pass);

  // What one turn of a pass does.
  void EmitBody(const Pass& pass);
  void EmitStatement(const Pass& pass, size_t index);
  void JoinTerm(const Pass& pass, const Statement& s, const std::string& value);
  void DeclareAccumulators(const Pass& pass);
  void Store(int id, const std::vector<Index>& at, const std::string& value);
  virtual std::string LoadText(const Expr& load);
  virtual std::string StoreText(int id, const std::vector<Index>& at, const std::string& value);
  // Only one thread of the team writes what all of them know.
  virtual bool StoresAlone() const { return false; }

  const CudaContext& context_;
  const Group& group_;
  int index_;
  CodeText code_;
  ExprWriter writer_;
  std::map<int, std::string> vars_;
  std::vector<int> arguments_;
  std::set<int> in_register_;  // tensors whose value of this turn has a name
  std::string row_suffix_;     // appended to places in row buffers: "[team]"
};

}  // namespace kerf::synth
