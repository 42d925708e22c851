#include "llm/reply_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "llm/code_blocks.h"
#include "llm/code_repair.h"
#include "llm/json_search.h"
#include "llm/thinking.h"

namespace kerf::llm {
namespace {

constexpr const char* kWantCode =
    "Reply with one JSON object {\"code\": \"...\", \"description\": \"...\"} and nothing else; "
    "the code complete, with quotes, backslashes and line ends escaped as JSON demands.";
constexpr const char* kWantCheck =
    "Reply with one JSON object {\"result\": number, \"reason\": \"...\", \"suggestions\": "
    "\"...\"} and nothing else.";
constexpr const char* kTooLong =
    "If the limit on its length ended it, leave out explanations and comments.";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// ---- The reply before anybody looks for an answer in it.

struct Prepared {
  std::string text;
  std::vector<std::string> repairs;
  std::string complaint;
  bool truncated = false;
};

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

// ---- The object that was asked for.

using Fits = std::function<bool(const LenientValue&)>;

// The last object inside `value`, itself first, that fits.
const LenientValue* FindFitting(const LenientValue& value, const Fits& fits) {
  if (value.is_object() && fits(value)) return &value;
  const LenientValue* found = nullptr;
  for (const LenientValue& item : value.items) {
    if (const LenientValue* inner = FindFitting(item, fits)) found = inner;
  }
  for (const auto& [name, member] : value.members) {
    if (const LenientValue* inner = FindFitting(member, fits)) found = inner;
  }
  return found;
}

struct Search {
  FoundObjects found;
  const LenientValue* object = nullptr;  // the answer
  const FoundObject* whole = nullptr;    // the outermost object it stands in
  const UnreadObject* cut = nullptr;     // an answer that was begun and cut off
  const UnreadObject* broken = nullptr;  // one that is no JSON
};

// `names`: the members that tell an answer from any other object.
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

std::string Around(std::string_view text, size_t at) {
  const size_t from = at > 30 ? at - 30 : 0;
  std::string near(text.substr(from, 60));
  for (char& c : near) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  std::vector<std::string> ignored;
  return CleanText(near, ignored);
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

// A text that may be absent; how it had to be read is noted.
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

// ---- Code.

bool HasCode(const LenientValue& object) {
  const std::optional<std::string> code = TextOf(object.Find("code"));
  return code.has_value() && !IsBlank(*code);
}

template <size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 20> kCppLabels = {
    "cpp", "c++", "cc",  "cxx", "c",     "cuda",  "cu",    "cuda_c", "cuda-c",    "cuda-cpp",
    "hip", "h",   "hpp", "cuh", "c++11", "c++14", "c++17", "c++20",  "cplusplus", "hip-cpp"};
constexpr std::array<std::string_view, 9> kPythonLabels = {
    "python", "py", "python3", "triton", "torch", "pytorch", "numpy", "swft", "ipython"};
constexpr std::array<std::string_view, 22> kOtherLabels = {
    "json",   "jsonc", "json5",    "bash",     "sh",   "shell", "console", "diff",
    "patch",  "yaml",  "yml",      "makefile", "make", "cmake", "asm",     "ptx",
    "output", "log",   "markdown", "md",       "xml",  "html"};

enum class LabelFit { kWrong, kUnknown, kRight };

LabelFit FitOf(const std::string& label, CodeLanguage language) {
  if (IsOneOf(label, kOtherLabels)) return LabelFit::kWrong;
  const bool cpp = IsOneOf(label, kCppLabels);
  const bool python = IsOneOf(label, kPythonLabels);
  switch (language) {
    case CodeLanguage::kAny:
      return cpp || python ? LabelFit::kRight : LabelFit::kUnknown;
    case CodeLanguage::kAul:
      if (label == "aul" || python) return LabelFit::kRight;
      return cpp ? LabelFit::kWrong : LabelFit::kUnknown;
    case CodeLanguage::kCpp:
      if (cpp) return LabelFit::kRight;
      return python ? LabelFit::kWrong : LabelFit::kUnknown;
    case CodeLanguage::kPython:
      if (python) return LabelFit::kRight;
      return cpp ? LabelFit::kWrong : LabelFit::kUnknown;
  }
  return LabelFit::kUnknown;
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

bool BeginsALine(std::string_view text, std::string_view word) {
  return text.starts_with(word) || text.find("\n" + std::string(word)) != std::string_view::npos;
}

// Whether the code defines what a candidate of that language has to.
bool Defines(std::string_view code, CodeLanguage language) {
  const bool cpp =
      ContainsAny(code, {"KERF_KERNEL", "kerf_kernel", "PYBIND11_MODULE", "TORCH_LIBRARY"});
  const bool python = BeginsALine(code, "def ") || BeginsALine(code, "class ");
  switch (language) {
    case CodeLanguage::kCpp:
      return cpp;
    case CodeLanguage::kPython:
      return python;
    case CodeLanguage::kAul:
      return python || ContainsAny(code, {"@sub_kernel", "import aul", "sketch "});
    case CodeLanguage::kAny:
      return cpp || python;
  }
  return false;
}

// An answer in JSON that could not be read is no code.
bool LooksLikeAnswerObject(std::string_view code) {
  const size_t first = code.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && code[first] == '{' &&
         ContainsAny(code, {"\"code\"", "'code'"});
}

const CodeBlock* ChooseBlock(const Markdown& markdown, CodeLanguage language) {
  const CodeBlock* best = nullptr;
  int best_rank = 0;
  for (const CodeBlock& block : markdown.blocks) {
    const LabelFit fit = FitOf(block.label, language);
    if (fit == LabelFit::kWrong || IsBlank(block.text) || LooksLikeAnswerObject(block.text)) {
      continue;
    }
    const bool defines = Defines(block.text, language);
    const int rank = (defines ? 2 : 0) + (fit == LabelFit::kRight ? 2 : 1);
    // Among those that define something the last, else the longest.
    const bool better = best == nullptr || rank > best_rank ||
                        (rank == best_rank && (defines || block.text.size() > best->text.size()));
    if (better) {
      best = &block;
      best_rank = rank;
    }
  }
  return best;
}

bool FirstLineIsCode(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  static constexpr std::array<std::string_view, 22> kStarts = {
      "#include", "#pragma", "#define", "#if",     "#!",      "//",         "/*",        "import ",
      "from ",    "def ",    "class ",  "@",       "extern",  "using",      "namespace", "template",
      "\"\"\"",   "'''",     "# ",      "sketch ", "static ", "KERF_KERNEL"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

// "# Title" is a heading in Markdown and a comment in Python; an import decides.
bool IsBareCode(std::string_view text, CodeLanguage language) {
  if (!FirstLineIsCode(text) || !Defines(text, language)) return false;
  return BeginsALine(text, "import ") || BeginsALine(text, "from ") ||
         BeginsALine(text, "#include") || BeginsALine(text, "sketch ") ||
         BeginsALine(text, "@sub_kernel");
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
                  CodeLanguage language) {
  const Markdown markdown = ParseMarkdown(text);
  if (!markdown.blocks.empty() && !markdown.blocks.back().closed &&
      FitOf(markdown.blocks.back().label, language) != LabelFit::kWrong) {
    return Truncated(parsed, "the last code block is not closed");
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

// ---- Checks.

std::optional<int64_t> IntOf(const LenientValue* value, std::vector<std::string>& repairs) {
  if (value == nullptr) return std::nullopt;
  if (value->type == LenientValue::Type::kBool) {
    repairs.emplace_back("\"result\" given as true or false");
    return value->text == "true" ? 1 : 0;
  }
  std::string_view digits = value->text;
  if (value->is_string()) {
    repairs.emplace_back("\"result\" given as text");
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  } else if (value->type != LenientValue::Type::kNumber) {
    return std::nullopt;
  }
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (std::abs(number) > 1e9 || number != std::floor(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

bool HasResult(const LenientValue& object) {
  std::vector<std::string> ignored;
  return IntOf(object.Find("result"), ignored).has_value();
}

std::string AllowedText(const std::vector<int64_t>& allowed) {
  std::string text;
  for (size_t i = 0; i < allowed.size(); ++i) {
    if (i > 0) text += i + 1 == allowed.size() ? " or " : ", ";
    text += std::to_string(allowed[i]);
  }
  return text;
}

std::string NoCheckComplaint(const std::string& text, const Search& search,
                             const std::vector<int64_t>& allowed) {
  if (search.broken != nullptr) return BrokenComplaint(text, *search.broken);
  for (const FoundObject& object : search.found.objects) {
    if (object.value.Find("result") != nullptr) {
      return "The member \"result\" is no whole number; it must be " + AllowedText(allowed) + ".";
    }
    if (object.value.Find("reason") != nullptr) return "The member \"result\" is missing.";
  }
  return "The reply holds no such object.";
}

}  // namespace

CodeLanguage LanguageOf(Impl impl) {
  switch (impl) {
    case Impl::kCpp:
    case Impl::kCudaC:
    case Impl::kHip:
      return CodeLanguage::kCpp;
    case Impl::kTriton:
    case Impl::kSwft:
      return CodeLanguage::kPython;
    case Impl::kTorchExt:
      return CodeLanguage::kAny;
  }
  return CodeLanguage::kAny;
}

ParsedReply ParseCode(std::string_view reply, CodeLanguage language) {
  ParsedReply parsed;
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
    TakeFromText(parsed, prepared.text, search, language);
  }
  if (parsed.ok()) FinishCode(parsed);
  return parsed;
}

ParsedCheck ParseCheck(std::string_view reply, const std::vector<int64_t>& allowed) {
  ParsedCheck parsed;
  Prepared prepared = Prepare(reply);
  parsed.repairs = std::move(prepared.repairs);
  parsed.truncated = prepared.truncated;
  if (!prepared.complaint.empty()) {
    parsed.complaint = prepared.complaint + " " + kWantCheck;
    return parsed;
  }
  const Search search = SearchAnswer(prepared.text, HasResult, {"result", "reason", "suggestions"});
  if (search.cut != nullptr) {
    parsed.truncated = true;
    parsed.complaint = "The reply was cut off: " + search.cut->error + ". " + kWantCheck;
    return parsed;
  }
  if (search.object == nullptr) {
    parsed.complaint = NoCheckComplaint(prepared.text, search, allowed) + " " + kWantCheck;
    return parsed;
  }
  TakeRepairs(search, parsed.repairs);
  parsed.result = *IntOf(search.object->Find("result"), parsed.repairs);
  parsed.reason = OptionalText(*search.object, "reason", parsed.repairs);
  parsed.suggestions = OptionalText(*search.object, "suggestions", parsed.repairs);
  if (std::find(allowed.begin(), allowed.end(), parsed.result) == allowed.end()) {
    parsed.complaint = "The member \"result\" is " + std::to_string(parsed.result) +
                       "; it must be " + AllowedText(allowed) + ". " + kWantCheck;
  }
  return parsed;
}

}  // namespace kerf::llm
