// Products of matrices: sums over one axis of two tensors.
#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

// sum over k of a[…, i, k] * b[…, k, j]
int Product(Lowerer& l, int a, int b, DType type) {
  const Shape& left = l.tensor(a).shape;
  const Shape& right = l.tensor(b).shape;
  const size_t rank = left.size();
  Shape shape = left;
  shape[rank - 1] = right[rank - 1];
  const int64_t depth = left[rank - 1];
  const Indices at = Vars(shape);
  const Index k = Index::Var(static_cast<int>(rank), depth);
  Indices left_at = at;
  left_at[rank - 1] = k;
  Indices right_at = at;
  right_at[rank - 2] = k;
  const DType work = RegisterType(type);
  const ExprPtr body = Binary(work == DType::kBool ? Op::kAnd : Op::kMul,
                              Cast(l.At(a, left_at), work), Cast(l.At(b, right_at), work));
  const int id = l.Reduce(Combine::kSum, type, shape, {depth}, body, "matrix product");
  l.tensor(id).contraction = true;
  return id;
}

void Matmul(Lowerer& l) {
  const int a = l.TensorArg("self");
  const int b = l.TensorArg("mat2");
  if (!l.refused()) l.Give(0, Product(l, a, b, l.OutType()));
}

// beta * self + alpha * product
void Addmm(Lowerer& l) {
  const bool batched = l.op() == "aten.baddbmm.default";
  const int a = l.TensorArg(batched ? "batch1" : "mat1");
  const int b = l.TensorArg(batched ? "batch2" : "mat2");
  const double beta = l.Float("beta", 1);
  const double alpha = l.Float("alpha", 1);
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr self = l.Operand("self", at, type);
  if (l.refused()) return;
  const int product = Product(l, a, b, type);
  ExprPtr value = l.At(product, at);
  if (alpha != 1) value = Binary(Op::kMul, value, Number(type, alpha));
  if (beta != 0) {
    const ExprPtr scaled = beta == 1 ? self : Binary(Op::kMul, self, Number(type, beta));
    value = Binary(Op::kAdd, value, scaled);
  }
  l.Give(0, value, "product and bias");
}

}  // namespace

void AddMatmul(HandlerTable& t) {
  t["aten.mm.default"] = Matmul;
  t["aten.bmm.default"] = Matmul;
  t["aten.addmm.default"] = Addmm;
  t["aten.baddbmm.default"] = Addmm;
}

}  // namespace kerf::synth
