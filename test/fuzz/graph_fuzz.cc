// ParseCapture on any bytes: no crash, and a graph it accepts is sound and survives being written.
#include <cstdint>
#include <string_view>

#include "artifact/graph.h"
#include "expect.h"

using kerf::Expect;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto outcome =
      kerf::ParseCapture(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!outcome.ok()) {
    Expect(!outcome.error().message.empty(), "an error says why");
    return 0;
  }
  Expect(outcome->graph.has_value() != outcome->refusal.has_value(), "a graph or a refusal");
  if (!outcome->graph.has_value()) return 0;
  const kerf::Graph& graph = *outcome->graph;
  for (const kerf::GraphValue& value : graph.values) {
    Expect(kerf::IsSound(value.spec), "shapes are sound");
  }
  for (const kerf::GraphInput& input : graph.inputs) {
    Expect(input.source != kerf::GraphInput::Source::kConstant ||
               input.data.size() == graph.spec(input.value).bytes(),
           "a constant has its bytes");
  }
  for (const kerf::GraphNode& node : graph.nodes) {
    for (const kerf::ValueId id : node.operands()) {
      Expect(id >= 0 && static_cast<size_t>(id) < graph.values.size(), "operands are values");
    }
  }
  const std::string text = kerf::WriteGraph(graph);
  const auto again = kerf::ParseGraph(text);
  Expect(again.ok(), "what was written can be read");
  Expect(kerf::WriteGraph(*again) == text, "and is the same");
  return 0;
}
