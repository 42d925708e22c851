#include "synth/emit_cuda.h"
#include "synth/transposed.h"

namespace kerf::synth {

void WalkKernels(Program& program) {
  for (Tensor& t : program.tensors) {
    const ConvolutionShape& c = t.convolution;
    if (c.input < 0 || !c.transposed) continue;
    const Tensor& input = program.tensors[static_cast<size_t>(c.input)];
    const Tensor& weight = program.tensors[static_cast<size_t>(c.weight)];
    const TransposedTerm term =
        WalkTransposed(c, input.shape, weight.shape, t.shape, TransposedWalk::kTaps);
    const DType work = t.body->type;
    const ExprPtr product = Binary(Op::kMul, Cast(Load(c.input, input.dtype, term.input), work),
                                   Cast(Load(c.weight, weight.dtype, term.weight), work));
    t.body = Select(term.inside, product, Integer(work, 0));
    t.reduced = term.reduced;
  }
}

}  // namespace kerf::synth
