#include "llm/reply_parser.h"

#include <optional>

#include "llm/answer_search.h"
#include "llm/code_blocks.h"
#include "llm/code_language.h"
#include "llm/code_repair.h"

namespace kerf::llm {
namespace {

constexpr const char* kWantCode =
    "Reply with one JSON object {\"code\": \"...\", \"description\": \"...\"} and nothing else; "
    "the code complete, with quotes, backslashes and line ends escaped as JSON demands.";
constexpr const char* kTooLong =
    "If the limit on its length ended it, leave out explanations and comments.";

bool HasCode(const LenientValue& object) {
  const std::optional<std::string> code = TextOf(object.Find("code"));
  return code.has_value() && !IsBlank(*code);
}

// {"kernel": …}, {"cpp_code": …}: the last member that holds code and nothing else.
const std::string* CodeUnderAnotherName(const LenientValue& object, CodeLanguage language,
                                        std::string& name) {
  const std::string* code = nullptr;
  for (size_t i = 0; object.is_object() && i < object.items.size(); ++i) {
    const LenientValue& member = object.items[i];
    if (!member.is_string() || !IsBareCode(member.text, language)) continue;
    code = &member.text;
    name = object.names[i];
  }
  return code;
}

// A description that was sent as an object of its own, beside the block.
std::string DescriptionBeside(const Search& search, const std::string& prose) {
  for (auto object = search.found.objects.rbegin(); object != search.found.objects.rend();
       ++object) {
    const std::optional<std::string> text = TextOf(object->value.Find("description"));
    if (text.has_value()) return *text;
  }
  // What is left of {"code": ```…```, "description": …} without the block.
  if (prose.starts_with("\"description\"")) {
    const std::string object = "{" + prose;
    const LenientParse parse = ParseLenient(object, 0);
    if (const std::optional<std::string> text = TextOf(parse.value.Find("description"))) {
      return *text;
    }
  }
  return prose;
}

void Truncated(ParsedReply& parsed, const std::string& how) {
  parsed.truncated = true;
  parsed.complaint = "The reply was cut off: " + how + ". " + kTooLong + " " + kWantCode;
}

void TakeBlock(ParsedReply& parsed, const Markdown& markdown, const CodeBlock& block,
               const Search& search) {
  parsed.form = "block";
  parsed.code = block.text;
  parsed.description = DescriptionBeside(search, markdown.prose);
  parsed.repairs.emplace_back("code taken from a fenced block instead of JSON");
  if (markdown.blocks.size() > 1) {
    const auto index = &block - markdown.blocks.data() + 1;
    parsed.repairs.push_back("block " + std::to_string(index) + " of " +
                             std::to_string(markdown.blocks.size()) + " taken");
  }
}

bool TakeOtherMember(ParsedReply& parsed, const Search& search, CodeLanguage language) {
  for (auto object = search.found.objects.rbegin(); object != search.found.objects.rend();
       ++object) {
    std::string name;
    const std::string* code = CodeUnderAnotherName(object->value, language, name);
    if (code == nullptr) continue;
    parsed.form = "json";
    parsed.code = *code;
    parsed.description = TextOf(object->value.Find("description")).value_or("");
    parsed.repairs.insert(parsed.repairs.end(), object->repairs.begin(), object->repairs.end());
    parsed.repairs.push_back("code taken from the member \"" + name + "\"");
    return true;
  }
  return false;
}

std::string NoCodeComplaint(const std::string& text, const Search& search,
                            const Markdown& markdown) {
  if (search.broken != nullptr) return BrokenComplaint(text, *search.broken);
  for (const FoundObject& object : search.found.objects) {
    if (const LenientValue* code = object.value.Find("code")) {
      return std::string("The member \"code\" is ") +
             (code->is_string() || code->type == LenientValue::Type::kNull ? "empty" : "no text") +
             ".";
    }
    if (object.value.Find("description") != nullptr) return "The member \"code\" is missing.";
  }
  for (const CodeBlock& block : markdown.blocks) {
    if (block.label == "diff" || block.label == "patch") {
      return "The reply holds a patch; the whole code is needed.";
    }
  }
  if (!markdown.blocks.empty()) return "No block of the reply holds the code that was asked for.";
  return "The reply holds no code.";
}

// Without an object: blocks, then the whole text.
void TakeFromText(ParsedReply& parsed, const std::string& text, const Search& search,
                  CodeLanguage language, bool ended) {
  const Markdown markdown = ParseMarkdown(text);
  if (!markdown.blocks.empty() && !markdown.blocks.back().closed &&
      MayHold(markdown.blocks.back().label, language)) {
    if (!ended) return Truncated(parsed, "the last code block is not closed");
    parsed.repairs.emplace_back("the last code block is not closed, but the model had ended");
  }
  if (const CodeBlock* block = ChooseBlock(markdown, language)) {
    return TakeBlock(parsed, markdown, *block, search);
  }
  if (markdown.blocks.empty() && search.broken == nullptr && IsBareCode(text, language)) {
    parsed.form = "bare";
    parsed.code = text;
    parsed.repairs.emplace_back("the whole reply taken as code");
    return;
  }
  if (TakeOtherMember(parsed, search, language)) return;
  parsed.complaint = NoCodeComplaint(text, search, markdown) + " " + kWantCode;
}

void TakeObject(ParsedReply& parsed, const Search& search) {
  TakeRepairs(search, parsed.repairs);
  parsed.form = "json";
  const LenientValue* code = search.object->Find("code");
  if (!code->is_string()) parsed.repairs.emplace_back("\"code\" given as a list; lines joined");
  parsed.code = *TextOf(code);
  parsed.description = OptionalText(*search.object, "description", parsed.repairs);
}

void FinishCode(ParsedReply& parsed) {
  parsed.code = CleanText(parsed.code, parsed.repairs);
  RepairCode(parsed.code, parsed.repairs);
  if (IsBlank(parsed.code)) {
    parsed.complaint = std::string("The member \"code\" is empty. ") + kWantCode;
  } else if (const std::string line = FindElision(parsed.code); !line.empty()) {
    parsed.complaint = "The code leaves a part out (\"" + line.substr(0, 80) +
                       "\"); the whole code is needed. " + kWantCode;
  }
  if (!parsed.ok()) parsed.code.clear();
}

}  // namespace

const char* CutComplaint(Finish finish) {
  if (finish == Finish::kLength) {
    return "it was cut off at the limit of its length; answer in fewer words.";
  }
  if (finish == Finish::kFilter) {
    return "the server's content filter cut it off; answer with what was asked for and no more.";
  }
  return nullptr;
}

ParsedReply ParseCode(std::string_view reply, CodeLanguage language, Finish finish) {
  ParsedReply parsed;
  if (const char* cut = CutComplaint(finish)) {
    parsed.truncated = true;
    parsed.complaint = cut;
    return parsed;
  }
  Prepared prepared = Prepare(reply);
  parsed.repairs = std::move(prepared.repairs);
  if (!prepared.complaint.empty()) {
    parsed.truncated = prepared.truncated;
    parsed.complaint = prepared.complaint + " " + kWantCode;
    return parsed;
  }
  const Search search = SearchAnswer(prepared.text, HasCode, {"code", "description"});
  if (search.cut != nullptr) {
    Truncated(parsed, search.cut->error);
    return parsed;
  }
  if (search.object != nullptr) {
    TakeObject(parsed, search);
  } else {
    TakeFromText(parsed, prepared.text, search, language, finish == Finish::kStop);
  }
  if (parsed.ok()) FinishCode(parsed);
  return parsed;
}

}  // namespace kerf::llm
