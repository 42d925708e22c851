#include "synth/synthesizer.h"

#include "synth/aul.h"
#include "synth/emit_cpp.h"
#include "synth/plan.h"

namespace kerf::synth {

Result<std::variant<Synthesis, Refusal>> Synthesize(const Graph& graph,
                                                    const SynthOptions& options) {
  if (options.impl != "cpp")
    return InvalidInput("synth: impl '" + options.impl +
                        "' is not one the synthesizer writes (cpp)");
  auto lowered = LowerGraph(graph);
  if (auto* refusal = std::get_if<Refusal>(&lowered))
    return std::variant<Synthesis, Refusal>(std::move(*refusal));
  const Plan plan = MakePlan(std::move(std::get<Program>(lowered)),
                             {options.threads, options.cache_bytes, options.variant});
  Synthesis made;
  made.aul = WriteAul(plan, graph);
  made.rationale = WriteRationale(plan, graph);
  made.source = EmitCpp(plan, graph);
  return std::variant<Synthesis, Refusal>(std::move(made));
}

int VariantCount(const Graph&, const SynthOptions&) { return 3; }

}  // namespace kerf::synth
