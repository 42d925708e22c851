#include "synth/synthesizer.h"

#include "synth/attention.h"
#include "synth/aul.h"
#include "synth/emit_cpp.h"
#include "synth/emit_cuda.h"
#include "synth/emit_triton.h"
#include "synth/plan.h"

namespace kerf::synth {
namespace {

Result<std::variant<Synthesis, Refusal>> SynthesizeCuda(const Graph& graph,
                                                        const SynthOptions& options) {
  auto lowered = LowerGraph(graph);
  if (auto* refusal = std::get_if<Refusal>(&lowered))
    return std::variant<Synthesis, Refusal>(std::move(*refusal));
  Synthesis made;
  const Plan plan = CudaPlan(std::move(std::get<Program>(lowered)), options.variant);
  made.aul = WriteAul(plan, graph);
  made.rationale = WriteRationale(plan, graph);
  auto source = EmitCuda(plan, graph);
  if (auto* refusal = std::get_if<Refusal>(&source))
    return std::variant<Synthesis, Refusal>(std::move(*refusal));
  made.source = std::move(std::get<std::string>(source));
  return std::variant<Synthesis, Refusal>(std::move(made));
}

Result<std::variant<Synthesis, Refusal>> SynthesizeTriton(const Graph& graph,
                                                          const SynthOptions& options) {
  auto lowered = LowerGraph(graph);
  if (auto* refusal = std::get_if<Refusal>(&lowered))
    return std::variant<Synthesis, Refusal>(std::move(*refusal));
  const Plan plan = TritonPlan(std::get<Program>(lowered), options.variant);
  auto source = EmitTriton(plan, graph);
  if (auto* refusal = std::get_if<Refusal>(&source))
    return std::variant<Synthesis, Refusal>(std::move(*refusal));
  Synthesis made;
  made.aul = WriteAul(plan, graph);
  made.rationale = WriteRationale(plan, graph);
  made.source = std::move(std::get<std::string>(source));
  return std::variant<Synthesis, Refusal>(std::move(made));
}

}  // namespace

Result<std::variant<Synthesis, Refusal>> Synthesize(const Graph& graph,
                                                    const SynthOptions& options) {
  if (options.impl == "cuda_c") return SynthesizeCuda(graph, options);
  if (options.impl == "triton") return SynthesizeTriton(graph, options);
  if (options.impl != "cpp")
    return InvalidInput("synth: impl '" + options.impl +
                        "' is not one the synthesizer writes (cpp, cuda_c, triton)");
  auto lowered = LowerGraph(graph);
  if (auto* refusal = std::get_if<Refusal>(&lowered))
    return std::variant<Synthesis, Refusal>(std::move(*refusal));
  Program program = std::move(std::get<Program>(lowered));
  FuseAttention(program);
  const Plan plan =
      MakePlan(std::move(program), {options.threads, options.cache_bytes, options.variant});
  Synthesis made;
  made.aul = WriteAul(plan, graph);
  made.rationale = WriteRationale(plan, graph);
  made.source = EmitCpp(plan, graph);
  return std::variant<Synthesis, Refusal>(std::move(made));
}

int VariantCount(const Graph&, const SynthOptions& options) {
  return options.impl == "cpp" ? 3 : 1;
}

}  // namespace kerf::synth
