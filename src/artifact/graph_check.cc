#include "artifact/graph.h"

namespace kerf {
namespace {

constexpr size_t kMostDimensions = 64;  // torch's own limit

// Follows the graph in its order.
class GraphChecker {
 public:
  explicit GraphChecker(const Graph& graph) : graph_(graph), defined_(graph.values.size(), false) {}

  Status Check() {
    for (size_t i = 0; i < graph_.values.size(); ++i) KERF_RETURN_IF_ERROR(CheckShape(i));
    for (const SpecialisedNumber& number : graph_.specialised) {
      if (number.index < 0 || !number.value.is_number()) return Broken("a specialised number");
    }
    for (const GraphInput& input : graph_.inputs) KERF_RETURN_IF_ERROR(CheckInput(input));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) KERF_RETURN_IF_ERROR(CheckNode(i));
    for (size_t i = 0; i < defined_.size(); ++i) {
      if (!defined_[i]) return Broken("nothing gives value " + std::to_string(i));
    }
    if (graph_.outputs.empty()) return Broken("there is no output");
    for (const ValueId id : graph_.outputs) {
      if (!IsDefined(id)) return Broken("output " + std::to_string(id) + " is no value");
    }
    return {};
  }

 private:
  static Error Broken(const std::string& why) { return Corrupt("graph: " + why); }

  [[nodiscard]] bool IsDefined(ValueId id) const {
    return id >= 0 && static_cast<size_t>(id) < defined_.size() &&
           defined_[static_cast<size_t>(id)];
  }

  Status CheckShape(size_t index) {
    const GraphValue& value = graph_.values[index];
    if (value.spec.shape.size() > kMostDimensions || !IsSound(value.spec)) {
      return Broken("the shape of value " + std::to_string(index) + " cannot be");
    }
    return {};
  }

  Status Define(ValueId id) {
    if (id < 0 || static_cast<size_t>(id) >= defined_.size()) {
      return Broken("there is no value " + std::to_string(id));
    }
    if (defined_[static_cast<size_t>(id)]) {
      return Broken("value " + std::to_string(id) + " is given twice");
    }
    defined_[static_cast<size_t>(id)] = true;
    return {};
  }

  Status CheckInput(const GraphInput& input) {
    KERF_RETURN_IF_ERROR(Define(input.value));
    if (input.index < 0) return Broken("an input's index is negative");
    if (input.source != GraphInput::Source::kConstant) {
      return input.data.empty() ? Status() : Broken("an input that is no constant has data");
    }
    const uint64_t bytes = graph_.spec(input.value).bytes();
    if (bytes > kMostConstantBytes || input.data.size() != bytes) {
      return Broken("constant " + std::to_string(input.value) + " has " +
                    std::to_string(input.data.size()) + " bytes, its shape " +
                    std::to_string(bytes));
    }
    return {};
  }

  Status CheckNode(size_t index) {
    const GraphNode& node = graph_.nodes[index];
    const std::string name = "node " + std::to_string(index) + " (" + node.op + ")";
    if (node.op.empty()) return Broken("node " + std::to_string(index) + " has no operation");
    if (node.line < 0) return Broken(name + " has a negative line");
    for (const ValueId id : node.operands()) {
      if (!IsDefined(id)) {
        return Broken(name + " reads value " + std::to_string(id) + " before it is there");
      }
    }
    bool used = false;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      KERF_RETURN_IF_ERROR(Define(id));
      used = true;
    }
    return used ? Status() : Broken(name + " gives nothing");
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

Status CheckGraph(const Graph& graph) { return GraphChecker(graph).Check(); }

}  // namespace kerf
