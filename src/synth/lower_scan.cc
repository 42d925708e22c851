// Running sums, products and extremes along an axis.
#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

void GiveScan(Lowerer& l, Combine combine, const std::string& what) {
  const int id = l.TensorArg("self");
  if (l.refused() || !l.Wanted(0)) return;
  const DType type = RegisterType(l.OutType());
  const Shape shape = l.tensor(id).shape;
  const ExprPtr x = Cast(l.At(id, Vars(shape)), type);
  if (shape.empty()) return l.Give(0, x);
  const size_t axis = WrapAxis(l.Int("dim", 0), shape.size());
  // An axis of one element has no loop of its own: whoever ran along "the scan's loop" would run
  // along a neighbour's.
  if (shape[axis] == 1) return l.Give(0, x);
  l.Give(0, l.Scan(combine, l.OutType(), shape, axis, x, what));
}

void Cumsum(Lowerer& l) { GiveScan(l, Combine::kSum, "running sum"); }
void Cumprod(Lowerer& l) { GiveScan(l, Combine::kProd, "running product"); }
void Logcumsumexp(Lowerer& l) {
  GiveScan(l, Combine::kLogSumExp, "running log of a sum of exponentials");
}

template <Combine kCombine>
void Cumextreme(Lowerer& l) {
  if (l.Wanted(1)) return l.Refuse("the places of its extremes are asked for");
  GiveScan(l, kCombine, kCombine == Combine::kMax ? "running maximum" : "running minimum");
}

}  // namespace

void AddScans(HandlerTable& t) {
  t["aten.cumsum.default"] = Cumsum;
  t["aten.cumprod.default"] = Cumprod;
  t["aten.logcumsumexp.default"] = Logcumsumexp;
  t["aten.cummax.default"] = Cumextreme<Combine::kMax>;
  t["aten.cummin.default"] = Cumextreme<Combine::kMin>;
}

}  // namespace kerf::synth
