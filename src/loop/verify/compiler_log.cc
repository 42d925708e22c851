#include "loop/verify/compiler_log.h"

#include <set>
#include <vector>

namespace kerf::verify {
namespace {

bool LineHas(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// g++ and clang++ write "file:3:7: error: …", NVRTC and nvcc "file(3): error: …", linkers
// "undefined reference".
bool IsError(std::string_view line) {
  return LineHas(line, ": error:") || LineHas(line, ": fatal error:") ||
         LineHas(line, "): error") || LineHas(line, "undefined reference to") ||
         LineHas(line, "undefined symbol") || LineHas(line, "multiple definition of") ||
         LineHas(line, "internal compiler error") || LineHas(line, "ld returned") ||
         line.substr(0, 6) == "error:";
}

bool IsOtherMessage(std::string_view line) {
  return LineHas(line, ": warning:") || LineHas(line, "): warning") || LineHas(line, ": note:") ||
         LineHas(line, "): note") || LineHas(line, ": remark") ||
         LineHas(line, "In file included from") || LineHas(line, "                 from ") ||
         LineHas(line, "compilation terminated") || LineHas(line, ": In function") ||
         LineHas(line, ": In instantiation") || LineHas(line, "required from") ||
         LineHas(line, "error generated.") || LineHas(line, "errors generated.") ||
         LineHas(line, "ld returned") || LineHas(line, "error detected in the compilation") ||
         LineHas(line, "errors detected in the comp");
}

std::string ReasonOf(std::string_view line) {
  if (LineHas(line, "No such file or directory") || LineHas(line, "file not found") ||
      LineHas(line, "could not open source file") || LineHas(line, "cannot open source file")) {
    return "missing_header";
  }
  if (LineHas(line, "undefined reference") || LineHas(line, "undefined symbol"))
    return "undefined_symbol";
  if (LineHas(line, "error")) return "syntax";
  return "other";
}

}  // namespace

CompilerLog CleanCompilerLog(std::string_view raw, size_t most) {
  CompilerLog log;
  // The same error in ten instantiations of one template is one error.
  std::set<std::string_view> seen;
  size_t left_out = 0;
  bool keeping = false;
  bool seen_any = false;
  for (const std::string_view line : Lines(raw)) {
    if (IsError(line) && !LineHas(line, "ld returned")) {
      ++log.errors;
      if (!seen_any) log.reason = ReasonOf(line);
      seen_any = true;
      keeping = seen.insert(line).second && log.text.size() + line.size() < most;
      if (!keeping) ++left_out;
    } else if (IsOtherMessage(line)) {
      keeping = false;
    }
    if (keeping && log.text.size() + line.size() < most) log.text += std::string(line) + "\n";
  }
  if (!seen_any) {
    log.reason = "other";
    const size_t tail = raw.size() > most ? raw.size() - most : 0;
    log.text = std::string(raw.substr(tail));
  }
  if (left_out > 0) {
    log.text += "… " + std::to_string(left_out) + " more errors, or the same again\n";
  }
  return log;
}

}  // namespace kerf::verify
