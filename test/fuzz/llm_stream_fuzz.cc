// Bytes of an endpoint. The first byte chooses how they are split; the split must not matter.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "expect.h"
#include "llm/codec.h"
#include "llm/import_provider.h"
#include "llm/retry_policy.h"
#include "llm/sse_reader.h"

namespace {

using kerf::Expect;
using kerf::llm::Codec;
using kerf::llm::Decoded;
using kerf::llm::SseEvent;
using kerf::llm::SseReader;

std::string Events(std::string_view bytes, size_t chunk) {
  std::string events;
  SseReader reader(
      [&](const SseEvent& event) { events += event.name + "\x01" + event.data + "\x02"; }, 4096);
  bool more = true;
  for (size_t at = 0; at < bytes.size() && more; at += chunk) {
    more = reader.Push(bytes.substr(at, chunk));
  }
  reader.Finish();
  return reader.overflowed() ? "overflow" : events;
}

void Decode(const Codec& codec, std::string_view bytes) {
  const std::unique_ptr<kerf::llm::Decoder> decoder = codec.MakeDecoder();
  SseReader reader([&](const SseEvent& event) { decoder->OnEvent(event); });
  reader.Push(bytes);
  reader.Finish();
  const Decoded& decoded = decoder->decoded();
  Expect(decoded.finished == !decoded.finish_raw.empty(), "finished means a reason was given");
  Expect(decoded.usage.input_total >= 0 && decoded.usage.output_total >= 0, "counts are counts");
  kerf::llm::ToReply(decoded);
  const std::unique_ptr<kerf::llm::Decoder> body = codec.MakeDecoder();
  body->OnBody(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Events(bytes, bytes.size() + 1);
  const std::string split = Events(bytes, size_t{data[0]} + 1);
  Expect(whole == split, "the same events however they are split");
  Decode(*kerf::llm::MakeOpenAiCodec(), bytes);
  Decode(*kerf::llm::MakeAnthropicCodec(), bytes);
  kerf::llm::ApiError error = kerf::llm::ParseErrorBody(data[0] * 3, bytes);
  kerf::llm::Classify(error);
  (void)kerf::llm::ReadAikgRecording(bytes, "fuzz");
  kerf::llm::ServerWait({{"retry-after", std::string(bytes)}}, 0);
  kerf::llm::ParseReset(bytes, 0);
  return 0;
}
