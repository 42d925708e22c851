// Layer, group and batch norm: statistics of rows, then a scale and a shift of each element.
#include <cmath>

#include "synth/lower_reduce.h"

namespace kerf::synth {
namespace {

struct Statistics {
  int mean = 0;
  int inverse_deviation = 0;
};

Statistics RowStatistics(Lowerer& l, int id, const Axes& axes, double eps) {
  const Moments moments = MeanAndSquares(l, id, axes);
  const DType type = RegisterType(l.tensor(id).dtype);
  const Indices kept = Vars(axes.kept);
  const ExprPtr count = Number(type, static_cast<double>(Numel(axes.reduced)));
  const ExprPtr variance = Binary(Op::kDiv, l.At(moments.squares, kept), count);
  const ExprPtr inverse = Unary(Op::kRsqrt, Binary(Op::kAdd, variance, Number(type, eps)));
  return {moments.mean, l.Pointwise(type, axes.kept, inverse, "inverse deviation")};
}

ExprPtr ScaledAndShifted(Lowerer& l, ExprPtr value, const Indices& place) {
  const DType type = value->type;
  if (l.Has("weight"))
    value = Binary(Op::kMul, value, Cast(l.At(l.TensorArg("weight"), place), type));
  if (l.Has("bias")) value = Binary(Op::kAdd, value, Cast(l.At(l.TensorArg("bias"), place), type));
  return value;
}

void LayerNorm(Lowerer& l) {
  const int id = l.TensorArg("input");
  const Shape normalized = l.Ints("normalized_shape");
  const double eps = l.Float("eps", 1e-5);
  if (l.refused()) return;
  const Shape shape = l.tensor(id).shape;
  const size_t outer = shape.size() - normalized.size();
  Shape dims;
  for (size_t i = outer; i < shape.size(); ++i) dims.push_back(static_cast<int64_t>(i));
  const Axes axes(shape, dims);
  const Statistics s = RowStatistics(l, id, axes, eps);
  const Indices all = Vars(shape);
  const Indices row = axes.KeptOf(all);
  const Indices place(all.begin() + static_cast<int64_t>(outer), all.end());
  const ExprPtr centred = Binary(Op::kSub, l.At(id, all), l.At(s.mean, row));
  const ExprPtr normal = Binary(Op::kMul, centred, l.At(s.inverse_deviation, row));
  l.Give(0, ScaledAndShifted(l, normal, place), "layer norm");
  const auto give_row = [&](size_t output, int statistic) {
    if (!l.Wanted(output)) return;
    const int cast = l.Pointwise(l.OutType(output), axes.kept,
                                 Cast(l.At(statistic, Vars(axes.kept)), l.OutType(output)));
    l.Give(output, l.Reshape(cast, l.OutShape(output)));
  };
  give_row(1, s.mean);
  give_row(2, s.inverse_deviation);
}

void GroupNorm(Lowerer& l) {
  const int id = l.TensorArg("input");
  const int64_t batch = l.Int("N", 1);
  const int64_t channels = l.Int("C", 1);
  const int64_t area = l.Int("HxW", 1);
  const int64_t groups = l.Int("group", 1);
  const double eps = l.Float("eps", 1e-5);
  if (l.refused()) return;
  if (l.tensor(id).numel() == 0) return l.Give(0, id);
  const int64_t per_group = channels / groups;
  const int rows = l.Reshape(id, {batch, groups, per_group * area});
  const Axes axes({batch, groups, per_group * area}, {2});
  const Statistics s = RowStatistics(l, rows, axes, eps);
  const Indices all = Vars(l.tensor(id).shape);
  const Indices row = {all[0], all[1].Div(per_group)};
  const ExprPtr centred = Binary(Op::kSub, l.At(id, all), l.At(s.mean, row));
  const ExprPtr normal = Binary(Op::kMul, centred, l.At(s.inverse_deviation, row));
  l.Give(0, ScaledAndShifted(l, normal, {all[1]}), "group norm");
  if (l.Wanted(1) || l.Wanted(2)) l.Refuse("its statistics are asked for");
}

void BatchNorm(Lowerer& l) {
  const int id = l.TensorArg("input");
  const int mean = l.TensorArg("running_mean");
  const int variance = l.TensorArg("running_var");
  const double eps = l.Float("eps", 1e-5);
  if (l.refused()) return;
  const Indices all = Vars(l.tensor(id).shape);
  const Indices channel = {all.size() > 1 ? all[1] : Index(0)};
  const DType type = RegisterType(l.OutType());
  const Shape channels = l.tensor(mean).shape;
  // One factor for each channel: weight / sqrt(variance + eps).
  const ExprPtr v = Cast(l.At(variance, Vars(channels)), type);
  ExprPtr factor = Unary(Op::kRsqrt, Binary(Op::kAdd, v, Number(type, eps)));
  if (l.Has("weight"))
    factor = Binary(Op::kMul, factor, Cast(l.At(l.TensorArg("weight"), Vars(channels)), type));
  const int scale = l.Pointwise(type, channels, factor, "scale");
  ExprPtr value = Binary(Op::kSub, l.At(id, all), Cast(l.At(mean, channel), type));
  value = Binary(Op::kMul, value, l.At(scale, channel));
  if (l.Has("bias"))
    value = Binary(Op::kAdd, value, Cast(l.At(l.TensorArg("bias"), channel), type));
  l.Give(0, value, "batch norm with stored statistics");
  if (l.Wanted(1) || l.Wanted(2)) l.Refuse("its saved statistics are asked for");
}

}  // namespace

void AddNorms(HandlerTable& t) {
  t["aten.native_layer_norm.default"] = LayerNorm;
  t["aten.native_group_norm.default"] = GroupNorm;
  t["aten._native_batch_norm_legit_no_training.default"] = BatchNorm;
}

}  // namespace kerf::synth
