#include "llm/sse_reader.h"

namespace kerf::llm {

bool SseReader::Push(std::string_view bytes) {
  while (!bytes.empty() && !overflowed_) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + event_.data.size() + part.size() > max_event_bytes_) {
      overflowed_ = true;
      break;
    }
    line_ += part;
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    EndLine();
    bytes.remove_prefix(end + 1);
  }
  return !overflowed_;
}

void SseReader::Finish() {
  if (overflowed_) return;
  if (!line_.empty()) EndLine();
  Dispatch();
}

void SseReader::EndLine() {
  std::string_view line = line_;
  if (first_line_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    Dispatch();
  } else if (line.front() != ':') {
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") {
      if (has_data_) event_.data += '\n';
      event_.data += value;
      has_data_ = true;
    } else if (name == "event") {
      event_.name = value;
    }
    // "id" and "retry" are for reconnecting, which a request for a reply never does.
  }
  line_.clear();
}

void SseReader::Dispatch() {
  if (has_data_) sink_(event_);
  event_ = {};
  has_data_ = false;
}

}  // namespace kerf::llm
