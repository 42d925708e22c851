#include "trace/verification_results.h"

#include <optional>

#include "base/json_reader.h"
#include "trace/journal_line.h"

namespace kerf::trace {
namespace {

struct Entry {
  std::string op;
  std::string task;
  int64_t step = -1;
  bool passed = false;
};

// Reads one object at the front of `text`; the length consumed, or 0 when it is not well-formed.
size_t ReadEntry(std::string_view text, Entry& entry) {
  JsonReader reader(text);
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    const JsonType type = reader.Peek();
    if (key == "task_name" && type == JsonType::kString) {
      reader.ReadString(entry.op);
    } else if (key == "task_id" && type == JsonType::kString) {
      reader.ReadString(entry.task);
    } else if (key == "step" && type == JsonType::kNumber) {
      reader.ReadInt(entry.step);
    } else if (key == "passed" && type == JsonType::kBool) {
      reader.ReadBool(entry.passed);
    } else {
      reader.Skip();
    }
  }
  return reader.ok() ? reader.offset() : 0;
}

}  // namespace

VerificationResults ReadVerificationResults(FileSystem& fs, const std::string& run_path) {
  VerificationResults results;
  const Result<std::string> content = fs.ReadFile(JoinPath(run_path, "verification_results.jsonl"));
  if (!content.ok()) return results;
  const std::string_view text = *content;
  size_t at = text.find('{');
  while (at != std::string_view::npos) {
    Entry entry;
    const size_t length = ReadEntry(text.substr(at), entry);
    if (length > 0 && entry.step >= 0 && entry.step < kMaxStep)
      results[{entry.op, entry.task, entry.step}] = entry.passed;
    // After damage, go on at the next object that begins a line.
    at = length > 0 ? text.find('{', at + length) : text.find("\n{", at);
    if (length == 0 && at != std::string_view::npos) ++at;
  }
  return results;
}

}  // namespace kerf::trace
