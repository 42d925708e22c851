// Reads the JSON that language models write, which is not always JSON.
//
// Beyond the standard it takes raw line ends and tabs in strings, trailing commas, single quotes,
// triple quotes, bare member names, Python's True, False and None, comments, and backslashes before
// characters that need none. What it took is listed in `repairs`. It never closes what the text
// left open: a text that ends inside the object is kTruncated, and no value comes out.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::llm {

struct LenientValue {
  enum class Type { kNull, kBool, kNumber, kString, kArray, kObject } type = Type::kNull;
  std::string text;  // of a string; of a number, its digits; of a bool, "true" or "false"
  std::vector<LenientValue> items;  // of a list; of an object, the values
  std::vector<std::string> names;   // of an object, one for each item; the last of a name counts

  // nullptr when there is none.
  [[nodiscard]] const LenientValue* Find(std::string_view name) const;
  [[nodiscard]] bool is_string() const { return type == Type::kString; }
  [[nodiscard]] bool is_object() const { return type == Type::kObject; }
};

struct LenientParse {
  enum class State { kWhole, kTruncated, kBroken } state = State::kBroken;
  LenientValue value;  // kWhole only
  size_t end = 0;      // behind the value; where reading stopped otherwise
  std::string error;   // "expected ':' after the name \"code\"" …
  std::set<std::string> repairs;
  std::set<std::string> names;  // members of the outermost object that were begun
};

// The value that begins at `from`, which must be '{', '[' or a quote.
LenientParse ParseLenient(std::string_view text, size_t from);

}  // namespace kerf::llm
