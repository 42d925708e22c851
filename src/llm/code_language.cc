#include "llm/code_language.h"

#include <algorithm>
#include <array>

#include "llm/answer_search.h"

namespace kerf::llm {
namespace {

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

bool MayHold(const std::string& label, CodeLanguage language) {
  return FitOf(label, language) != LabelFit::kWrong;
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

// "# Title" is a heading in Markdown and a comment in Python; an import decides.
bool IsBareCode(std::string_view text, CodeLanguage language) {
  if (!FirstLineIsCode(text) || !Defines(text, language)) return false;
  return BeginsALine(text, "import ") || BeginsALine(text, "from ") ||
         BeginsALine(text, "#include") || BeginsALine(text, "sketch ") ||
         BeginsALine(text, "@sub_kernel");
}

}  // namespace kerf::llm
