#include "synth/emit_cuda.h"

namespace kerf::synth {
namespace {

// out[n, c, o…] = sum over channels and taps of in[n, channel, (o + padding - tap * dilation) /
// stride] where that divides without rest.
ExprPtr TransposedBody(const Program& program, const Tensor& made, std::vector<int64_t>& reduced) {
  const ConvolutionShape& c = made.convolution;
  const Tensor& input = program.tensors[static_cast<size_t>(c.input)];
  const Tensor& weight = program.tensors[static_cast<size_t>(c.weight)];
  const int64_t in_per_group = weight.shape[0] / c.groups;
  const int64_t out_per_group = weight.shape[1];
  reduced = {in_per_group};
  reduced.insert(reduced.end(), weight.shape.begin() + 2, weight.shape.end());
  const int rank = made.rank();
  std::vector<Index> out, k;
  for (int i = 0; i < rank; ++i) out.push_back(Index::Var(i, made.shape[static_cast<size_t>(i)]));
  for (size_t i = 0; i < reduced.size(); ++i)
    k.push_back(Index::Var(rank + static_cast<int>(i), reduced[i]));
  const Index channel = out[1].Div(out_per_group) * in_per_group + k[0];
  std::vector<Index> in = {out[0], channel};
  std::vector<Index> at_weight = {channel, out[1].Mod(out_per_group)};
  ExprPtr inside = Integer(DType::kBool, 1);
  for (size_t i = 0; i < c.stride.size(); ++i) {
    const int64_t s = c.stride[i];
    // Only asked where it is not negative: quotients round towards zero.
    const Index raw = out[2 + i] + Index(c.padding[i]) - k[1 + i] * c.dilation[i];
    const Index at = raw.Div(s);
    inside = Both(inside, InRange(raw, 0, input.shape[2 + i] * s));
    if (s > 1) inside = Both(inside, InRange(raw.Mod(s), 0, 1));
    in.push_back(at);
    at_weight.push_back(k[1 + i]);
  }
  const DType work = made.body->type;
  const ExprPtr term = Binary(Op::kMul, Cast(Load(c.input, input.dtype, in), work),
                              Cast(Load(c.weight, weight.dtype, at_weight), work));
  return Select(inside, term, Integer(work, 0));
}

}  // namespace

void WalkKernels(Program& program) {
  for (Tensor& t : program.tensors) {
    if (t.convolution.input < 0 || !t.convolution.transposed) continue;
    std::vector<int64_t> reduced;
    t.body = TransposedBody(program, t, reduced);
    t.reduced = reduced;
  }
}

}  // namespace kerf::synth
