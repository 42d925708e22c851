// How a match is made: the weights of the last product are inlined down to what is no pointwise
// tensor. They must then read exp(x - m) * (1 / s), with m the maximum and s the sum that belong to
// the very same x: the bodies of those reductions, put in terms of the same variables, have the
// same hash. x in turn must use one product, at its own place.
#include "synth/attention.h"

#include <algorithm>
#include <limits>
#include <set>

#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int kMostScoreNodes = 80;  // of what becomes of a score: it is computed for each of them
constexpr int kBatch = 0, kQuery = 1, kKey = 2, kDepth = 3, kColumn = 4, kDigits = 5;

struct Match {
  int result = -1;
  int scores = -1;
  Tensor before;
};

class Finder {
 public:
  explicit Finder(Program& program) : program_(program) {}

  void Run() {
    std::vector<Match> matches;
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      Match match{static_cast<int>(i), -1, program_.tensors[i]};
      if (Try(match)) matches.push_back(std::move(match));
    }
    // Scores that somebody still needs would be computed twice.
    for (bool again = true; again;) {
      again = false;
      const std::vector<bool> used = Reachable(program_);
      for (Match& match : matches) {
        if (match.result < 0 || !used[static_cast<size_t>(match.scores)]) continue;
        program_.tensors[static_cast<size_t>(match.result)] = match.before;
        match.result = -1;
        again = true;
      }
    }
    for (const Match& match : matches) {
      if (match.result >= 0) GiveReshaped(match.result);
    }
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return program_.tensors[static_cast<size_t>(id)];
  }

  // Everything pointwise replaced by what it computes.
  [[nodiscard]] ExprPtr Inlined(const ExprPtr& value, const Index::Substitution& vars) const {
    Rewriter rewriter(vars, [this](const ExprPtr& load) {
      const Tensor& from = tensor(load->tensor);
      if (from.kind != TensorKind::kPointwise) return load;
      return Inlined(from.body,
                     [&load](int var, int64_t) { return load->indices[static_cast<size_t>(var)]; });
    });
    return rewriter.Run(value);
  }

  // The body of a reduction over one axis, at the place of `load` and with the key as its axis.
  [[nodiscard]] ExprPtr TermAt(const Expr& load, Combine combine, int64_t keys) const {
    const Tensor& made = tensor(load.tensor);
    const bool fits = made.kind == TensorKind::kReduce && made.combine == combine &&
                      made.reduced == std::vector<int64_t>{keys} && IsFloat(made.dtype) &&
                      RegisterType(made.dtype) == made.dtype;
    if (!fits) return nullptr;
    return Inlined(made.body, [&](int var, int64_t) {
      return var == made.rank() ? Index::Var(kKey, keys) : load.indices[static_cast<size_t>(var)];
    });
  }

  static bool IsProduct(const Tensor& t) {
    return t.kind == TensorKind::kReduce && t.contraction && t.convolution.input < 0 &&
           t.combine == Combine::kSum && t.reduced.size() == 1 && t.body->op == Op::kMul &&
           (t.dtype == DType::kFloat32 || t.dtype == DType::kFloat64) &&
           (t.rank() == 2 || t.rank() == 3) && t.numel() > 0 && t.reduced[0] > 0;
  }

  // A product's variables are batch (of three axes), row, column, depth.
  static Index::Substitution Named(const Tensor& product, int row, int col, int depth) {
    const int first = 3 - product.rank();
    return [=](int var, int64_t extent) {
      const int names[] = {kBatch, row, col, depth};
      return Index::Var(names[var + first], extent);
    };
  }

  static bool Mentions(const ExprPtr& value, int var) {
    std::vector<int> vars;
    CollectExprVars(value, vars);
    return std::find(vars.begin(), vars.end(), var) != vars.end();
  }

  bool Try(Match& match) {
    const Tensor made = tensor(match.result);
    if (!IsProduct(made)) return false;
    AttentionParts parts;
    parts.accumulate = made.dtype;
    parts.queries = made.shape[made.shape.size() - 2];
    parts.value_depth = made.shape.back();
    parts.keys = made.reduced[0];
    const auto vars = Named(made, kQuery, kColumn, kKey);
    ExprPtr weight = Inlined(made.body->args[0], vars);
    if (weight->op == Op::kSelect && IsConst(weight->args[1], 0) &&
        !Mentions(weight->args[0], kKey)) {
      parts.empty = weight->args[0];
      weight = weight->args[2];
    }
    const ExprPtr x = Exponent(weight, parts.keys);
    if (x == nullptr || ExprSize(x) > kMostScoreNodes) return false;
    match.scores = ScoresOf(x, made);
    if (match.scores < 0) return false;
    const Tensor& scores = tensor(match.scores);
    parts.depth = scores.reduced[0];
    Special special;
    special.name = "attention";
    special.results = {match.result};
    const auto factors = Named(scores, kQuery, kKey, kDepth);
    const auto at = [&](const ExprPtr& value, const Index::Substitution& names) {
      return Rewriter(names, [](const ExprPtr& load) { return load; }).Run(value);
    };
    std::vector<ExprPtr> matrices = {at(scores.body->args[0], factors),
                                     at(scores.body->args[1], factors),
                                     at(made.body->args[1], vars)};
    if (!PlaceMatrices(matrices, made.rank() == 3 ? made.shape[0] : 1, parts, special))
      return false;
    parts.score = x;
    TakeCausal(parts);
    TakeScale(parts);
    parts.score = parts.score == nullptr ? nullptr : Bound(parts.score, match.scores, special);
    if (parts.empty != nullptr) parts.empty = Bound(parts.empty, match.scores, special);
    Tensor& result = program_.tensors[static_cast<size_t>(match.result)];
    special.attention = std::make_shared<const AttentionParts>(std::move(parts));
    result.kind = TensorKind::kSpecial;
    result.special = std::move(special);
    result.body = nullptr;
    result.reduced.clear();
    result.contraction = false;
    result.op = "attention";
    result.what = "attention";
    return true;
  }

  // Where all that is done with the result is to call it by another shape, it has that shape at
  // once: a tensor of its own would be a copy.
  void GiveReshaped(int id) {
    const std::vector<bool> used = Reachable(program_);
    int reader = -1;
    int readers = std::count(program_.outputs.begin(), program_.outputs.end(), id) > 0 ? 2 : 0;
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& t = program_.tensors[i];
      bool reads = std::count(t.special.operands.begin(), t.special.operands.end(), id) > 0;
      if (!used[i]) continue;
      if (t.body != nullptr)
        VisitLoads(t.body, [&](const Expr& load) { reads = reads || load.tensor == id; });
      if (!reads) continue;
      reader = static_cast<int>(i);
      ++readers;
    }
    if (readers != 1) return;
    Tensor& shaped = program_.tensors[static_cast<size_t>(reader)];
    Tensor& made = program_.tensors[static_cast<size_t>(id)];
    if (shaped.kind != TensorKind::kPointwise || shaped.body->op != Op::kLoad ||
        shaped.dtype != made.dtype || shaped.numel() != made.numel())
      return;
    std::vector<Index> own;
    for (int i = 0; i < shaped.rank(); ++i)
      own.push_back(Index::Var(i, shaped.shape[static_cast<size_t>(i)]));
    if (!(FlatIndex(made.shape, shaped.body->indices) == FlatIndex(shaped.shape, own))) return;
    shaped.kind = TensorKind::kSpecial;
    shaped.special = made.special;
    shaped.special.results = {reader};
    shaped.body = nullptr;
    shaped.op = made.op;
    shaped.what = made.what;
    shaped.line = made.line;
    shaped.text = made.text;
  }

  // x when the weight is exp(x - maximum of x) / sum of these.
  ExprPtr Exponent(const ExprPtr& weight, int64_t keys) const {
    if (weight->op != Op::kMul) return nullptr;
    const ExprPtr& e = weight->args[0];
    const ExprPtr& inverse = weight->args[1];
    if (e->op != Op::kExp || e->args[0]->op != Op::kSub || inverse->op != Op::kDiv ||
        !IsConst(inverse->args[0], 1) || inverse->args[1]->op != Op::kLoad)
      return nullptr;
    const ExprPtr& x = e->args[0]->args[0];
    const ExprPtr& most = e->args[0]->args[1];
    if (most->op != Op::kLoad) return nullptr;
    const ExprPtr terms = TermAt(*inverse->args[1], Combine::kSum, keys);
    const ExprPtr largest = TermAt(*most, Combine::kMax, keys);
    if (terms == nullptr || largest == nullptr) return nullptr;
    return terms->hash == e->hash && largest->hash == x->hash ? x : nullptr;
  }

  // The product that x is made of, -1 when that is none, or not at its own place only.
  int ScoresOf(const ExprPtr& x, const Tensor& made) const {
    int scores = -1;
    bool ok = true;
    VisitLoads(x, [&](const Expr& load) {
      const Tensor& from = tensor(load.tensor);
      if (!from.contraction) return;
      std::vector<Index> own = {Index::Var(kQuery, made.shape[made.shape.size() - 2]),
                                Index::Var(kKey, made.reduced[0])};
      if (made.rank() == 3) own.insert(own.begin(), Index::Var(kBatch, made.shape[0]));
      ok = ok && (scores == -1 || scores == load.tensor) && IsProduct(from) &&
           from.dtype == made.dtype && load.indices == own;
      scores = load.tensor;
    });
    return ok ? scores : -1;
  }

  // A factor followed through views to the tensor it lies in.
  ExprPtr Source(ExprPtr value) const {
    while (value != nullptr) {
      if (value->op == Op::kCast && value->args[0]->op == Op::kLoad) value = value->args[0];
      if (value->op != Op::kLoad) return nullptr;
      const Tensor& from = tensor(value->tensor);
      if (from.kind != TensorKind::kPointwise) return value;
      const ExprPtr& body = from.body->op == Op::kCast ? from.body->args[0] : from.body;
      // A cast that is more than a half read as a float would change the value.
      if (body->op != Op::kLoad || RegisterType(tensor(body->tensor).dtype) != from.dtype)
        return value;
      value = Rewriter([&](int var, int64_t) { return value->indices[static_cast<size_t>(var)]; },
                       [](const ExprPtr& load) { return load; })
                  .Run(body);
    }
    return nullptr;
  }

  bool PlaceMatrices(const std::vector<ExprPtr>& values, int64_t batch, AttentionParts& parts,
                     Special& special) const {
    std::vector<ExprPtr> loads;
    std::vector<Index> places;
    std::vector<std::set<int64_t>> cuts(1);
    for (const ExprPtr& value : values) {
      const ExprPtr load = Source(value);
      if (load == nullptr || !IsFloat(tensor(load->tensor).dtype)) return false;
      if (RegisterType(tensor(load->tensor).dtype) != parts.accumulate) return false;
      loads.push_back(load);
      places.push_back(FlatIndex(tensor(load->tensor).shape, load->indices));
      CollectCuts(places.back(), cuts);
    }
    const std::vector<int64_t> chain = Chain(cuts[0], batch);
    Index digits;
    for (size_t k = chain.size(); k-- > 0;) {
      const int64_t upper = k + 1 < chain.size() ? chain[k + 1] : batch;
      const int var = kDigits + static_cast<int>(parts.batch.size());
      parts.batch.push_back(upper / chain[k]);
      digits = digits + Index::Var(var, upper / chain[k]) * chain[k];
    }
    AttentionMatrix* matrices[] = {&parts.q, &parts.k, &parts.v};
    const int axes[][2] = {{kQuery, kDepth}, {kKey, kDepth}, {kKey, kColumn}};
    for (size_t m = 0; m < 3; ++m) {
      const Index place = places[m].Replace(
          [&](int var, int64_t extent) { return var == kBatch ? digits : Index::Var(var, extent); },
          [](const ExprPtr& value) { return value; });
      if (!place.IsAffine()) return false;
      AttentionMatrix& matrix = *matrices[m];
      matrix.operand = m;
      matrix.offset = place.constant();
      for (size_t d = 0; d < parts.batch.size(); ++d)
        matrix.batch_strides.push_back(*place.Stride(kDigits + static_cast<int>(d)));
      matrix.row_stride = *place.Stride(axes[m][0]);
      matrix.col_stride = *place.Stride(axes[m][1]);
      special.operands.push_back(loads[m]->tensor);
    }
    return true;
  }

  // Takes `key <= query ? y : -inf` apart.
  void TakeCausal(AttentionParts& parts) const {
    const ExprPtr x = parts.score;
    if (x->op != Op::kSelect || !IsConst(x->args[2], -std::numeric_limits<double>::infinity()))
      return;
    const ExprPtr kept = x->args[0];
    const auto is_index = [](const ExprPtr& value, int var) {
      return value->op == Op::kIndexValue && value->index.AsVar() == var;
    };
    const bool compared =
        kept->op == Op::kLe && is_index(kept->args[0], kKey) && is_index(kept->args[1], kQuery);
    if (!compared && !IsTriangle(kept, parts)) return;
    parts.causal = true;
    parts.score = ExprPtr(x->args[1]);
  }

  // A constant of the reference that says the same.
  bool IsTriangle(const ExprPtr& kept, const AttentionParts& parts) const {
    if (kept->op != Op::kLoad) return false;
    const Tensor& mask = tensor(kept->tensor);
    const size_t rank = mask.shape.size();
    if (mask.kind != TensorKind::kInput || mask.source.kind != GraphInput::Source::kConstant ||
        mask.dtype != DType::kBool || mask.numel() != parts.queries * parts.keys || rank < 2 ||
        mask.shape[rank - 2] != parts.queries || kept->indices[rank - 2].AsVar() != kQuery ||
        kept->indices[rank - 1].AsVar() != kKey)
      return false;
    for (int64_t i = 0; i < parts.queries; ++i) {
      for (int64_t j = 0; j < parts.keys; ++j) {
        const bool one = mask.source.bytes[static_cast<size_t>(i * parts.keys + j)] != 0;
        if (one != (j <= i)) return false;
      }
    }
    return true;
  }

  // A factor of the score goes into the queries.
  static void TakeScale(AttentionParts& parts) {
    const ExprPtr x = parts.score;
    if (x->op == Op::kLoad) {
      parts.score = nullptr;
    } else if (x->args.size() == 2 && x->args[0]->op == Op::kLoad && x->args[1]->op == Op::kConst &&
               (x->op == Op::kMul || x->op == Op::kDiv)) {
      parts.scale = x->op == Op::kMul ? x->args[1]->number : 1 / x->args[1]->number;
      parts.score = nullptr;
    }
  }

  // The same expression with its tensors as operands.
  ExprPtr Bound(const ExprPtr& value, int scores, Special& special) const {
    return Rewriter([](int var, int64_t extent) { return Index::Var(var, extent); },
                    [&](const ExprPtr& load) {
                      if (load->tensor == scores)
                        return Load(AttentionParts::kScore, tensor(scores).dtype, load->indices);
                      special.operands.push_back(load->tensor);
                      return Load(static_cast<int>(special.operands.size()) - 1,
                                  tensor(load->tensor).dtype, load->indices);
                    })
        .Run(value);
  }

  Program& program_;
};

}  // namespace

void FuseAttention(Program& program) { Finder(program).Run(); }

}  // namespace kerf::synth
