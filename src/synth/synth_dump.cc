// kerf_synth_dump GRAPH.json [KERNEL.cc]: the kernel of a captured graph, for development. Exit
// code 1 when the graph is refused.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "synth/synthesizer.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: kerf_synth_dump GRAPH.json [KERNEL.cc [VARIANT [PLAN.aul]]]\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  std::stringstream text;
  text << in.rdbuf();
  auto capture = kerf::ParseCapture(text.str());
  if (!capture.ok()) {
    std::cerr << capture.error().message << "\n";
    return 4;
  }
  if (capture->refusal.has_value()) {
    std::cerr << "refused: capture: " << capture->refusal->ToString() << "\n";
    return 1;
  }
  kerf::synth::SynthOptions options;
  if (const char* impl = std::getenv("KERF_IMPL")) options.impl = impl;
  if (argc > 3) options.variant = std::atoi(argv[3]);
  auto made = kerf::synth::Synthesize(*capture->graph, options);
  if (!made.ok()) {
    std::cerr << made.error().message << "\n";
    return 70;
  }
  if (const auto* refusal = std::get_if<kerf::synth::Refusal>(&*made)) {
    std::cerr << "refused: " << refusal->ToString() << "\n";
    return 1;
  }
  const auto& kernel = std::get<kerf::synth::Synthesis>(*made);
  if (argc > 2) {
    std::ofstream(argv[2]) << kernel.source;
  } else {
    std::cout << kernel.source;
  }
  if (argc > 4) std::ofstream(argv[4]) << kernel.aul;
  return 0;
}
