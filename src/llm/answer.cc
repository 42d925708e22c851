#include "llm/answer.h"

namespace kerf::llm {
namespace {

// No model writes so much; a server that goes on for ever would fill the memory.
constexpr size_t kLongestBody = size_t{64} << 20;

ErrorCode CodeOf(const ApiError& error) {
  switch (error.status) {
    case 401:
    case 403:
      return ErrorCode::kDenied;
    default:
      return ErrorCode::kUnavailable;
  }
}

Failure FromApiError(ApiError error) {
  Failure failure;
  failure.kind = Classify(error);
  failure.code = CodeOf(error);
  failure.cause = error.Text();
  failure.param = error.param;
  return failure;
}

Failure FromTransport(const HttpOutcome& outcome) {
  using Kind = HttpOutcome::Kind;
  Failure failure{ErrorClass::kRetry, ErrorCode::kUnavailable, outcome.message, ""};
  switch (outcome.kind) {
    case Kind::kTimeout:
      failure.code = ErrorCode::kTimeout;
      break;
    case Kind::kTls:
      failure.kind = ErrorClass::kPermanent;
      failure.code = ErrorCode::kDenied;
      break;
    case Kind::kBadUrl:
      failure.kind = ErrorClass::kPermanent;
      failure.code = ErrorCode::kInvalidInput;
      break;
    case Kind::kCancelled:
      failure.kind = ErrorClass::kPermanent;
      failure.cause = "stopped";
      break;
    case Kind::kCut:
      failure.cause = "the answer broke off: " + outcome.message;
      break;
    default:
      break;
  }
  return failure;
}

}  // namespace

bool Answer::OnBody(std::string_view bytes) {
  if (mode_ == Mode::kUndecided) Decide(bytes);
  received_ += bytes.size();
  if (received_ > kLongestBody) {
    too_long_ = true;
    return false;
  }
  if (mode_ == Mode::kStream) return reader_.Push(bytes);
  body_ += bytes;
  return true;
}

void Answer::Finish() {
  if (mode_ == Mode::kStream) reader_.Finish();
  if (mode_ == Mode::kJson) decoder_->OnBody(body_);
}

void Answer::Decide(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (status_ < 200 || status_ >= 300) {
    mode_ = Mode::kOther;
    return;
  }
  const std::string* type = FindHeader(headers_, "content-type");
  if (type != nullptr && type->starts_with("text/event-stream")) {
    mode_ = Mode::kStream;
  } else if (type != nullptr && type->starts_with("application/json")) {
    mode_ = Mode::kJson;
  } else if (first != std::string_view::npos) {
    mode_ = bytes[first] == '{' ? Mode::kJson : bytes[first] == '<' ? Mode::kOther : Mode::kStream;
  }
}

std::optional<Failure> Judge(const Answer& answer, const HttpOutcome& outcome) {
  if (answer.status() != 0 && (answer.status() < 200 || answer.status() >= 300)) {
    if (outcome.kind != HttpOutcome::Kind::kCancelled) {
      return FromApiError(ParseErrorBody(answer.status(), answer.body()));
    }
  }
  if (answer.too_long()) {
    return Failure{ErrorClass::kPermanent, ErrorCode::kUnavailable,
                   "the answer is longer than 64 MiB and does not end", ""};
  }
  const Decoded& decoded = answer.decoded();
  if (decoded.error.has_value()) return FromApiError(*decoded.error);
  if (decoded.finished && outcome.kind != HttpOutcome::Kind::kCancelled) return std::nullopt;
  if (outcome.kind != HttpOutcome::Kind::kAnswered) return FromTransport(outcome);
  if (answer.no_json()) {
    ApiError error = ParseErrorBody(answer.status(), answer.body());
    return Failure{ErrorClass::kRetry, ErrorCode::kUnavailable,
                   "the answer is no model's (a proxy's page?): " + error.message, ""};
  }
  if (!decoded.broken.empty()) {
    return Failure{ErrorClass::kRetry, ErrorCode::kUnavailable, decoded.broken, ""};
  }
  return Failure{ErrorClass::kRetry, ErrorCode::kUnavailable,
                 "the answer ended without saying why it stopped", ""};
}

}  // namespace kerf::llm
