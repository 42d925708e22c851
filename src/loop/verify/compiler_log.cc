#include "loop/verify/compiler_log.h"

#include <set>
#include <vector>

namespace kerf::verify {
namespace {

bool Has(std::string_view line, std::string_view word) {
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
  return Has(line, ": error:") || Has(line, ": fatal error:") || Has(line, "): error") ||
         Has(line, "undefined reference to") || Has(line, "undefined symbol") ||
         Has(line, "multiple definition of") || Has(line, "internal compiler error") ||
         Has(line, "ld returned") || line.substr(0, 6) == "error:";
}

bool IsOtherMessage(std::string_view line) {
  return Has(line, ": warning:") || Has(line, "): warning") || Has(line, ": note:") ||
         Has(line, "): note") || Has(line, ": remark") || Has(line, "In file included from") ||
         Has(line, "                 from ") || Has(line, "compilation terminated") ||
         Has(line, ": In function") || Has(line, ": In instantiation") ||
         Has(line, "required from") || Has(line, "error generated.") ||
         Has(line, "errors generated.") || Has(line, "ld returned") ||
         Has(line, "error detected in the compilation") || Has(line, "errors detected in the comp");
}

std::string ReasonOf(std::string_view line) {
  if (Has(line, "No such file or directory") || Has(line, "file not found") ||
      Has(line, "could not open source file") || Has(line, "cannot open source file")) {
    return "missing_header";
  }
  if (Has(line, "undefined reference") || Has(line, "undefined symbol")) return "undefined_symbol";
  if (Has(line, "error")) return "syntax";
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
    if (IsError(line) && !Has(line, "ld returned")) {
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
