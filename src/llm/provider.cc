#include "llm/provider.h"

namespace kerf::llm {

const char* FinishName(Finish finish) {
  switch (finish) {
    case Finish::kStop:
      return "stop";
    case Finish::kLength:
      return "length";
    case Finish::kTools:
      return "tools";
    case Finish::kFilter:
      return "filter";
    case Finish::kRefusal:
      return "refusal";
    case Finish::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Finish ParseFinish(std::string_view raw) {
  if (raw == "stop" || raw == "end_turn" || raw == "stop_sequence" || raw == "eos") {
    return Finish::kStop;
  }
  if (raw == "length" || raw == "max_tokens" || raw == "model_context_window_exceeded") {
    return Finish::kLength;
  }
  if (raw == "tool_calls" || raw == "function_call" || raw == "tool_use" || raw == "tools") {
    return Finish::kTools;
  }
  if (raw == "content_filter" || raw == "filter") return Finish::kFilter;
  if (raw == "refusal") return Finish::kRefusal;
  return Finish::kUnknown;
}

}  // namespace kerf::llm
