// A JSON document in memory, where every value knows its file and its path, so that an error can
// name both: "spec.json: args[2].shape[0]: must be a whole number, not \"a\"".
//
//   KERF_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse("spec.json", text));
//   KERF_ASSIGN_OR_RETURN(const JsonPlace args, document.root().Member("args"));
//   for (const JsonPlace& arg : args.Items()) …
//
// Numbers keep their text: 18446744073709551615 stays exact, and 1.0 can be told from 1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"

namespace kerf {

struct JsonMember;

// A plain value. `text` is a string's bytes or a number's digits.
struct JsonNode {
  JsonType type = JsonType::kNull;
  bool boolean = false;
  std::string text;
  std::vector<JsonNode> items;
  std::vector<JsonMember> members;  // in file order, names unique
};

// No pair: clang 14 wants the node to be complete for that.
struct JsonMember {
  std::string first;
  JsonNode second;
};

// Points into a JsonDocument, which must live longer.
class JsonPlace {
 public:
  JsonPlace(const std::string& file, std::string path, const JsonNode& node)
      : file_(&file), path_(std::move(path)), node_(&node) {}

  [[nodiscard]] JsonType type() const { return node_->type; }
  [[nodiscard]] const JsonNode& node() const { return *node_; }
  [[nodiscard]] bool is(JsonType type) const { return node_->type == type; }
  // A number written without fraction and exponent.
  [[nodiscard]] bool IsWhole() const;
  // "file: path"
  [[nodiscard]] std::string Where() const;
  // kInvalidInput "file: path: rule".
  [[nodiscard]] Error Wrong(const std::string& rule) const;

  // Of an object; nullopt when absent. null counts as absent.
  [[nodiscard]] std::optional<JsonPlace> Find(std::string_view name) const;
  [[nodiscard]] Result<JsonPlace> Member(std::string_view name) const;
  // Of an array; empty for anything else.
  [[nodiscard]] std::vector<JsonPlace> Items() const;
  [[nodiscard]] Result<std::vector<JsonPlace>> Array() const;
  // An error that names the first member not in `known`.
  [[nodiscard]] Status OnlyMembers(const std::vector<std::string_view>& known) const;

  [[nodiscard]] Result<std::string> String() const;
  [[nodiscard]] Result<bool> Bool() const;
  [[nodiscard]] Result<int64_t> Int() const;
  [[nodiscard]] Result<uint64_t> Unsigned() const;
  [[nodiscard]] Result<double> Double() const;
  [[nodiscard]] Result<std::vector<int64_t>> Ints() const;

 private:
  const std::string* file_;
  std::string path_;
  const JsonNode* node_;
};

class JsonDocument {
 public:
  // `file` is for messages only. A name given twice in one object is an error: readers disagree on
  // which one counts.
  static Result<JsonDocument> Parse(std::string file, std::string_view text);

  [[nodiscard]] JsonPlace root() const { return {state_->file, "", state_->node}; }

 private:
  struct State {
    std::string file;
    JsonNode node;
  };
  explicit JsonDocument(std::unique_ptr<const State> state) : state_(std::move(state)) {}
  std::unique_ptr<const State> state_;  // places point into it, also after a move
};

// How a value would be shown in a message: cut to `most` bytes.
std::string Brief(std::string_view text, size_t most = 60);

}  // namespace kerf
