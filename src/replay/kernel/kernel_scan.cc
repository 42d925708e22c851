// A scanner, not a parser: kernels are written against headers that kerf does not have. It reads
// the arguments' name from kernel_entry's parameter, and every NAME[index] in the code; an index is
// a number, a constant of the same file (constexpr, #define, enumerator), or "computed".
#include "replay/kernel/kernel_scan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "artifact/kernel_args.h"

namespace kerf::kernel {
namespace {

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

size_t SkipSpace(std::string_view code, size_t at) {
  while (at < code.size() && IsSpace(code[at])) ++at;
  return at;
}

std::string_view WordAt(std::string_view code, size_t at) {
  if (at >= code.size() || !IsWordStart(code[at])) return {};
  size_t end = at;
  while (end < code.size() && IsWord(code[end])) ++end;
  return code.substr(at, end - at);
}

class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), code_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      if (Starts("//")) {
        Until(LineEnd());
      } else if (Starts("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        Until(end == std::string_view::npos ? text_.size() : end + 2);
      } else if (text_[at_] == '"') {
        Literal();
      } else if (text_[at_] == '\'' && !InNumber()) {
        Until(QuoteEnd('\''));
      } else {
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  [[nodiscard]] bool Starts(std::string_view word) const {
    return text_.substr(at_, word.size()) == word;
  }
  // Lines joined by a backslash are one.
  [[nodiscard]] size_t LineEnd() const {
    size_t end = at_;
    for (;;) {
      end = text_.find('\n', end);
      if (end == std::string_view::npos) return text_.size();
      if (text_[end - 1] != '\\') return end;
      ++end;
    }
  }
  // 1'000'000 is a number.
  [[nodiscard]] bool InNumber() const {
    size_t begin = at_;
    while (begin > 0 && (IsWord(text_[begin - 1]) || text_[begin - 1] == '\'')) --begin;
    return begin < at_ && std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
  }
  [[nodiscard]] size_t QuoteEnd(char quote) const {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, text_.size());
  }
  void Literal() {
    const bool raw = at_ > 0 && text_[at_ - 1] == 'R';
    if (!raw) {
      // An include's name is no string: it is left for nobody to read, either.
      Until(QuoteEnd('"'));
      return;
    }
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) {
      Until(QuoteEnd('"'));
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t end = text_.find(close, open);
    Until(end == std::string_view::npos ? text_.size() : end + close.size());
  }
  void Until(size_t end) {
    for (; at_ < end; ++at_) {
      if (code_[at_] != '\n') code_[at_] = ' ';
    }
  }

  std::string_view text_;
  std::string code_;
  size_t at_ = 0;
};

// The directive's words: {"if", "0"}; empty when the line is none.
std::vector<std::string> Directive(std::string_view line) {
  size_t at = SkipSpace(line, 0);
  if (at >= line.size() || line[at] != '#') return {};
  at = SkipSpace(line, at + 1);
  const std::string word(WordAt(line, at));
  size_t rest = SkipSpace(line, at + word.size());
  std::string_view tail = line.substr(std::min(rest, line.size()));
  while (!tail.empty() && IsSpace(tail.back())) tail.remove_suffix(1);
  return {word, std::string(tail)};
}

// Blanks `#if 0` up to its #else, #elif or #endif.
void DropDeadBlocks(std::string& code) {
  int depth = 0;  // of #if's inside a dead block; 0: alive
  for (size_t begin = 0; begin < code.size();) {
    const size_t end = std::min(code.find('\n', begin), code.size());
    const auto words = Directive(std::string_view(code).substr(begin, end - begin));
    const std::string kind = words.empty() ? "" : words[0];
    if (depth == 0) {
      if (kind == "if" && words[1] == "0") depth = 1;
    } else {
      if (kind == "if" || kind == "ifdef" || kind == "ifndef") ++depth;
      if (kind == "endif" || (depth == 1 && (kind == "else" || kind == "elif"))) --depth;
      if (depth > 0) std::fill(code.begin() + begin, code.begin() + end, ' ');
    }
    begin = end + 1;
  }
}

std::optional<int64_t> Number(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '\'') digits += c;
  }
  while (!digits.empty() &&
         std::string_view("uUlL").find(digits.back()) != std::string_view::npos) {
    digits.pop_back();
  }
  const bool hex = digits.rfind("0x", 0) == 0 || digits.rfind("0X", 0) == 0;
  int64_t value = 0;
  const char* begin = digits.data() + (hex ? 2 : 0);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
  if (begin == end || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool HasWord(std::string_view text, std::string_view wanted) {
  for (size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + 1)) {
    const bool begins = at == 0 || !IsWord(text[at - 1]);
    if (begins && WordAt(text, at) == wanted) return true;
  }
  return false;
}

// Whether the statement that holds `at` declares something that cannot change.
bool InConstantDeclaration(std::string_view code, size_t at) {
  constexpr std::string_view kEnds = ";{}";
  const size_t open = at == 0 ? std::string_view::npos : code.find_last_of(kEnds, at - 1);
  const size_t begin = open == std::string_view::npos ? 0 : open + 1;
  const std::string_view statement = code.substr(begin, at - begin);
  if (HasWord(statement, "constexpr") || HasWord(statement, "const")) return true;
  if (open == std::string_view::npos || open == 0 || code[open] != '{') return false;
  const size_t before = code.find_last_of(kEnds, open - 1);
  const size_t head = before == std::string_view::npos ? 0 : before + 1;
  return HasWord(code.substr(head, open - head), "enum");
}

// const NAME = number, enumerators and #define NAME number. A name with two values is no constant.
std::map<std::string, int64_t> Constants(std::string_view code) {
  std::map<std::string, int64_t> constants;
  std::vector<std::string> doubtful;
  const auto add = [&](std::string_view name, std::string_view value) {
    const auto number = Number(Trimmed(value));
    if (name.empty() || !number) return;
    const auto [entry, fresh] = constants.emplace(std::string(name), *number);
    if (!fresh && entry->second != *number) doubtful.emplace_back(name);
  };
  for (size_t begin = 0; begin < code.size();) {
    const size_t end = std::min(code.find('\n', begin), code.size());
    const auto words = Directive(code.substr(begin, end - begin));
    if (!words.empty() && words[0] == "define") {
      const std::string_view name = WordAt(words[1], 0);
      add(name, std::string_view(words[1]).substr(name.size()));
    }
    begin = end + 1;
  }
  for (size_t at = code.find('='); at != std::string_view::npos; at = code.find('=', at + 1)) {
    size_t name_end = at;
    while (name_end > 0 && IsSpace(code[name_end - 1])) --name_end;
    size_t name_begin = name_end;
    while (name_begin > 0 && IsWord(code[name_begin - 1])) --name_begin;
    if (!InConstantDeclaration(code, name_begin)) continue;
    const size_t value_end = std::min(code.find_first_of(";,}", at), code.size());
    add(WordAt(code, name_begin), code.substr(at + 1, value_end - at - 1));
  }
  for (const std::string& name : doubtful) constants.erase(name);
  return constants;
}

// The parameter's name when the text in parentheses is one pointer to int64_t.
std::optional<std::string> PointerName(std::string_view parameter) {
  if (parameter.find(',') != std::string_view::npos) return std::nullopt;
  if (parameter.find("int64_t") == std::string_view::npos) return std::nullopt;
  const size_t star = parameter.find('*');
  if (star == std::string_view::npos || star != parameter.rfind('*')) return std::nullopt;
  std::string_view name = Trimmed(parameter.substr(star + 1));
  for (const std::string_view word : {"__restrict__", "__restrict", "restrict", "const"}) {
    if (name.substr(0, word.size()) == word) name = Trimmed(name.substr(word.size()));
  }
  if (!name.empty() && WordAt(name, 0) != name) return std::nullopt;
  return std::string(name);
}

template <typename Use>
void ForEachWord(std::string_view code, const Use& use) {
  for (size_t at = 0; at < code.size();) {
    if (std::isdigit(static_cast<unsigned char>(code[at])) != 0) {
      while (at < code.size() && IsWord(code[at])) ++at;
      continue;
    }
    const std::string_view word = WordAt(code, at);
    if (word.empty()) {
      ++at;
      continue;
    }
    use(word, at + word.size());
    at += word.size();
  }
}

// The text between the bracket at `open` and its partner; nullopt when there is none.
std::optional<std::string_view> Inside(std::string_view code, size_t open, char left, char right) {
  if (open >= code.size() || code[open] != left) return std::nullopt;
  // Nobody's index is longer; without a bound nested brackets would cost the square of their
  // number.
  constexpr size_t kMost = 4096;
  int depth = 0;
  for (size_t at = open; at < code.size() && at - open < kMost; ++at) {
    if (code[at] == left) ++depth;
    if (code[at] == right && --depth == 0) return code.substr(open + 1, at - open - 1);
  }
  return std::nullopt;
}

std::string EntryParameter(std::string_view code, KernelFacts& facts) {
  std::string name = "args";
  ForEachWord(code, [&](std::string_view word, size_t end) {
    if (word != "kernel_entry" || facts.has_entry) return;
    const auto parameter = Inside(code, SkipSpace(code, end), '(', ')');
    if (!parameter) return;
    const auto pointer = PointerName(*parameter);
    if (!pointer) return;
    facts.has_entry = true;
    if (!pointer->empty()) name = *pointer;
  });
  return name;
}

void AddSlot(std::string_view index, const std::map<std::string, int64_t>& constants,
             KernelFacts& facts) {
  index = Trimmed(index);
  auto slot = Number(index);
  if (!slot) {
    const auto constant = constants.find(std::string(index));
    if (constant != constants.end()) slot = constant->second;
  }
  if (slot && *slot >= 0 && *slot < kArgSlots) {
    facts.slots.insert(static_cast<int>(*slot));
  } else {
    facts.computed_slots = true;
  }
}

}  // namespace

std::string CodeOnly(std::string_view text) {
  std::string code = Blanker(text).Run();
  DropDeadBlocks(code);
  return code;
}

KernelFacts ScanKernel(std::string_view text) {
  const std::string code = CodeOnly(text);
  KernelFacts facts;
  const std::string name = EntryParameter(code, facts);
  const std::map<std::string, int64_t> constants = Constants(code);
  ForEachWord(code, [&](std::string_view word, size_t end) {
    const size_t next = SkipSpace(code, end);
    if (word == name || word == "args") {
      if (const auto index = Inside(code, next, '[', ']')) AddSlot(*index, constants, facts);
    } else if (word == "SPMD_LOCAL_CONTEXT_INDEX" || word == "SPMD_GLOBAL_CONTEXT_INDEX") {
      facts.needs_context = true;
    } else if (word == "get_block_idx" || word == "get_block_num" || word == "get_sub_block_id") {
      // Without arguments it reads a register of the core, not the context.
      const auto arguments = Inside(code, next, '(', ')');
      if (arguments && !Trimmed(*arguments).empty()) facts.needs_context = true;
    }
    facts.tests_cube = facts.tests_cube || word == "__DAV_CUBE__";
    facts.tests_vec = facts.tests_vec || word == "__DAV_VEC__";
  });
  facts.needs_context = facts.needs_context || facts.slots.count(kLocalContextSlot) != 0 ||
                        facts.slots.count(kGlobalContextSlot) != 0;
  return facts;
}

}  // namespace kerf::kernel
