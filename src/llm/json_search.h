// Finds the JSON objects in a reply, wherever they stand: in prose, in fences, after drafts.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "llm/lenient_json.h"

namespace kerf::llm {

struct FoundObject {
  size_t from = 0;
  LenientValue value;
  std::set<std::string> repairs;
};

// An object that was begun and could not be read to its end.
struct UnreadObject {
  size_t from = 0;
  size_t at = 0;  // where reading stopped
  bool truncated = false;
  std::string error;
  std::set<std::string> names;
};

struct FoundObjects {
  std::vector<FoundObject> objects;  // outermost ones, in order
  std::vector<UnreadObject> unread;  // those with at least one member's name
};

// Time is linear in the size of the text: when it nests too strangely, what was found so far
// counts.
FoundObjects FindObjects(std::string_view text);

}  // namespace kerf::llm
