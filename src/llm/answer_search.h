// Finds the object that was asked for in a reply. The part of reply_parser.cc and check_parser.cc
// that is the same for both.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/json_search.h"

namespace kerf::llm {

bool IsBlank(std::string_view text);

// The reply before anybody looks for an answer in it: clean text without thinking.
struct Prepared {
  std::string text;
  std::vector<std::string> repairs;
  std::string complaint;
  bool truncated = false;
};

Prepared Prepare(std::string_view reply);

using Fits = std::function<bool(const LenientValue&)>;

// Moved, never copied: the pointers lead into `found`.
struct Search {
  Search() = default;
  Search(Search&&) = default;

  FoundObjects found;
  const LenientValue* object = nullptr;  // the answer
  const FoundObject* whole = nullptr;    // the outermost object it stands in
  const UnreadObject* cut = nullptr;     // an answer that was begun and cut off
  const UnreadObject* broken = nullptr;  // one that is no JSON
};

// `names`: the members that tell an answer from any other object.
Search SearchAnswer(std::string_view text, const Fits& fits, const std::vector<std::string>& names);

// Why the JSON could not be read, with the text around the place.
std::string BrokenComplaint(std::string_view text, const UnreadObject& unread);

// A text, or a list of lines.
std::optional<std::string> TextOf(const LenientValue* value);
// A text that may be absent; how it had to be read is noted.
std::string OptionalText(const LenientValue& object, const char* name,
                         std::vector<std::string>& repairs);

void TakeRepairs(const Search& search, std::vector<std::string>& repairs);

}  // namespace kerf::llm
