// An endpoint's refusal in whatever shape it comes: OpenAI's and Anthropic's objects, Ollama's
// string, FastAPI's detail, older vLLM's, or a proxy's HTML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace kerf::llm {

struct ApiError {
  int status = 0;  // 0: inside a stream that had begun well
  std::string type;
  std::string code;
  std::string param;
  std::string message;  // the server's words; of HTML its text

  // "HTTP 429 rate_limit_exceeded: You exceeded …"
  [[nodiscard]] std::string Text() const;
};

ApiError ParseErrorBody(int status, std::string_view body);

// The value of "error" (or the whole body, for those that have no such member): object or string.
bool ReadErrorValue(JsonReader& reader, ApiError& error);

// What can be done about it.
enum class ErrorClass {
  kRetry,      // overloaded, rate limit, timeout, server fault: later perhaps
  kRateLimit,  // kRetry, and it is our rate
  kDropParam,  // the parameter in `param` is not supported: once without it
  kPermanent,  // no retry cures it
};

// By status first, then code, then words. May set `error.param` from the words.
ErrorClass Classify(ApiError& error);

}  // namespace kerf::llm
