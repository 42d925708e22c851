// A task's computation as a graph of tensor operations: what capture gives and the synthesizer
// plans. The JSON is docs/formats/graph.md, with the operations' normal form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifact/tensor.h"
#include "base/result.h"

namespace kerf {

// An index into Graph::values.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

struct GraphValue {
  std::string name;
  TensorSpec spec;
};

// One argument of a node: a number, a tensor, a list of such.
class GraphArg {
 public:
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kDType, kValue, kList };

  GraphArg() = default;
  static GraphArg Bool(bool value);
  static GraphArg Int(int64_t value);
  static GraphArg Float(double value);
  static GraphArg String(std::string text);
  static GraphArg Type(DType dtype);
  static GraphArg Value(ValueId id);
  static GraphArg List(std::vector<GraphArg> items);
  static GraphArg Ints(const std::vector<int64_t>& values);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_none() const { return kind_ == Kind::kNone; }
  [[nodiscard]] bool is_number() const {
    return kind_ == Kind::kBool || kind_ == Kind::kInt || kind_ == Kind::kFloat;
  }
  // Each is for its own kind; asked of another it gives nullopt, or an empty list.
  [[nodiscard]] std::optional<bool> AsBool() const;
  [[nodiscard]] std::optional<int64_t> AsInt() const;
  [[nodiscard]] std::optional<double> AsNumber() const;  // of a bool, an int or a float
  [[nodiscard]] std::optional<std::string> AsString() const;
  [[nodiscard]] std::optional<DType> AsDType() const;
  [[nodiscard]] std::optional<ValueId> AsValue() const;
  [[nodiscard]] std::optional<std::vector<int64_t>> AsInts() const;  // a list of ints only
  [[nodiscard]] const std::vector<GraphArg>& items() const { return items_; }

  // "%3", "1e-05", "[1, 2]", "float32": for people.
  [[nodiscard]] std::string ToString() const;
  bool operator==(const GraphArg&) const = default;

 private:
  Kind kind_ = Kind::kNone;
  int64_t number_ = 0;  // kBool, kInt, kDType, kValue
  double float_ = 0;
  std::string text_;
  std::vector<GraphArg> items_;
};

struct GraphInput {
  enum class Source { kInput, kParam, kConstant };
  ValueId value = kNoValue;
  Source source = Source::kInput;
  int64_t index = 0;  // in kerf_call's inputs or params (include/kerf/kernel.h)
  std::string name;   // kParam
  std::string data;   // kConstant: the bytes, little-endian, row-major
};

struct GraphNode {
  std::string op;  // "aten.sum.dim_IntList"
  std::vector<std::pair<std::string, GraphArg>> args;
  std::vector<ValueId> outputs;  // kNoValue where nobody uses it
  int64_t line = 0;              // of the task file; 0 when unknown
  std::string text;

  // kNone when there is no such argument.
  [[nodiscard]] const GraphArg& arg(std::string_view name) const;
  // Every tensor it reads, in the order of the arguments; one may come twice.
  [[nodiscard]] std::vector<ValueId> operands() const;
};

// A Python number among the inputs that the graph takes for granted.
struct SpecialisedNumber {
  int64_t index = 0;  // in kerf_call's inputs
  GraphArg value;
};

struct Graph {
  std::string framework;
  std::string framework_version;
  std::string capture;
  std::vector<SpecialisedNumber> specialised;
  std::vector<GraphValue> values;
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;
  std::vector<ValueId> outputs;

  [[nodiscard]] const TensorSpec& spec(ValueId id) const {
    return values[static_cast<size_t>(id)].spec;
  }
};

// Why a task cannot be captured: an answer, not an error.
struct GraphRefusal {
  std::string what;    // "data-dependent control flow"
  int64_t line = 0;    // of the task file; 0 when unknown
  std::string text;    // of that line
  std::string detail;  // a sentence

  [[nodiscard]] std::string ToString() const;
};

// Exactly one of the two.
struct CaptureOutcome {
  std::optional<Graph> graph;
  std::optional<GraphRefusal> refusal;
};

// kCorrupt with what is wrong. A graph that comes out is sound: shapes are, every value is defined
// once and before its use, constants have the bytes of their shape.
Result<CaptureOutcome> ParseCapture(std::string_view json);
// The same, where a refusal is an error: kInvalidInput.
Result<Graph> ParseGraph(std::string_view json);

// What ParseGraph() asks of a graph, for one that was made in memory.
Status CheckGraph(const Graph& graph);

std::string WriteGraph(const Graph& graph);
std::string WriteRefusal(const GraphRefusal& refusal);

inline constexpr uint64_t kMostConstantBytes = uint64_t{1} << 20;

}  // namespace kerf
