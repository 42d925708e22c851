// Sums and their kin over any axes; softmax.
#include <algorithm>
#include <cmath>

#include "synth/lower_reduce.h"

namespace kerf::synth {

Axes::Axes(const Shape& full, const Shape& dims) : full_(full) {
  std::vector<bool> is_reduced(full.size(), dims.empty());
  for (const int64_t dim : dims) {
    if (!full.empty()) is_reduced[static_cast<size_t>(WrapAxis(dim, full.size()))] = true;
  }
  for (size_t i = 0; i < full.size(); ++i) (is_reduced[i] ? reduced : kept).push_back(full[i]);
  size_t next_kept = 0;
  size_t next_reduced = kept.size();
  for (size_t i = 0; i < full.size(); ++i) {
    const size_t var = is_reduced[i] ? next_reduced++ : next_kept++;
    at.push_back(Index::Var(static_cast<int>(var), full[i]));
    with_ones.push_back(is_reduced[i] ? 1 : full[i]);
  }
  is_reduced_ = is_reduced;
}

Indices Axes::KeptOf(const Indices& all) const {
  Indices kept_indices;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_reduced_[i]) kept_indices.push_back(all[i]);
  }
  return kept_indices;
}

namespace {

Axes AxesOf(Lowerer& l, int id) { return {l.tensor(id).shape, l.Ints("dim")}; }

// Reduces `self`; the result has the node's shape.
void GiveReduced(Lowerer& l, Combine combine, const std::string& what,
                 const std::function<ExprPtr(ExprPtr)>& before = nullptr,
                 const std::function<ExprPtr(ExprPtr)>& after = nullptr) {
  const int id = l.TensorArg("self");
  if (l.refused() || !l.Wanted(0)) return;
  const Axes axes = AxesOf(l, id);
  const DType type = RegisterType(l.OutType());
  ExprPtr x = l.At(id, axes.at);
  if (!IsArg(combine)) x = Cast(x, type);
  if (before) x = before(x);
  int result = l.Reduce(combine, after ? type : l.OutType(), axes.kept, axes.reduced, x, what);
  if (after) {
    const ExprPtr value = after(l.At(result, Vars(axes.kept)));
    result = l.Pointwise(l.OutType(), axes.kept, value);
  }
  l.Give(0, l.Reshape(result, l.OutShape()));
}

void Sum(Lowerer& l) { GiveReduced(l, Combine::kSum, "sum"); }
void Prod(Lowerer& l) { GiveReduced(l, Combine::kProd, "product"); }

void Mean(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const DType type = RegisterType(l.OutType());
  if (!IsFloat(type)) return l.Refuse("a mean of integers has no floating point result");
  const Axes axes = AxesOf(l, id);
  const ExprPtr count = Number(type, static_cast<double>(Numel(axes.reduced)));
  GiveReduced(l, Combine::kSum, "sum for the mean", nullptr,
              [&](ExprPtr sum) { return Binary(Op::kDiv, std::move(sum), count); });
}

bool ReducesNothing(Lowerer& l, int id) {
  return Numel(AxesOf(l, id).reduced) == 0 && Numel(AxesOf(l, id).kept) != 0;
}

template <Combine kCombine>
void Extreme(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  if (ReducesNothing(l, id)) return l.Refuse("it has no value over an empty axis");
  GiveReduced(l, kCombine, kCombine == Combine::kMax ? "maximum" : "minimum");
}

template <Combine kCombine>
void ArgExtreme(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  if (ReducesNothing(l, id)) return l.Refuse("it has no value over an empty axis");
  GiveReduced(l, kCombine,
              kCombine == Combine::kArgMax ? "place of the maximum" : "place of the minimum");
}

// (values, indices)
template <Combine kValue, Combine kPlace>
void ExtremeAndPlace(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  if (ReducesNothing(l, id)) return l.Refuse("it has no value over an empty axis");
  const Axes axes = AxesOf(l, id);
  const ExprPtr x = l.At(id, axes.at);
  if (l.Wanted(0)) {
    const int value = l.Reduce(kValue, l.OutType(0), axes.kept, axes.reduced, x,
                               kValue == Combine::kMax ? "maximum" : "minimum");
    l.Give(0, l.Reshape(value, l.OutShape(0)));
  }
  if (l.Wanted(1)) {
    const int place =
        l.Reduce(kPlace, l.OutType(1), axes.kept, axes.reduced, x,
                 kPlace == Combine::kArgMax ? "place of the maximum" : "place of the minimum");
    l.Give(1, l.Reshape(place, l.OutShape(1)));
  }
}

template <Combine kCombine>
void Truth(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Axes axes = AxesOf(l, id);
  const ExprPtr x = Cast(l.At(id, axes.at), DType::kBool);
  const int result = l.Reduce(kCombine, DType::kBool, axes.kept, axes.reduced, x,
                              kCombine == Combine::kAny ? "is any true" : "are all true");
  ExprPtr value = l.At(result, Vars(axes.kept));
  const int cast = l.Pointwise(l.OutType(), axes.kept, Cast(value, l.OutType()));
  l.Give(0, l.Reshape(cast, l.OutShape()));
}

}  // namespace

Moments MeanAndSquares(Lowerer& l, int id, const Axes& axes) {
  const DType type = RegisterType(l.tensor(id).dtype);
  const ExprPtr count = Number(type, static_cast<double>(Numel(axes.reduced)));
  const int sum =
      l.Reduce(Combine::kSum, type, axes.kept, axes.reduced, l.At(id, axes.at), "sum for the mean");
  const Indices kept = Vars(axes.kept);
  const int mean = l.Pointwise(type, axes.kept, Binary(Op::kDiv, l.At(sum, kept), count), "mean");
  Indices rows = axes.KeptOf(axes.at);
  const ExprPtr off = Binary(Op::kSub, l.At(id, axes.at), l.At(mean, rows));
  const int squares =
      l.Reduce(Combine::kSum, type, axes.kept, axes.reduced, Binary(Op::kMul, off, off),
               "sum of squared distances from the mean");
  return {mean, squares};
}

namespace {

// var and std: two passes over the data, so that nothing cancels.
void Variance(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Axes axes = AxesOf(l, id);
  double correction = l.Float("correction", 1);
  if (l.Has("unbiased")) correction = l.Bool("unbiased", true) ? 1 : 0;
  const Moments moments = MeanAndSquares(l, id, axes);
  const DType type = RegisterType(l.OutType());
  const double count = std::max(0.0, static_cast<double>(Numel(axes.reduced)) - correction);
  ExprPtr value = Binary(Op::kDiv, l.At(moments.squares, Vars(axes.kept)), Number(type, count));
  if (l.op().rfind("aten.std", 0) == 0) value = Unary(Op::kSqrt, value);
  const int result = l.Pointwise(l.OutType(), axes.kept, value, "variance");
  l.Give(0, l.Reshape(result, l.OutShape()));
}

void Logsumexp(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Axes axes = AxesOf(l, id);
  const DType type = RegisterType(l.OutType());
  const ExprPtr x = Cast(l.At(id, axes.at), type);
  const int most = l.Reduce(Combine::kMax, type, axes.kept, axes.reduced, x, "maximum");
  const Indices kept = Vars(axes.kept);
  const ExprPtr finite =
      Select(Unary(Op::kIsInf, l.At(most, kept)), Number(type, 0), l.At(most, kept));
  const int shift = l.Pointwise(type, axes.kept, finite, "maximum, or 0 where that is infinite");
  const ExprPtr e = Unary(Op::kExp, Binary(Op::kSub, x, l.At(shift, axes.KeptOf(axes.at))));
  const int sum = l.Reduce(Combine::kSum, type, axes.kept, axes.reduced, e, "sum of exponentials");
  const ExprPtr value = Binary(Op::kAdd, Unary(Op::kLog, l.At(sum, kept)), l.At(shift, kept));
  l.Give(0, l.Reshape(l.Pointwise(l.OutType(), axes.kept, value), l.OutShape()));
}

void SoftmaxOf(Lowerer& l, bool logarithm) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Shape shape = l.tensor(id).shape;
  const Axes axes(shape, {shape.empty() ? 0 : l.Int("dim", -1)});
  const DType type = RegisterType(l.OutType());
  const ExprPtr x = Cast(l.At(id, axes.at), type);
  const int most = l.Reduce(Combine::kMax, type, axes.kept, axes.reduced, x, "maximum");
  // Over the tensor's own axes from here on.
  const Indices all = Vars(shape);
  const Indices row = axes.KeptOf(all);
  const ExprPtr shifted = Binary(Op::kSub, Cast(l.At(id, all), type), l.At(most, row));
  const int e = l.Pointwise(type, shape, Unary(Op::kExp, shifted), "exp(x - maximum)");
  const int sum = l.Reduce(Combine::kSum, type, axes.kept, axes.reduced, l.At(e, axes.at),
                           "sum of exponentials");
  if (logarithm) {
    const int log =
        l.Pointwise(type, axes.kept, Unary(Op::kLog, l.At(sum, Vars(axes.kept))), "log of the sum");
    return l.Give(0, Binary(Op::kSub, shifted, l.At(log, row)), "log softmax");
  }
  const int inverse =
      l.Pointwise(type, axes.kept, Binary(Op::kDiv, Number(type, 1), l.At(sum, Vars(axes.kept))),
                  "inverse sum");
  l.Give(0, Binary(Op::kMul, l.At(e, all), l.At(inverse, row)), "softmax");
}

// Distances of all pairs of rows.
void Cdist(Lowerer& l) {
  const int a = l.TensorArg("x1");
  const int b = l.TensorArg("x2");
  const double p = l.Float("p", 2);
  if (l.refused()) return;
  const Shape shape = l.OutShape();
  const int64_t depth = l.tensor(a).shape.back();
  const Indices out = Vars(shape);
  const Index k = Index::Var(static_cast<int>(shape.size()), depth);
  Indices left(out.begin(), out.end() - 1);
  left.push_back(k);
  Indices right(out.begin(), out.end() - 2);
  right.push_back(out.back());
  right.push_back(k);
  const DType type = RegisterType(l.OutType());
  const ExprPtr off =
      Unary(Op::kAbs, Binary(Op::kSub, l.BroadcastAt(a, left), l.BroadcastAt(b, right)));
  const ExprPtr zero = Number(type, 0);
  ExprPtr term = p == 2   ? Binary(Op::kMul, off, off)
                 : p == 0 ? Cast(Binary(Op::kNe, off, zero), type)
                          : Binary(Op::kPow, off, Number(type, p));
  if (p == 1 || std::isinf(p)) term = off;
  const Combine combine = std::isinf(p) ? Combine::kMax : Combine::kSum;
  const int sum = l.Reduce(combine, type, shape, {depth}, term, "distance of two rows");
  ExprPtr value = l.At(sum, out);
  if (combine == Combine::kMax) value = Binary(Op::kMax, value, zero);
  if (p == 2) value = Unary(Op::kSqrt, value);
  if (p != 2 && p != 1 && p != 0 && !std::isinf(p))
    value = Binary(Op::kPow, value, Number(type, 1 / p));
  l.Give(0, value);
}

void Softmax(Lowerer& l) { SoftmaxOf(l, false); }
void LogSoftmax(Lowerer& l) { SoftmaxOf(l, true); }

}  // namespace

void AddReductions(HandlerTable& t) {
  t["aten.sum.default"] = Sum;
  t["aten.sum.dim_IntList"] = Sum;
  t["aten.mean.default"] = Mean;
  t["aten.mean.dim"] = Mean;
  t["aten.prod.default"] = Prod;
  t["aten.prod.dim_int"] = Prod;
  t["aten.amax.default"] = Extreme<Combine::kMax>;
  t["aten.amin.default"] = Extreme<Combine::kMin>;
  t["aten.max.default"] = Extreme<Combine::kMax>;
  t["aten.min.default"] = Extreme<Combine::kMin>;
  t["aten.max.dim"] = ExtremeAndPlace<Combine::kMax, Combine::kArgMax>;
  t["aten.min.dim"] = ExtremeAndPlace<Combine::kMin, Combine::kArgMin>;
  t["aten.argmax.default"] = ArgExtreme<Combine::kArgMax>;
  t["aten.argmin.default"] = ArgExtreme<Combine::kArgMin>;
  for (const char* form : {"default", "dim", "dims"}) {
    t["aten.any." + std::string(form)] = Truth<Combine::kAny>;
    t["aten.all." + std::string(form)] = Truth<Combine::kAll>;
  }
  t["aten.var.correction"] = Variance;
  t["aten.std.correction"] = Variance;
  t["aten.var.dim"] = Variance;
  t["aten.std.dim"] = Variance;
  t["aten.logsumexp.default"] = Logsumexp;
  t["aten._cdist_forward.default"] = Cdist;
  t["aten._softmax.default"] = Softmax;
  t["aten.softmax.int"] = Softmax;
  t["aten._log_softmax.default"] = LogSoftmax;
  t["aten.log_softmax.int"] = LogSoftmax;
}

}  // namespace kerf::synth
