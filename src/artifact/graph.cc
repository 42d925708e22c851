#include "artifact/graph.h"

#include <cmath>

#include "base/json_writer.h"

namespace kerf {
namespace {

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text;
  JsonWriter(text).Double(value);
  return text;
}

void AddOperands(const GraphArg& arg, std::vector<ValueId>& operands) {
  if (const std::optional<ValueId> id = arg.AsValue()) operands.push_back(*id);
  for (const GraphArg& item : arg.items()) AddOperands(item, operands);
}

}  // namespace

GraphArg GraphArg::Bool(bool value) {
  GraphArg arg;
  arg.kind_ = Kind::kBool;
  arg.number_ = value ? 1 : 0;
  return arg;
}

GraphArg GraphArg::Int(int64_t value) {
  GraphArg arg;
  arg.kind_ = Kind::kInt;
  arg.number_ = value;
  return arg;
}

GraphArg GraphArg::Float(double value) {
  GraphArg arg;
  arg.kind_ = Kind::kFloat;
  arg.float_ = value;
  return arg;
}

GraphArg GraphArg::String(std::string text) {
  GraphArg arg;
  arg.kind_ = Kind::kString;
  arg.text_ = std::move(text);
  return arg;
}

GraphArg GraphArg::Type(DType dtype) {
  GraphArg arg;
  arg.kind_ = Kind::kDType;
  arg.number_ = static_cast<int64_t>(dtype);
  return arg;
}

GraphArg GraphArg::Value(ValueId id) {
  GraphArg arg;
  arg.kind_ = Kind::kValue;
  arg.number_ = id;
  return arg;
}

GraphArg GraphArg::List(std::vector<GraphArg> items) {
  GraphArg arg;
  arg.kind_ = Kind::kList;
  arg.items_ = std::move(items);
  return arg;
}

GraphArg GraphArg::Ints(const std::vector<int64_t>& values) {
  std::vector<GraphArg> items;
  items.reserve(values.size());
  for (const int64_t value : values) items.push_back(Int(value));
  return List(std::move(items));
}

std::optional<bool> GraphArg::AsBool() const {
  if (kind_ != Kind::kBool) return std::nullopt;
  return number_ != 0;
}

std::optional<int64_t> GraphArg::AsInt() const {
  if (kind_ != Kind::kInt) return std::nullopt;
  return number_;
}

std::optional<double> GraphArg::AsNumber() const {
  if (kind_ == Kind::kFloat) return float_;
  if (!is_number()) return std::nullopt;
  return static_cast<double>(number_);
}

std::optional<std::string> GraphArg::AsString() const {
  if (kind_ != Kind::kString) return std::nullopt;
  return text_;
}

std::optional<DType> GraphArg::AsDType() const {
  if (kind_ != Kind::kDType) return std::nullopt;
  return static_cast<DType>(number_);
}

std::optional<ValueId> GraphArg::AsValue() const {
  if (kind_ != Kind::kValue) return std::nullopt;
  return static_cast<ValueId>(number_);
}

std::optional<std::vector<int64_t>> GraphArg::AsInts() const {
  if (kind_ != Kind::kList) return std::nullopt;
  std::vector<int64_t> values;
  for (const GraphArg& item : items_) {
    if (item.kind_ != Kind::kInt) return std::nullopt;
    values.push_back(item.number_);
  }
  return values;
}

std::string GraphArg::ToString() const {
  switch (kind_) {
    case Kind::kNone:
      return "none";
    case Kind::kBool:
      return number_ != 0 ? "true" : "false";
    case Kind::kInt:
      return std::to_string(number_);
    case Kind::kFloat:
      return FloatText(float_);
    case Kind::kString:
      return "'" + text_ + "'";
    case Kind::kDType:
      return DTypeName(static_cast<DType>(number_));
    case Kind::kValue:
      return "%" + std::to_string(number_);
    case Kind::kList:
      break;
  }
  std::string text = "[";
  for (size_t i = 0; i < items_.size(); ++i) text += (i > 0 ? ", " : "") + items_[i].ToString();
  return text + "]";
}

const GraphArg& GraphNode::arg(std::string_view name) const {
  static const GraphArg none;
  for (const auto& [key, value] : args) {
    if (key == name) return value;
  }
  return none;
}

std::vector<ValueId> GraphNode::operands() const {
  std::vector<ValueId> operands;
  for (const auto& [key, value] : args) AddOperands(value, operands);
  return operands;
}

std::string GraphRefusal::ToString() const {
  std::string message = what;
  if (line > 0) message += " (line " + std::to_string(line) + ": " + text + ")";
  if (!detail.empty()) message += ": " + detail;
  return message;
}

}  // namespace kerf
