#include "synth/transposed.h"

namespace kerf::synth {
namespace {

// Along one axis: `place` is the output's index with the padding added, `step` what is walked over.
void AddAxis(TransposedTerm& term, const Index& place, const Index& step, bool by_input,
             int64_t stride, int64_t dilation, int64_t input, int64_t taps) {
  if (by_input) {
    const Index tap = place - step * stride;
    term.inside = Both(term.inside, InRange(tap, 0, taps));
    term.input.push_back(step);
    term.weight.push_back(tap);
    return;
  }
  // Quotients round towards zero and remainders are taken to be positive: the sum itself is
  // guarded, so that neither is asked where it is negative.
  const Index scaled = place - step * dilation;
  term.inside = Both(term.inside, InRange(scaled, 0, input * stride));
  if (stride > 1) term.inside = Both(term.inside, InRange(scaled.Mod(stride), 0, 1));
  term.input.push_back(scaled.Div(stride));
  term.weight.push_back(step);
}

}  // namespace

TransposedTerm WalkTransposed(const ConvolutionShape& c, const std::vector<int64_t>& input,
                              const std::vector<int64_t>& weight, const std::vector<int64_t>& out,
                              TransposedWalk walk) {
  const int64_t in_per_group = weight[0] / c.groups;
  const int64_t out_per_group = weight[1];
  const size_t axes = c.stride.size();
  TransposedTerm term;
  term.inside = Integer(DType::kBool, 1);
  std::vector<bool> by_input(axes);
  term.reduced = {in_per_group};
  for (size_t i = 0; i < axes; ++i) {
    by_input[i] = walk == TransposedWalk::kInputs && c.dilation[i] == 1 && c.stride[i] > 1;
    term.reduced.push_back(by_input[i] ? input[2 + i] : weight[2 + i]);
  }
  const auto at = [&](size_t i) { return Index::Var(static_cast<int>(i), out[i]); };
  const auto step = [&](size_t i) {
    return Index::Var(static_cast<int>(out.size() + i), term.reduced[i]);
  };
  const Index channel = at(1).Div(out_per_group) * in_per_group + step(0);
  term.input = {at(0), channel};
  term.weight = {channel, at(1).Mod(out_per_group)};
  for (size_t i = 0; i < axes; ++i) {
    AddAxis(term, at(2 + i) + Index(c.padding[i]), step(1 + i), by_input[i], c.stride[i],
            c.dilation[i], input[2 + i], weight[2 + i]);
  }
  return term;
}

}  // namespace kerf::synth
