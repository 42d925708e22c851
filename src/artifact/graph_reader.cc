// Reads docs/formats/graph.md. The text was written in a process that ran somebody's code, so
// nothing in it is believed.
#include <cmath>
#include <limits>

#include "artifact/graph.h"
#include "base/base64.h"
#include "base/json_reader.h"

namespace kerf {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostValues = 200'000;
constexpr size_t kMostNodes = 50'000;
constexpr int kMostNesting = 4;  // a list of lists of indices

class GraphReader {
 public:
  explicit GraphReader(std::string_view text) : json_(text) {}

  Result<CaptureOutcome> Read() {
    std::string key;
    for (json_.BeginObject(); NextKey(key);) ReadMember(key);
    if (!problem_.empty()) return Broken(problem_);
    if (!json_.Finish()) return Broken(json_.error());
    if (format_ != "kerf.graph") return Broken("the format is not kerf.graph");
    if (version_ != 1) return Broken("version " + std::to_string(version_) + " is not known");
    CaptureOutcome outcome;
    if (refusal_.has_value()) {
      if (refusal_->what.empty()) return Broken("a refusal that does not say what");
      outcome.refusal = std::move(refusal_);
      return outcome;
    }
    KERF_RETURN_IF_ERROR(CheckGraph(graph_));
    outcome.graph = std::move(graph_);
    return outcome;
  }

 private:
  bool NextKey(std::string& key) { return problem_.empty() && json_.NextKey(key); }
  bool NextElement() { return problem_.empty() && json_.NextElement(); }
  void Problem(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  static Error Broken(const std::string& why) { return Corrupt("graph: " + why); }

  void ReadMember(const std::string& key) {
    if (key == "format") {
      json_.ReadString(format_);
    } else if (key == "version") {
      json_.ReadInt(version_);
    } else if (key == "framework") {
      json_.ReadString(graph_.framework);
    } else if (key == "framework_version") {
      json_.ReadString(graph_.framework_version);
    } else if (key == "capture") {
      json_.ReadString(graph_.capture);
    } else if (key == "specialised") {
      for (json_.BeginArray(); NextElement();) ReadSpecialised();
    } else if (key == "values") {
      for (json_.BeginArray(); NextElement();) ReadValue();
    } else if (key == "inputs") {
      for (json_.BeginArray(); NextElement();) ReadInput();
    } else if (key == "nodes") {
      for (json_.BeginArray(); NextElement();) ReadNode();
    } else if (key == "outputs") {
      for (json_.BeginArray(); NextElement();) ReadId(graph_.outputs.emplace_back());
    } else if (key == "refused") {
      ReadRefusal();
    } else {
      Problem("the member '" + key + "' is not known");
    }
  }

  bool ReadId(ValueId& id) {
    int64_t number = 0;
    if (!json_.ReadInt(number)) return false;
    if (number < 0 || number > static_cast<int64_t>(kMostValues)) Problem("a value's number");
    id = static_cast<ValueId>(number);
    return true;
  }

  void ReadSpecialised() {
    SpecialisedNumber number;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "index") {
        json_.ReadInt(number.index);
      } else if (key == "value") {
        number.value = ReadArg(0);
      } else {
        Problem("'" + key + "' of a specialised number is not known");
      }
    }
    graph_.specialised.push_back(std::move(number));
  }

  void ReadValue() {
    GraphValue value;
    bool has_dtype = false;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "name") {
        json_.ReadString(value.name);
      } else if (key == "dtype") {
        has_dtype = ReadDType(value.spec.dtype);
      } else if (key == "shape") {
        value.spec.shape.clear();
        for (json_.BeginArray(); NextElement();) json_.ReadInt(value.spec.shape.emplace_back());
      } else {
        Problem("'" + key + "' of a value is not known");
      }
    }
    if (json_.ok() && !has_dtype) Problem("value '" + value.name + "' has no dtype");
    if (graph_.values.size() >= kMostValues) Problem("there are too many values");
    graph_.values.push_back(std::move(value));
  }

  bool ReadDType(DType& dtype) {
    std::string word;
    if (!json_.ReadString(word)) return false;
    const std::optional<DType> found = ParseDType(word);
    if (!found.has_value()) Problem("'" + word + "' is no element type");
    dtype = found.value_or(DType::kFloat32);
    return true;
  }

  void ReadInput() {
    GraphInput input;
    std::string source;
    std::string data;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "value") {
        ReadId(input.value);
      } else if (key == "source") {
        json_.ReadString(source);
      } else if (key == "index") {
        json_.ReadInt(input.index);
      } else if (key == "name") {
        json_.ReadString(input.name);
      } else if (key == "data") {
        json_.ReadString(data);
      } else {
        Problem("'" + key + "' of an input is not known");
      }
    }
    if (!SetSource(source, input)) Problem("'" + source + "' is no source of an input");
    std::optional<std::string> bytes = DecodeBase64(data);
    if (!bytes.has_value()) Problem("the data of a constant is no base64");
    input.data = std::move(bytes).value_or("");
    graph_.inputs.push_back(std::move(input));
  }

  static bool SetSource(const std::string& word, GraphInput& input) {
    if (word == "inputs") {
      input.source = GraphInput::Source::kInput;
    } else if (word == "params") {
      input.source = GraphInput::Source::kParam;
    } else if (word == "constant") {
      input.source = GraphInput::Source::kConstant;
    } else {
      return false;
    }
    return true;
  }

  void ReadNode() {
    GraphNode node;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "op") {
        json_.ReadString(node.op);
      } else if (key == "args") {
        std::string name;
        for (json_.BeginObject(); NextKey(name);) node.args.emplace_back(name, ReadArg(0));
      } else if (key == "outputs") {
        for (json_.BeginArray(); NextElement();) {
          ValueId& id = node.outputs.emplace_back(kNoValue);
          json_.Peek() == JsonType::kNull ? json_.ReadNull() : ReadId(id);
        }
      } else if (key == "line") {
        json_.ReadInt(node.line);
      } else if (key == "text") {
        json_.ReadString(node.text);
      } else {
        Problem("'" + key + "' of a node is not known");
      }
    }
    if (graph_.nodes.size() >= kMostNodes) Problem("there are too many nodes");
    graph_.nodes.push_back(std::move(node));
  }

  GraphArg ReadArg(int depth) {
    switch (json_.Peek()) {
      case JsonType::kBool: {
        bool flag = false;
        json_.ReadBool(flag);
        return GraphArg::Bool(flag);
      }
      case JsonType::kNumber:
        return ReadNumber();
      case JsonType::kString: {
        std::string text;
        json_.ReadString(text);
        return GraphArg::String(std::move(text));
      }
      case JsonType::kArray:
        return ReadList(depth);
      case JsonType::kObject:
        return ReadTagged();
      default:
        json_.ReadNull();
        return {};
    }
  }

  // 1 is an int and 1.0 a float, as Python writes them.
  GraphArg ReadNumber() {
    std::string_view digits;
    if (!json_.ReadRaw(digits)) return {};
    JsonReader number(digits);
    if (digits.find_first_of(".eE") == std::string_view::npos) {
      int64_t value = 0;
      if (!number.ReadInt(value)) Problem(std::string(digits) + " does not fit 64 bits");
      return GraphArg::Int(value);
    }
    double value = 0;
    if (!number.ReadDouble(value)) Problem(std::string(digits) + " is no number");
    return GraphArg::Float(value);
  }

  GraphArg ReadList(int depth) {
    std::vector<GraphArg> items;
    if (depth >= kMostNesting) {
      Problem("lists are nested too deep");
      return {};
    }
    for (json_.BeginArray(); NextElement();) items.push_back(ReadArg(depth + 1));
    return GraphArg::List(std::move(items));
  }

  // {"value": 3}, {"dtype": "float32"} or {"float": "inf"}.
  GraphArg ReadTagged() {
    GraphArg arg;
    int members = 0;
    std::string key;
    for (json_.BeginObject(); NextKey(key); ++members) {
      if (key == "value") {
        ValueId id = kNoValue;
        ReadId(id);
        arg = GraphArg::Value(id);
      } else if (key == "dtype") {
        DType dtype = DType::kFloat32;
        ReadDType(dtype);
        arg = GraphArg::Type(dtype);
      } else if (key == "float") {
        arg = ReadSpecialFloat();
      } else {
        Problem("an argument with the member '" + key + "'");
      }
    }
    if (members != 1) Problem("an argument that is an object has one member");
    return arg;
  }

  GraphArg ReadSpecialFloat() {
    std::string word;
    json_.ReadString(word);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (word == "inf") return GraphArg::Float(kInfinity);
    if (word == "-inf") return GraphArg::Float(-kInfinity);
    if (word != "nan") Problem("'" + word + "' is no float");
    return GraphArg::Float(std::numeric_limits<double>::quiet_NaN());
  }

  void ReadRefusal() {
    GraphRefusal& refusal = refusal_.emplace();
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "what") {
        json_.ReadString(refusal.what);
      } else if (key == "line") {
        json_.ReadInt(refusal.line);
      } else if (key == "text") {
        json_.ReadString(refusal.text);
      } else if (key == "detail") {
        json_.ReadString(refusal.detail);
      } else {
        Problem("'" + key + "' of a refusal is not known");
      }
    }
  }

  JsonReader json_;
  std::string problem_;
  std::string format_;
  int64_t version_ = 0;
  Graph graph_;
  std::optional<GraphRefusal> refusal_;
};

}  // namespace

Result<CaptureOutcome> ParseCapture(std::string_view json) {
  if (json.size() > kMostBytes) return Corrupt("graph: the text is larger than 64 MiB");
  return GraphReader(json).Read();
}

Result<Graph> ParseGraph(std::string_view json) {
  KERF_ASSIGN_OR_RETURN(CaptureOutcome outcome, ParseCapture(json));
  if (outcome.refusal.has_value()) {
    return InvalidInput("the task cannot be captured: " + outcome.refusal->ToString());
  }
  return std::move(*outcome.graph);
}

}  // namespace kerf
