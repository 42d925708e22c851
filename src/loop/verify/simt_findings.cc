#include "loop/verify/simt_findings.h"

#include "base/json_reader.h"

namespace kerf::verify {
namespace {

struct Line {
  std::string kind;
  std::string severity;
  std::string kernel;
  std::string block;
  std::string thread;
  int64_t line = 0;
  std::string detail;
};

bool Parse(std::string_view text, Line& out) {
  JsonReader reader(text);
  std::string key;
  std::string_view raw;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "kind") {
      reader.ReadString(out.kind);
    } else if (key == "severity") {
      reader.ReadString(out.severity);
    } else if (key == "kernel") {
      reader.ReadString(out.kernel);
    } else if (key == "block" && reader.ReadRaw(raw)) {
      out.block = std::string(raw);
    } else if (key == "thread" && reader.ReadRaw(raw)) {
      out.thread = std::string(raw);
    } else if (key == "line" && reader.Peek() == JsonType::kNumber) {
      reader.ReadInt(out.line);
    } else if (key == "detail") {
      reader.ReadString(out.detail);
    } else {
      reader.Skip();
    }
  }
  return reader.Finish();
}

std::string TextOf(const Line& line) {
  std::string text = line.kind;
  if (!line.kernel.empty()) text += " in " + line.kernel;
  if (line.line > 0) text += ", line " + std::to_string(line.line);
  if (line.block != "null" && !line.block.empty()) {
    text += ", block " + line.block + ", thread " + line.thread;
  }
  return text + ": " + line.detail;
}

Finding Judge(const Line& line) {
  const std::string text = TextOf(line);
  const auto has = [&](const char* word) { return line.kind.find(word) != std::string::npos; };
  const bool write = line.detail.rfind("write", 0) == 0;
  if (has("launch_refused")) return {VerdictStatus::kCallError, "launch_failed", text};
  if (has("race")) return {VerdictStatus::kRuntimeError, "race", text};
  if (has("barrier") || has("deadlock") || has("divergent")) {
    return {VerdictStatus::kRuntimeError, "barrier", text};
  }
  if (has("out_of_memory")) return {VerdictStatus::kOutOfMemory, "device_memory", text};
  if (has("unsupported")) return {VerdictStatus::kUnsupported, "feature", text};
  if (has("out_of_bounds") || has("bounds")) {
    return {VerdictStatus::kRuntimeError, write ? "out_of_bounds_write" : "out_of_bounds_read",
            text};
  }
  return {VerdictStatus::kRuntimeError, "device_error", text};
}

}  // namespace

SimtFindings ReadSimtFindings(std::string_view lines) {
  SimtFindings findings;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    Line line;
    if (Parse(lines.substr(0, end), line)) {
      findings.log += TextOf(line) + "\n";
      if (line.severity != "warning" && !findings.worst.bad()) findings.worst = Judge(line);
    }
    if (end == std::string_view::npos) break;
    lines.remove_prefix(end + 1);
  }
  return findings;
}

}  // namespace kerf::verify
