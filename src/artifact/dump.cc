#include "artifact/dump.h"

#include <charconv>

#include "base/hash.h"

namespace kerf {

const char* DumpFormatName(DumpFormat format) {
  switch (format) {
    case DumpFormat::kKernelArgs:
      return "kernel_args_dump";
    case DumpFormat::kTensor:
      return "tensor_dump";
    case DumpFormat::kArgs:
      break;
  }
  return "args_dump";
}

const char* DumpStageName(DumpStage stage) {
  return stage == DumpStage::kBefore ? "before_dispatch" : "after_completion";
}

std::string TaskIdText(uint64_t task_id) { return "0x" + Hex64(task_id); }

std::optional<uint64_t> ParseTaskId(const std::string& text) {
  const bool prefixed = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* begin = text.data() + (prefixed ? 2 : 0);
  const char* end = text.data() + text.size();
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  if (begin == end || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string FuncIdsText(const std::set<int64_t>& ids) {
  std::string text = "{";
  for (const int64_t id : ids) text += (text.size() > 1 ? ", " : "") + std::to_string(id);
  return text + "}";
}

std::string Dispatch::ToString() const {
  std::string text = dispatch_id ? "dispatch " + std::to_string(*dispatch_id) : "";
  std::string more;
  if (!func_ids.empty()) more = "func " + FuncIdsText(func_ids);
  if (task_id && text.empty()) {
    text = "task " + TaskIdText(*task_id);
  } else if (task_id) {
    more += (more.empty() ? "task " : ", task ") + TaskIdText(*task_id);
  }
  if (text.empty()) return more.empty() ? "a dispatch without ids" : more;
  return more.empty() ? text : text + " (" + more + ")";
}

}  // namespace kerf
