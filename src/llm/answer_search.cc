#include "llm/answer_search.h"

#include <algorithm>

#include "llm/code_repair.h"
#include "llm/thinking.h"

namespace kerf::llm {
namespace {

// A reply that is one JSON string holding the answer: {"code": …} encoded twice.
void DecodeWholeString(Prepared& prepared) {
  const size_t first = prepared.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || prepared.text[first] != '"') return;
  LenientParse parse = ParseLenient(prepared.text, first);
  if (parse.state != LenientParse::State::kWhole) return;
  if (!IsBlank(std::string_view(prepared.text).substr(parse.end))) return;
  if (parse.value.text.find('{') == std::string::npos) return;
  prepared.text = std::move(parse.value.text);
  prepared.repairs.emplace_back("JSON that was encoded twice decoded");
}

// The last object inside `value`, itself first, that fits.
const LenientValue* FindFitting(const LenientValue& value, const Fits& fits) {
  if (value.is_object() && fits(value)) return &value;
  const LenientValue* found = nullptr;
  for (const LenientValue& item : value.items) {
    if (const LenientValue* inner = FindFitting(item, fits)) found = inner;
  }
  return found;
}

std::string Around(std::string_view text, size_t at) {
  const size_t from = at > 30 ? at - 30 : 0;
  std::string near(text.substr(from, 60));
  for (char& c : near) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  std::vector<std::string> ignored;
  return CleanText(near, ignored);
}

}  // namespace

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Prepared Prepare(std::string_view reply) {
  Prepared prepared;
  prepared.text = CleanText(reply, prepared.repairs);
  if (IsBlank(prepared.text)) {
    prepared.complaint = "The reply was empty.";
    return prepared;
  }
  SplitText split = SplitThinking(prepared.text);
  if (!split.reasoning.empty()) prepared.repairs.emplace_back("thinking in the text removed");
  prepared.text = std::move(split.text);
  if (IsBlank(prepared.text)) {
    prepared.truncated = split.open;
    prepared.complaint = split.open ? "The reply ended inside its thinking, before the answer."
                                    : "The reply held only thinking and no answer.";
    return prepared;
  }
  DecodeWholeString(prepared);
  return prepared;
}

Search SearchAnswer(std::string_view text, const Fits& fits,
                    const std::vector<std::string>& names) {
  Search search;
  search.found = FindObjects(text);
  for (const UnreadObject& unread : search.found.unread) {
    const bool ours = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return unread.names.contains(name);
    });
    if (!ours) continue;
    if (unread.truncated && search.cut == nullptr) search.cut = &unread;
    if (!unread.truncated) search.broken = &unread;
  }
  for (const FoundObject& candidate : search.found.objects) {
    // What stands inside a cut-off answer is a part of it.
    if (search.cut != nullptr && candidate.from > search.cut->from) break;
    if (const LenientValue* object = FindFitting(candidate.value, fits)) {
      search.object = object;
      search.whole = &candidate;
    }
  }
  return search;
}

std::string BrokenComplaint(std::string_view text, const UnreadObject& unread) {
  return "The JSON could not be read: " + unread.error + ", near: " + Around(text, unread.at) +
         " .";
}

std::optional<std::string> TextOf(const LenientValue* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->text;
  if (value->type != LenientValue::Type::kArray) return std::nullopt;
  std::string lines;
  for (const LenientValue& item : value->items) {
    if (!item.is_string()) return std::nullopt;
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    lines += item.text;
  }
  return lines;
}

std::string OptionalText(const LenientValue& object, const char* name,
                         std::vector<std::string>& repairs) {
  const LenientValue* value = object.Find(name);
  const std::string quoted = std::string("\"") + name + "\"";
  if (value == nullptr || value->type == LenientValue::Type::kNull) {
    repairs.push_back("no " + quoted + "; left empty");
    return "";
  }
  std::optional<std::string> text = TextOf(value);
  if (!text.has_value()) {
    repairs.push_back(quoted + " is no text; left empty");
    return "";
  }
  if (!value->is_string()) repairs.push_back(quoted + " given as a list; lines joined");
  return *std::move(text);
}

void TakeRepairs(const Search& search, std::vector<std::string>& repairs) {
  repairs.insert(repairs.end(), search.whole->repairs.begin(), search.whole->repairs.end());
  if (search.object != &search.whole->value) {
    repairs.emplace_back("the answer stood inside another object");
  }
}

}  // namespace kerf::llm
