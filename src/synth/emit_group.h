// One group of a plan as a C++ function.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "synth/contraction.h"
#include "synth/emit_expr.h"
#include "synth/plan.h"

namespace kerf::synth {

struct EmitNames {
  std::vector<std::string> tensor;  // identifiers, by tensor
};

struct Argument {
  int tensor = -1;     // one in memory; -1 is a null pointer
  int64_t offset = 0;  // of the first element, from the tensor's
};

struct GroupFunction {
  std::string name;
  std::string text;
  std::vector<Argument> arguments;  // in the order of the parameters
  bool tiles = false;               // needs ContractionPrelude()
};

class GroupEmitter {
 public:
  GroupEmitter(const Plan& plan, int group, const EmitNames& names, std::set<std::string>& helpers);
  GroupFunction Run(const std::string& function);

 private:
  // Products and convolutions by their own emitters; nothing when the group is none.
  std::optional<GroupFunction> RunContraction(const std::string& function);
  std::optional<GroupFunction> RunMatmul(const std::string& function);
  std::optional<GroupFunction> RunConvolution(const std::string& function);
  void UseParameterNames();
  void NameSite(const std::vector<std::string>& dims);
  std::string EpilogueText(const std::vector<std::string>& dims, const std::string& value);
  Epilogue MakeEpilogue(std::function<std::vector<std::string>(const OutputSite&)> dims);
  bool MakeOperand(const ExprPtr& value, bool left, Operand& operand, Argument& argument);
  std::vector<std::string> MatrixDims(const std::string& batch, const std::string& row,
                                      const std::string& col) const;
  struct Bounds {
    std::string begin;
    std::string end;
  };

  [[nodiscard]] const Tensor& tensor(int id) const {
    return plan_.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const Storage& storage(int id) const {
    return plan_.storage[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const {
    return names_.tensor[static_cast<size_t>(id)];
  }
  [[nodiscard]] bool lanes() const { return group_.lane >= 0 && !contraction_; }
  [[nodiscard]] bool Reduces(const Statement& s) const {
    return tensor(s.tensor).kind == TensorKind::kReduce;
  }
  [[nodiscard]] bool Scans(const Statement& s) const {
    return tensor(s.tensor).kind == TensorKind::kScan;
  }

  void NameLoops();
  void CollectArguments();
  void Describe();
  std::string VarName(int var) const;
  std::string LoadText(const Expr& load);
  std::string StoreText(int id, const std::vector<Index>& at, const std::string& value);
  std::string ScalarName(int id) const;
  std::string LaneIndex() const;
  bool MayName(const Expr& load) const;

  void EmitOuter();
  void EmitRowBuffers();
  void EmitPasses();
  void EmitPass(size_t p);
  void EmitLoops(const Pass& pass, const std::vector<size_t>& order, size_t from);
  void EmitInnermost(const Pass& pass, const Loop* loop);
  void EmitBlockedSum(const Pass& pass, const Loop& loop);
  void EmitVectorLoop(const Pass& pass, const Loop& loop, const Bounds& bounds);
  void EmitLaneLoop(const Pass& pass);
  void EmitInterchanged(const Pass& pass);
  void EmitBody(const Pass& pass);
  void EmitStatement(const Pass& pass, size_t index);
  void DeclareAccumulators(const Pass& pass);
  void FinishReductions(const Pass& pass);
  void JoinTerm(const Statement& s, const std::string& value);
  std::string JoinText(Combine combine, DType type, const std::string& a, const std::string& b);
  Bounds BoundsOf(const Pass& pass, int var, int64_t extent, const std::string& begin,
                  const std::string& end);
  std::string OuterGuard(const Pass& pass, size_t from);
  [[nodiscard]] bool LoadedLater(const Pass& pass, size_t index) const;
  [[nodiscard]] DType AccumulatorType(const Pass& pass, const Statement& s) const;
  [[nodiscard]] bool UsesVectorParts(const Pass& pass) const;
  [[nodiscard]] bool UsesBlocks(const Pass& pass, const Statement& s) const;
  [[nodiscard]] int64_t InnermostExtent(const Pass& pass) const;
  std::string PlaceInReduction(const Pass& pass);

  const Plan& plan_;
  const Group& group_;
  int index_;
  EmitNames names_;
  std::set<std::string>& helpers_;
  bool contraction_ = false;
  std::map<int, std::string> vars_;
  std::vector<int> order_;  // all variables, outermost first, of the pass being written
  CodeText code_;
  ExprWriter writer_;
  std::vector<int> arguments_;
  const Pass* pass_ = nullptr;
  std::set<int> in_register_;  // tensors whose value of this turn has a name
  std::string part_suffix_;    // "[lane]" where sums are kept in parts
};

}  // namespace kerf::synth
