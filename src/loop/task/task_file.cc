#include "loop/task/task_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "base/hash.h"
#include "base/utf8.h"

namespace kerf::task {
namespace {

constexpr size_t kMostBytes = size_t{4} << 20;

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words of a line: names with their dots, and single other characters.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && (IsNameChar(line[end]) || line[end] == '.')) ++end;
    if (end == i) ++end;
    if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
      words.push_back(line.substr(i, end - i));
    }
    i = end;
  }
  return words;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string_view Package(std::string_view module) { return module.substr(0, module.find('.')); }

// What a masked source defines at its top level, and which packages it imports anywhere.
struct Outline {
  std::set<std::string, std::less<>> names;
  std::set<std::string, std::less<>> packages;
  std::map<std::string, size_t, std::less<>> inner;  // defined further in, and in which line
};

void AddImport(const std::vector<std::string_view>& words, bool top_level, Outline& outline) {
  if (words[0] == "from" && words.size() > 1) outline.packages.emplace(Package(words[1]));
  bool expect_package = words[0] == "import";
  for (size_t i = 1; i < words.size(); ++i) {
    if (expect_package) outline.packages.emplace(Package(words[i]));
    expect_package = words[0] == "import" && words[i] == ",";
    if (top_level) outline.names.emplace(words[i]);  // `from x import Model`
  }
}

Outline Read(std::string_view masked) {
  Outline outline;
  size_t number = 0;
  for (const std::string_view line : Lines(masked)) {
    ++number;
    const std::vector<std::string_view> words = Words(line);
    if (words.size() < 2) continue;
    const bool top_level = line[0] != ' ' && line[0] != '\t';
    if (words[0] == "import" || words[0] == "from") {
      AddImport(words, top_level, outline);
    } else if (words[0] == "class" || words[0] == "def") {
      if (top_level) outline.names.emplace(words[1]);
      if (!top_level) outline.inner.emplace(words[1], number);
    } else if (top_level && (words[1] == "=" || words[1] == ":")) {
      outline.names.emplace(words[0]);  // get_inputs = make_inputs
    }
  }
  return outline;
}

std::optional<Framework> FrameworkOfName(std::string_view stem) {
  for (const Framework framework : kFrameworks) {
    if (stem.ends_with(std::string("_") + FrameworkName(framework))) return framework;
  }
  return std::nullopt;
}

std::string Stem(const std::string& path) {
  std::string stem = BaseName(path);
  if (stem.ends_with(".py")) stem.resize(stem.size() - 3);
  return stem;
}

// Torch tasks often import numpy as well, and mindspore tasks always do.
Result<Framework> Detect(const std::string& path, const Outline& outline) {
  const auto imports = [&](Framework framework) {
    return outline.packages.contains(FrameworkName(framework));
  };
  const auto named = FrameworkOfName(Stem(path));
  if (named.has_value() && imports(*named)) return *named;
  if (imports(Framework::kTorch) && imports(Framework::kMindspore)) {
    return InvalidInput(path + " imports both torch and mindspore; say which with --framework");
  }
  for (const Framework framework : {Framework::kTorch, Framework::kMindspore, Framework::kNumpy}) {
    if (imports(framework)) return framework;
  }
  return InvalidInput(path +
                      " imports neither torch, mindspore nor numpy; say which with --framework");
}

// `open_line`: where a string begins that never ends, and hides what follows; 0 when there is none.
Status CheckParts(const std::string& path, const Outline& outline, size_t open_line) {
  std::string missing;
  std::string hint;
  const auto need = [&](const char* name, const char* what) {
    if (outline.names.contains(name)) return;
    missing += (missing.empty() ? "" : ", ") + std::string(what);
    const auto inner = outline.inner.find(name);
    if (inner == outline.inner.end()) return;
    hint += fmt::format("; line {} defines {}, but indented", inner->second, name);
  };
  need("Model", "class Model");
  if (!outline.names.contains("get_inputs_dyn_list")) need("get_inputs", "function get_inputs");
  need("get_init_inputs", "function get_init_inputs");
  if (missing.empty()) return {};
  if (open_line > 0) hint = fmt::format("; the string of line {} is never closed", open_line);
  return InvalidInput(path + ": Missing required components in task_desc: " + missing + hint);
}

// Goes through Python text and blanks what is no code.
class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text), out_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') Blank();
      } else if (c == '"' || c == '\'') {
        String(c);
      } else {
        ++at_;
      }
    }
    return std::move(out_);
  }

  // The line of a string in three quotes that never ends; 0 when there is none. After Run().
  [[nodiscard]] size_t open_line() const { return open_line_; }

 private:
  void Blank() {
    if (text_[at_] != '\n') out_[at_] = ' ';
    ++at_;
  }

  void String(char quote) {
    const bool triple = text_.substr(at_, 3) == std::string(3, quote);
    const size_t begin = at_;
    at_ += triple ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        Blank();
        if (at_ < text_.size()) Blank();
      } else if (triple && text_.substr(at_, 3) == std::string(3, quote)) {
        at_ += 3;
        return;
      } else if (!triple && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;  // a string that is never closed ends with its line
        return;
      } else {
        Blank();
      }
    }
    const auto from = text_.begin() + static_cast<ptrdiff_t>(begin);
    if (triple) open_line_ = static_cast<size_t>(std::count(text_.begin(), from, '\n')) + 1;
  }

  std::string_view text_;
  std::string out_;
  size_t at_ = 0;
  size_t open_line_ = 0;
};

}  // namespace

const char* FrameworkName(Framework framework) {
  switch (framework) {
    case Framework::kTorch:
      return "torch";
    case Framework::kNumpy:
      return "numpy";
    case Framework::kMindspore:
      return "mindspore";
  }
  return "unknown";
}

std::optional<Framework> ParseFramework(std::string_view name) {
  for (const Framework framework : kFrameworks) {
    if (name == FrameworkName(framework)) return framework;
  }
  return std::nullopt;
}

std::string TaskFile::ModuleName() const {
  return op_name + "_" + FrameworkName(framework) + ".py";
}

std::string MaskPython(std::string_view text) { return Masker(text).Run(); }

namespace {

// A name in another script: "日本" → "u65e5_u672c", so that two of them stay apart.
std::string NameOfCodePoints(const std::string& text) {
  std::string name;
  for (std::string_view rest = text; !rest.empty() && name.size() < 60;) {
    const Utf8Char next = DecodeUtf8(rest);
    rest.remove_prefix(next.length);
    if (next.value < 0x80) continue;
    name += fmt::format("{}u{:04x}", name.empty() ? "" : "_", static_cast<uint32_t>(next.value));
  }
  return name.empty() ? "task" : name;
}

}  // namespace

std::string OpName(const std::string& path) {
  std::string name = Stem(path);
  if (const auto framework = FrameworkOfName(name)) {
    name.resize(name.size() - std::string_view(FrameworkName(*framework)).size() - 1);
  }
  for (char& c : name) {
    if (!IsNameChar(c)) c = '_';
  }
  // KernelBench numbers its files.
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits > 0 && digits < name.size() && name[digits] == '_') name.erase(0, digits);
  name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return NameOfCodePoints(Stem(path));
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "op_");
  return name;
}

Result<TaskFile> MakeTaskFile(const std::string& path, std::string text,
                              std::optional<Framework> framework) {
  if (text.find('\0') != std::string::npos) {
    return InvalidInput(path + " holds a NUL byte: it is no Python source");
  }
  Masker masker(text);
  const Outline outline = Read(masker.Run());
  KERF_RETURN_IF_ERROR(CheckParts(path, outline, masker.open_line()));
  TaskFile task;
  if (framework.has_value()) {
    task.framework = *framework;
  } else {
    KERF_ASSIGN_OR_RETURN(task.framework, Detect(path, outline));
  }
  task.path = path;
  task.op_name = OpName(path);
  task.dynamic = outline.names.contains("get_inputs_dyn_list");
  task.sha256 = Sha256Hex(text);
  task.text = std::move(text);
  return task;
}

Result<TaskFile> ReadTaskFile(FileSystem& fs, const std::string& path,
                              std::optional<Framework> framework) {
  KERF_ASSIGN_OR_RETURN(std::string text, fs.ReadRange(path, 0, kMostBytes + 1));
  if (text.size() > kMostBytes) {
    return InvalidInput(path + " is larger than 4 MiB: it is no task file");
  }
  return MakeTaskFile(path, std::move(text), framework);
}

}  // namespace kerf::task
