// The special tensor "attention" as a function: the text comes from EmitAttention, what the graph
// does with scores is pasted into it.
#include <algorithm>

#include "base/check.h"
#include "synth/attention.h"
#include "synth/contraction.h"
#include "synth/emit_special.h"

namespace kerf::synth {
namespace {

class AttentionEmitter {
 public:
  AttentionEmitter(const Plan& plan, int id, const EmitNames& names, std::set<std::string>& helpers)
      : plan_(plan),
        made_(plan.program.tensors[static_cast<size_t>(id)]),
        parts_(*made_.special.attention),
        id_(id),
        names_(names),
        writer_(
            helpers, [this](int var) { return site_[static_cast<size_t>(var)]; },
            [this](const Expr& load) { return LoadText(load); }),
        helpers_(helpers) {}

  GroupFunction Run(const std::string& function) {
    AttentionSpec spec;
    spec.batch = parts_.batch;
    spec.queries = parts_.queries;
    spec.keys = parts_.keys;
    spec.depth = parts_.depth;
    spec.value_depth = parts_.value_depth;
    spec.scale = parts_.scale;
    spec.accumulate = parts_.accumulate;
    spec.causal = parts_.causal;
    spec.empty_rows_are_zero = false;
    std::vector<Argument> arguments;
    for (const auto& [matrix, operand] :
         {std::pair{&parts_.q, &spec.q}, {&parts_.k, &spec.k}, {&parts_.v, &spec.v}}) {
      *operand = {OperandTensor(matrix->operand).dtype, matrix->batch_strides, matrix->row_stride,
                  matrix->col_stride};
      arguments.push_back({OperandId(matrix->operand), matrix->offset});
    }
    if (parts_.score != nullptr) {
      spec.score = [this](const OutputSite& site) {
        return Text(parts_.score, {site.batch, site.row, site.col}, site.value);
      };
    }
    const Epilogue epilogue = MakeEpilogue(arguments);
    const Result<std::string> text = EmitAttention(spec, function, epilogue);
    KERF_CHECK(text.ok(), "what was found to be attention can be written");
    CodeText head;
    head.Comment(made_.what + ".");
    if (made_.line > 0)
      head.Line("//   line " + std::to_string(made_.line) + ": " + made_.text.substr(0, 80));
    return {function, head.text() + *text, arguments, true};
  }

 private:
  [[nodiscard]] int OperandId(size_t place) const { return made_.special.operands[place]; }
  [[nodiscard]] const Tensor& OperandTensor(size_t place) const {
    return plan_.program.tensors[static_cast<size_t>(OperandId(place))];
  }
  // Parameters of the emitted function have an underscore: it uses plain words itself.
  [[nodiscard]] std::string name(int id) const {
    const std::string& plain = names_.tensor[static_cast<size_t>(id)];
    return plain.find('_') == std::string::npos ? plain + "_" : plain;
  }

  Epilogue MakeEpilogue(std::vector<Argument>& arguments) {
    Epilogue epilogue;
    std::set<int> seen;
    for (size_t place = 3; place < made_.special.operands.size(); ++place) {
      const int id = OperandId(place);
      if (!seen.insert(id).second) continue;
      epilogue.parameters.push_back(
          {std::string("const ") + StoredType(OperandTensor(place).dtype) + "*", name(id)});
      arguments.push_back({id, 0});
    }
    epilogue.parameters.push_back({std::string(StoredType(made_.dtype)) + "*", name(id_)});
    arguments.push_back({id_, 0});
    epilogue.store = [this](const OutputSite& site) {
      std::string value = site.value;
      if (parts_.empty != nullptr)
        value = Text(parts_.empty, {site.batch, site.row, "0"}, "") + " ? Sum(0) : " + value;
      return name(id_) + "[(" + site.batch + " * kQueries + " + site.row + ") * kValueDepth + " +
             site.col + "] = " + value + ";";
    };
    return epilogue;
  }

  std::string Text(const ExprPtr& value, std::vector<std::string> site, const std::string& score) {
    site_ = std::move(site);
    score_ = score;
    writer_.Begin({});
    return Unwrapped(writer_.Text(value));
  }

  std::string LoadText(const Expr& load) {
    if (load.tensor == AttentionParts::kScore) return score_;
    const Tensor& from = OperandTensor(static_cast<size_t>(load.tensor));
    std::string text = name(OperandId(static_cast<size_t>(load.tensor))) + "[" +
                       writer_.Text(FlatIndex(from.shape, load.indices)) + "]";
    const char* convert = from.dtype == DType::kFloat16    ? "load_half"
                          : from.dtype == DType::kBFloat16 ? "load_bfloat"
                                                           : nullptr;
    if (convert == nullptr) return text;
    helpers_.insert(convert);
    return std::string(convert) + "(" + text + ")";
  }

  const Plan& plan_;
  const Tensor& made_;
  const AttentionParts& parts_;
  int id_;
  const EmitNames& names_;
  ExprWriter writer_;
  std::set<std::string>& helpers_;
  std::vector<std::string> site_;  // batch, query, key
  std::string score_;
};

}  // namespace

GroupFunction EmitAttentionStep(const Plan& plan, int tensor, const EmitNames& names,
                                const std::string& function, std::set<std::string>& helpers) {
  return AttentionEmitter(plan, tensor, names, helpers).Run(function);
}

}  // namespace kerf::synth
