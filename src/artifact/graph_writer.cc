#include <cmath>

#include "artifact/graph.h"
#include "base/base64.h"
#include "base/json_writer.h"

namespace kerf {
namespace {

constexpr const char* kSources[] = {"inputs", "params", "constant"};

// With a point or an exponent, so that it is read as a float again.
void WriteFloat(double value, JsonWriter& json) {
  if (!std::isfinite(value)) {
    const char* word = std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf");
    json.BeginObject().Key("float").String(word).EndObject();
    return;
  }
  std::string text;
  JsonWriter(text).Double(value);
  if (text.find_first_of(".eE") == std::string::npos) text += ".0";
  json.Raw(text);
}

void WriteArg(const GraphArg& arg, JsonWriter& json) {
  switch (arg.kind()) {
    case GraphArg::Kind::kNone:
      json.Null();
      break;
    case GraphArg::Kind::kBool:
      json.Bool(*arg.AsBool());
      break;
    case GraphArg::Kind::kInt:
      json.Int(*arg.AsInt());
      break;
    case GraphArg::Kind::kFloat:
      WriteFloat(*arg.AsNumber(), json);
      break;
    case GraphArg::Kind::kString:
      json.String(*arg.AsString());
      break;
    case GraphArg::Kind::kDType:
      json.BeginObject().Key("dtype").String(DTypeName(*arg.AsDType())).EndObject();
      break;
    case GraphArg::Kind::kValue:
      json.BeginObject().Key("value").Int(*arg.AsValue()).EndObject();
      break;
    case GraphArg::Kind::kList:
      json.BeginArray();
      for (const GraphArg& item : arg.items()) WriteArg(item, json);
      json.EndArray();
      break;
  }
}

void WriteInput(const GraphInput& input, JsonWriter& json) {
  json.BeginObject().Key("value").Int(input.value);
  json.Key("source").String(kSources[static_cast<size_t>(input.source)]);
  if (input.source == GraphInput::Source::kConstant) {
    json.Key("data").String(EncodeBase64(input.data));
  } else {
    json.Key("index").Int(input.index);
  }
  if (!input.name.empty()) json.Key("name").String(input.name);
  json.EndObject();
}

void WriteNode(const GraphNode& node, JsonWriter& json) {
  json.BeginObject().Key("op").String(node.op).Key("args").BeginObject();
  for (const auto& [name, arg] : node.args) {
    json.Key(name);
    WriteArg(arg, json);
  }
  json.EndObject().Key("outputs").BeginArray();
  for (const ValueId id : node.outputs) id == kNoValue ? json.Null() : json.Int(id);
  json.EndArray().Key("line").Int(node.line).Key("text").String(node.text).EndObject();
}

}  // namespace

std::string WriteGraph(const Graph& graph) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("format").String("kerf.graph").Key("version").Int(1);
  json.Key("framework").String(graph.framework);
  json.Key("framework_version").String(graph.framework_version);
  json.Key("capture").String(graph.capture).Key("specialised").BeginArray();
  for (const SpecialisedNumber& number : graph.specialised) {
    json.BeginObject().Key("index").Int(number.index).Key("value");
    WriteArg(number.value, json);
    json.EndObject();
  }
  json.EndArray().Key("values").BeginArray();
  for (const GraphValue& value : graph.values) {
    json.BeginObject().Key("name").String(value.name);
    json.Key("dtype").String(DTypeName(value.spec.dtype)).Key("shape").BeginArray();
    for (const int64_t size : value.spec.shape) json.Int(size);
    json.EndArray().EndObject();
  }
  json.EndArray().Key("inputs").BeginArray();
  for (const GraphInput& input : graph.inputs) WriteInput(input, json);
  json.EndArray().Key("nodes").BeginArray();
  for (const GraphNode& node : graph.nodes) WriteNode(node, json);
  json.EndArray().Key("outputs").BeginArray();
  for (const ValueId id : graph.outputs) json.Int(id);
  json.EndArray().EndObject();
  return text;
}

std::string WriteRefusal(const GraphRefusal& refusal) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("format").String("kerf.graph").Key("version").Int(1);
  json.Key("refused").BeginObject().Key("what").String(refusal.what);
  json.Key("line").Int(refusal.line).Key("text").String(refusal.text);
  json.Key("detail").String(refusal.detail).EndObject().EndObject();
  return text;
}

}  // namespace kerf
