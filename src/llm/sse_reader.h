// Reads server-sent events from bytes as they arrive, split anywhere.
//
//   SseReader reader([&](const SseEvent& event) { decoder.OnEvent(event); });
//   if (!reader.Push(bytes)) …the server sends an event without end…
//   reader.Finish();
//
// Takes LF, CR and CRLF, a byte order mark, comments, data in several lines, and a last event
// without its blank line. Bytes of data are handed on as they are. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kerf::llm {

struct SseEvent {
  std::string name;  // of "event:"; empty when not given
  std::string data;  // lines joined by LF
};

class SseReader {
 public:
  using Sink = std::function<void(const SseEvent&)>;

  explicit SseReader(Sink sink, size_t max_event_bytes = size_t{16} << 20)
      : sink_(std::move(sink)), max_event_bytes_(max_event_bytes) {}

  // False when one event outgrows the limit; nothing is read after that.
  bool Push(std::string_view bytes);
  // The end of the stream: what stands unfinished is an event as well.
  void Finish();
  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  void EndLine();
  void Dispatch();

  const Sink sink_;
  const size_t max_event_bytes_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool first_line_ = true;
  bool after_cr_ = false;  // an LF now belongs to the line end before
  bool overflowed_ = false;
};

}  // namespace kerf::llm
