#include "base/json_place.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace kerf {
namespace {

const char* TypeName(JsonType type) {
  switch (type) {
    case JsonType::kNull:
      return "null";
    case JsonType::kBool:
      return "a truth value";
    case JsonType::kNumber:
      return "a number";
    case JsonType::kString:
      return "a text";
    case JsonType::kArray:
      return "a list";
    case JsonType::kObject:
      return "an object";
    case JsonType::kEnd:
      break;
  }
  return "nothing";
}

bool ReadNode(JsonReader& reader, JsonNode& node, std::string& twice) {
  node.type = reader.Peek();
  switch (node.type) {
    case JsonType::kObject: {
      std::string key;
      std::unordered_set<std::string> seen;
      for (reader.BeginObject(); reader.NextKey(key);) {
        if (!seen.insert(key).second) twice = key;
        node.members.push_back({key, {}});
        if (!ReadNode(reader, node.members.back().second, twice)) return false;
      }
      return reader.ok();
    }
    case JsonType::kArray:
      for (reader.BeginArray(); reader.NextElement();) {
        node.items.emplace_back();
        if (!ReadNode(reader, node.items.back(), twice)) return false;
      }
      return reader.ok();
    case JsonType::kString:
      return reader.ReadString(node.text);
    case JsonType::kBool:
      return reader.ReadBool(node.boolean);
    case JsonType::kNumber: {
      std::string_view raw;
      if (!reader.ReadRaw(raw)) return false;
      node.text = raw;
      return true;
    }
    default:
      return reader.ReadNull();
  }
}

std::string Shown(const JsonNode& node) {
  if (node.type == JsonType::kNumber) return Brief(node.text);
  if (node.type == JsonType::kString) return "\"" + Brief(node.text) + "\"";
  return TypeName(node.type);
}

template <typename T>
std::optional<T> WholeNumber(const std::string& text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string Brief(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most)) + "...";
}

bool JsonPlace::IsWhole() const {
  return is(JsonType::kNumber) && node_->text.find_first_of(".eE") == std::string::npos;
}

std::string JsonPlace::Where() const { return path_.empty() ? *file_ : *file_ + ": " + path_; }

Error JsonPlace::Wrong(const std::string& rule) const {
  return InvalidInput(Where() + ": " + rule);
}

std::optional<JsonPlace> JsonPlace::Find(std::string_view name) const {
  if (!is(JsonType::kObject)) return std::nullopt;
  for (const auto& [key, value] : node_->members) {
    if (key != name) continue;
    if (value.type == JsonType::kNull) return std::nullopt;
    const std::string path = path_.empty() ? key : path_ + "." + key;
    return JsonPlace(*file_, path, value);
  }
  return std::nullopt;
}

Result<JsonPlace> JsonPlace::Member(std::string_view name) const {
  if (!is(JsonType::kObject)) return Wrong(std::string("must be an object, not ") + Shown(*node_));
  if (const auto found = Find(name)) return *found;
  return Wrong("\"" + std::string(name) + "\" is missing");
}

std::vector<JsonPlace> JsonPlace::Items() const {
  std::vector<JsonPlace> places;
  if (!is(JsonType::kArray)) return places;
  places.reserve(node_->items.size());
  for (size_t i = 0; i < node_->items.size(); ++i) {
    places.emplace_back(*file_, path_ + "[" + std::to_string(i) + "]", node_->items[i]);
  }
  return places;
}

Result<std::vector<JsonPlace>> JsonPlace::Array() const {
  if (!is(JsonType::kArray)) return Wrong("must be a list, not " + Shown(*node_));
  return Items();
}

Status JsonPlace::OnlyMembers(const std::vector<std::string_view>& known) const {
  if (!is(JsonType::kObject)) return Wrong("must be an object, not " + Shown(*node_));
  for (const auto& [key, value] : node_->members) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string list;
    for (const std::string_view name : known)
      list += (list.empty() ? "" : ", ") + std::string(name);
    return Wrong("unknown member \"" + Brief(key) + "\"; known are " + list);
  }
  return {};
}

Result<std::string> JsonPlace::String() const {
  if (!is(JsonType::kString)) return Wrong("must be a text, not " + Shown(*node_));
  return node_->text;
}

Result<bool> JsonPlace::Bool() const {
  if (!is(JsonType::kBool)) return Wrong("must be true or false, not " + Shown(*node_));
  return node_->boolean;
}

Result<int64_t> JsonPlace::Int() const {
  if (!IsWhole()) return Wrong("must be a whole number, not " + Shown(*node_));
  if (const auto value = WholeNumber<int64_t>(node_->text)) return *value;
  return Wrong(Shown(*node_) + " does not fit in 64 bits");
}

Result<uint64_t> JsonPlace::Unsigned() const {
  if (!IsWhole()) return Wrong("must be a whole number, not " + Shown(*node_));
  if (!node_->text.empty() && node_->text[0] == '-') return Wrong("must not be negative");
  if (const auto value = WholeNumber<uint64_t>(node_->text)) return *value;
  return Wrong(Shown(*node_) + " does not fit in 64 bits");
}

Result<double> JsonPlace::Double() const {
  if (!is(JsonType::kNumber)) return Wrong("must be a number, not " + Shown(*node_));
  double value = 0;
  const std::string& text = node_->text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return Wrong(Shown(*node_) + " does not fit in a double");
  }
  if (error != std::errc() || end != text.data() + text.size()) return Wrong("must be a number");
  return value;
}

Result<std::vector<int64_t>> JsonPlace::Ints() const {
  KERF_ASSIGN_OR_RETURN(const std::vector<JsonPlace> places, Array());
  std::vector<int64_t> values;
  for (const JsonPlace& place : places) {
    KERF_ASSIGN_OR_RETURN(const int64_t value, place.Int());
    values.push_back(value);
  }
  return values;
}

Result<JsonDocument> JsonDocument::Parse(std::string file, std::string_view text) {
  auto state = std::make_unique<State>();
  state->file = std::move(file);
  JsonReader reader(text);
  std::string twice;
  const bool read = ReadNode(reader, state->node, twice) && reader.Finish();
  if (!read) return InvalidInput(state->file + ": not valid JSON: " + reader.error());
  if (!twice.empty()) {
    return InvalidInput(state->file + ": \"" + Brief(twice) + "\" is given twice in one object");
  }
  return JsonDocument(std::move(state));
}

}  // namespace kerf
