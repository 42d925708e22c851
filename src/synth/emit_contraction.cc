// Groups that begin with a product of matrices or a convolution: the sums come from contraction.h,
// what follows element by element becomes its epilogue.
#include <algorithm>

#include "synth/emit_group.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

std::string InParentheses(const std::string& text) {
  return text.find_first_of(" +-*/%") == std::string::npos ? text : "(" + text + ")";
}

}  // namespace

std::optional<GroupFunction> GroupEmitter::RunContraction(const std::string& function) {
  const Pass& first = group_.passes[0];
  const Tensor& made = tensor(first.statements[0].tensor);
  if (!made.contraction || first.statements.size() != 1 || made.numel() == 0) return std::nullopt;
  for (size_t p = 1; p < group_.passes.size(); ++p) {
    if (!group_.passes[p].loops.empty()) return std::nullopt;
  }
  const EmitNames names = names_;
  contraction_ = true;
  UseParameterNames();
  std::optional<GroupFunction> result =
      made.convolution.input >= 0 ? RunConvolution(function) : RunMatmul(function);
  if (result.has_value()) {
    Describe();
    result->text = code_.text() + result->text;
    result->tiles = true;
    return result;
  }
  contraction_ = false;
  names_ = names;
  code_ = CodeText();
  vars_.clear();
  arguments_.clear();
  return std::nullopt;
}

// The emitted functions use plain words themselves: parameters have an underscore.
void GroupEmitter::UseParameterNames() {
  for (std::string& one : names_.tensor) {
    if (one.find('_') == std::string::npos) one += "_";
  }
}

// Loop variables in terms of the indices of the element that is finished.
void GroupEmitter::NameSite(const std::vector<std::string>& dims) {
  const Statement& sum = group_.passes[0].statements[0];
  for (size_t d = 0; d < dims.size(); ++d) {
    for (const IndexTerm& term : sum.at[d].terms()) {
      if (term.atom->kind != Atom::Kind::kVar) continue;
      std::string text = InParentheses(dims[d]);
      if (term.factor != 1) text = "(" + text + " / " + std::to_string(term.factor) + ")";
      if (term.factor * term.atom->extent != tensor(sum.tensor).shape[d])
        text = "(" + text + " % " + std::to_string(term.atom->extent) + ")";
      vars_[term.atom->var] = text;
    }
  }
}

std::string GroupEmitter::EpilogueText(const std::vector<std::string>& dims,
                                       const std::string& value) {
  NameSite(dims);
  const CodeText outside = code_;
  code_ = CodeText();
  const Statement& sum = group_.passes[0].statements[0];
  const Storage& kept = storage(sum.tensor);
  std::string result = value;
  if (kept.place == Place::kScalar || kept.also_scalar) {
    const std::string type = CppType(tensor(sum.tensor).dtype);
    code_.Line("const " + type + " " + ScalarName(sum.tensor) + " = static_cast<" + type + ">(" +
               value + ");");
    result = ScalarName(sum.tensor);
  }
  if (kept.place == Place::kGlobal) code_.Line(StoreText(sum.tensor, sum.at, result));
  for (size_t p = 1; p < group_.passes.size(); ++p) {
    pass_ = &group_.passes[p];
    EmitBody(group_.passes[p]);
  }
  std::string text = code_.text();
  code_ = outside;
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Epilogue GroupEmitter::MakeEpilogue(
    std::function<std::vector<std::string>(const OutputSite&)> dims) {
  std::set<int> seen;
  arguments_.clear();
  const auto add = [&](int id) {
    if (storage(id).place == Place::kGlobal && seen.insert(id).second) arguments_.push_back(id);
  };
  const Statement& sum = group_.passes[0].statements[0];
  if (tensor(sum.tensor).convolution.input < 0)
    VisitLoads(sum.value, [&](const Expr& load) { add(load.tensor); });
  for (size_t p = 1; p < group_.passes.size(); ++p) {
    for (const Statement& s : group_.passes[p].statements) {
      VisitLoads(s.value, [&](const Expr& load) { add(load.tensor); });
      add(s.tensor);
    }
  }
  add(sum.tensor);
  Epilogue epilogue;
  for (const int id : arguments_) {
    const bool written = storage(id).group == index_;
    epilogue.parameters.push_back(
        {std::string(written ? "" : "const ") + StoredType(tensor(id).dtype) + "*", name(id)});
  }
  epilogue.store = [this, dims = std::move(dims)](const OutputSite& site) {
    return EpilogueText(dims(site), site.value);
  };
  return epilogue;
}

std::vector<std::string> GroupEmitter::MatrixDims(const std::string& batch, const std::string& row,
                                                  const std::string& col) const {
  const std::vector<int64_t>& shape = tensor(group_.passes[0].statements[0].tensor).shape;
  std::vector<std::string> dims;
  int64_t below = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d) below *= shape[d];
  for (size_t d = 0; d + 2 < shape.size(); ++d) {
    below /= shape[d];
    std::string text = InParentheses(batch);
    if (below > 1) text = "(" + text + " / " + std::to_string(below) + ")";
    if (d > 0) text = "(" + text + " % " + std::to_string(shape[d]) + ")";
    dims.push_back(text);
  }
  dims.push_back(row);
  dims.push_back(col);
  return dims;
}

// A plain matrix in memory, or text that computes its elements.
bool GroupEmitter::MakeOperand(const ExprPtr& value, bool left, Operand& operand,
                               Argument& argument) {
  const Pass& pass = group_.passes[0];
  const Statement& sum = pass.statements[0];
  const size_t rank = sum.at.size();
  const auto stride_of = [&](const Index& place, const Index& along) -> std::optional<int64_t> {
    if (along.is_constant()) return 0;
    const auto var = along.AsVar();
    return var.has_value() ? place.Stride(*var) : std::nullopt;
  };
  const Index depth =
      pass.loops.empty() ? Index(0) : Index::Var(pass.loops[0].var, pass.loops[0].extent);
  if (value->op == Op::kLoad && storage(value->tensor).place == Place::kGlobal) {
    const Index place = PlaceOf(plan_, value->tensor, value->indices);
    const auto row = stride_of(place, left ? sum.at[rank - 2] : depth);
    const auto col = stride_of(place, left ? depth : sum.at[rank - 1]);
    std::vector<int64_t> batch;
    bool plain = place.IsAffine() && row.has_value() && col.has_value();
    for (size_t d = 0; plain && d + 2 < rank; ++d) {
      const auto one = stride_of(place, sum.at[d]);
      plain = one.has_value();
      if (plain) batch.push_back(*one);
    }
    if (plain) {
      operand.dtype = tensor(value->tensor).dtype;
      operand.batch_strides = batch;
      operand.row_stride = *row;
      operand.col_stride = *col;
      argument = {value->tensor, place.constant()};
      return true;
    }
  }
  operand.dtype = value->type;
  argument = {-1, 0};
  const auto text = [this, value, left](const std::string& batch, const std::string& row,
                                        const std::string& col) {
    const Pass& inner = group_.passes[0];
    const std::vector<std::string> dims = MatrixDims(batch, left ? row : "0", left ? "0" : col);
    NameSite(dims);
    if (!inner.loops.empty()) vars_[inner.loops[0].var] = InParentheses(left ? col : row);
    writer_.Begin({});
    return writer_.Text(value);
  };
  operand.load = text;
  return true;
}

std::optional<GroupFunction> GroupEmitter::RunMatmul(const std::string& function) {
  const Pass& pass = group_.passes[0];
  const Statement& sum = pass.statements[0];
  const Tensor& made = tensor(sum.tensor);
  const std::vector<int64_t>& shape = made.shape;
  if (shape.size() < 2 || made.reduced.size() != 1 || pass.loops.size() > 1 || !sum.guards.empty())
    return std::nullopt;
  if (sum.value->op != Op::kMul || sum.value->args.size() != 2) return std::nullopt;
  MatmulSpec spec;
  spec.batch.assign(shape.begin(), shape.end() - 2);
  spec.m = shape[shape.size() - 2];
  spec.n = shape[shape.size() - 1];
  spec.k = made.reduced[0];
  spec.accumulate = sum.value->type;
  Argument left, right;
  Epilogue epilogue = MakeEpilogue(
      [this](const OutputSite& site) { return MatrixDims(site.batch, site.row, site.col); });
  if (!MakeOperand(sum.value->args[0], true, spec.a, left)) return std::nullopt;
  if (!MakeOperand(sum.value->args[1], false, spec.b, right)) return std::nullopt;
  Result<std::string> text = EmitMatmul(spec, function, epilogue, {0, plan_.options.cache_bytes});
  if (!text.ok()) return std::nullopt;
  std::vector<Argument> arguments = {left, right};
  for (const int id : arguments_) arguments.push_back({id, 0});
  return GroupFunction{function, *text, arguments, true};
}

std::optional<GroupFunction> GroupEmitter::RunConvolution(const std::string& function) {
  const Tensor& made = tensor(group_.passes[0].statements[0].tensor);
  const ConvolutionShape& c = made.convolution;
  const Tensor& input = tensor(c.input);
  const Tensor& weight = tensor(c.weight);
  const size_t dims = c.stride.size();
  if (dims < 1 || dims > 3 || input.dtype != weight.dtype) return std::nullopt;
  ConvSpec spec;
  spec.dims = static_cast<int>(dims);
  spec.batch = made.shape[0];
  spec.in_channels = input.shape[1];
  spec.out_channels = made.shape[1];
  spec.groups = c.groups;
  spec.transposed = c.transposed;
  spec.dtype = input.dtype;
  spec.accumulate = RegisterType(made.dtype);
  for (size_t i = 0; i < dims; ++i) {
    spec.input[i] = input.shape[2 + i];
    spec.kernel[i] = weight.shape[2 + i];
    spec.stride[i] = c.stride[i];
    spec.padding[i] = c.padding[i];
    spec.dilation[i] = c.dilation[i];
    spec.output_padding[i] = 0;
    if (c.transposed)
      spec.output_padding[i] = made.shape[2 + i] - spec.OutputSize(static_cast<int>(i));
    if (spec.OutputSize(static_cast<int>(i)) != made.shape[2 + i]) return std::nullopt;
  }
  const Epilogue epilogue = MakeEpilogue([](const OutputSite& site) {
    std::vector<std::string> at = {site.batch, site.row};
    at.insert(at.end(), site.position.begin(), site.position.end());
    return at;
  });
  Result<std::string> text = EmitConv(spec, function, epilogue, {0, plan_.options.cache_bytes});
  if (!text.ok()) return std::nullopt;
  std::vector<Argument> arguments = {{c.input, 0}, {c.weight, 0}};
  for (const int id : arguments_) arguments.push_back({id, 0});
  return GroupFunction{function, *text, arguments, true};
}

}  // namespace kerf::synth
