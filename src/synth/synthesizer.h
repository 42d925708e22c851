// The embedded Designer and Coder: a graph in, a design and a kernel out, without a model.
//
//   auto made = Synthesize(graph, {});
//   if (auto* kernel = std::get_if<Synthesis>(&*made)) use(kernel->source);
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "artifact/graph.h"
#include "base/result.h"
#include "synth/lower.h"

namespace kerf::synth {

struct SynthOptions {
  std::string impl = "cpp";
  int threads = 2;
  int64_t cache_bytes = 1 << 20;  // of one core, from the chip
  // Which of the plans; 0 is the one kerf thinks best.
  int variant = 0;
};

struct Synthesis {
  std::string aul;        // the plan, as a Design
  std::string rationale;  // why it is so
  std::string source;
  std::vector<std::string> notes;
};

Result<std::variant<Synthesis, Refusal>> Synthesize(const Graph& graph,
                                                    const SynthOptions& options);

// Plans worth measuring for this graph: variants 0 … n-1.
int VariantCount(const Graph& graph, const SynthOptions& options);

}  // namespace kerf::synth
