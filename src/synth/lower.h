// Graph → Program: every ATen node becomes definitions of tensors. What is not known is refused
// with the operator's name and the line of the reference.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "artifact/graph.h"
#include "synth/program.h"

namespace kerf::synth {

struct Refusal {
  std::string op;      // "aten.grid_sampler_2d.default"
  int line = 0;        // of the reference, 0 when unknown
  std::string text;    // that line
  std::string reason;  // "kerf's synthesizer does not know this operator"
  std::string advice;  // what to do

  // "aten.foo.default (line 12: `return foo(x)`): reason; advice"
  [[nodiscard]] std::string ToString() const;
};

std::variant<Program, Refusal> LowerGraph(const Graph& graph);

// Names of all operators that LowerGraph knows, sorted.
std::vector<std::string> KnownOperators();

}  // namespace kerf::synth
