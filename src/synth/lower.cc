#include "synth/lower.h"

#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

constexpr const char* kAdvice =
    "give the task to a model (docs/models.md), or write this part of the reference with known "
    "operators";

const HandlerTable& Table() {
  static const HandlerTable table = [] {
    HandlerTable made;
    AddPointwise(made);
    AddBinary(made);
    AddViews(made);
    AddReductions(made);
    AddNorms(made);
    AddMatmul(made);
    AddWindows(made);
    AddScans(made);
    AddIndexing(made);
    AddSorting(made);
    return made;
  }();
  return table;
}

Refusal Refuse(const GraphNode& node, std::string reason) {
  return {node.op, static_cast<int>(node.line), node.text, std::move(reason), kAdvice};
}

bool Computable(DType type) {
  return !IsComplex(type) && type != DType::kFloat8E4M3 && type != DType::kFloat8E5M2;
}

// The first element type the emitted code cannot compute with.
std::string ForeignType(const Graph& graph, const GraphNode& node) {
  for (const ValueId id : node.operands()) {
    if (!Computable(graph.spec(id).dtype)) return DTypeName(graph.spec(id).dtype);
  }
  for (const ValueId id : node.outputs) {
    if (id != kNoValue && !Computable(graph.spec(id).dtype)) return DTypeName(graph.spec(id).dtype);
  }
  return "";
}

}  // namespace

std::string Refusal::ToString() const {
  std::string where = op;
  if (line > 0) where += " (line " + std::to_string(line) + ": `" + text + "`)";
  return where + ": " + reason + "; " + advice;
}

std::variant<Program, Refusal> LowerGraph(const Graph& graph) {
  Lowerer lowerer(graph);
  for (const GraphNode& node : graph.nodes) {
    const auto handler = Table().find(node.op);
    if (handler == Table().end())
      return Refuse(node, "the synthesizer does not know this operator");
    const std::string foreign = ForeignType(graph, node);
    if (!foreign.empty()) return Refuse(node, "the synthesizer does not compute with " + foreign);
    lowerer.Begin(node);
    handler->second(lowerer);
    if (lowerer.refused()) return Refuse(node, lowerer.reason());
  }
  return lowerer.TakeProgram();
}

std::vector<std::string> KnownOperators() {
  std::vector<std::string> names;
  for (const auto& [name, handler] : Table()) names.push_back(name);
  return names;
}

}  // namespace kerf::synth
