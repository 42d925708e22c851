// One answer of an endpoint: collected as it arrives, then judged. For http_provider.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/codec.h"
#include "llm/http_engine.h"
#include "llm/retry_policy.h"
#include "llm/sse_reader.h"

namespace kerf::llm {

// One answer as it arrives: a stream or a body, by its content type, then by its first byte.
class Answer {
 public:
  explicit Answer(std::unique_ptr<Decoder> decoder)
      : decoder_(std::move(decoder)),
        reader_([this](const SseEvent& event) { decoder_->OnEvent(event); }) {}

  void OnHeaders(int status, HttpHeaders headers) {
    status_ = status;
    headers_ = std::move(headers);
  }

  // False when it is longer than any answer.
  bool OnBody(std::string_view bytes);
  void Finish();

  [[nodiscard]] const Decoded& decoded() const { return decoder_->decoded(); }
  [[nodiscard]] const HttpHeaders& headers() const { return headers_; }
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool no_json() const { return mode_ == Mode::kOther; }
  [[nodiscard]] bool too_long() const { return too_long_; }
  [[nodiscard]] bool has_text() const {
    return !decoded().text.empty() || !decoded().reasoning.empty();
  }

 private:
  enum class Mode { kUndecided, kStream, kJson, kOther };

  void Decide(std::string_view bytes);

  std::unique_ptr<Decoder> decoder_;
  SseReader reader_;
  Mode mode_ = Mode::kUndecided;
  int status_ = 0;
  HttpHeaders headers_;
  std::string body_;
  size_t received_ = 0;
  bool too_long_ = false;
};

// What an attempt came to.
struct Failure {
  ErrorClass kind = ErrorClass::kPermanent;
  ErrorCode code = ErrorCode::kUnavailable;
  std::string cause;
  std::string param;  // for kDropParam
};

// nullopt when the answer is whole.
std::optional<Failure> Judge(const Answer& answer, const HttpOutcome& outcome);

}  // namespace kerf::llm
