// When to try again, and how long to wait before. Pure: time and chance are handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "llm/api_error.h"

namespace kerf::llm {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// nullptr when absent; the last one when repeated.
const std::string* FindHeader(const HttpHeaders& headers, std::string_view name);

// "6m0s", "12ms", "1h", "0.5" (seconds) → seconds.
std::optional<double> ParseDuration(std::string_view text);
// "Sun, 15 Nov 2026 10:00:00 GMT" → nanoseconds since the Unix epoch.
std::optional<int64_t> ParseHttpDate(std::string_view text);
// A duration, or an RFC 3339 time as seconds from now.
std::optional<double> ParseReset(std::string_view text, int64_t wall_nanos);

// How long the server asks to wait: retry-after-ms, retry-after (seconds or a date), then the reset
// times of limits that are used up.
std::optional<double> ServerWait(const HttpHeaders& headers, int64_t wall_nanos);

struct RetryLimits {
  // Tries for one request, those refused for their rate not counted: waiting bounds them.
  int max_attempts = 6;
  double max_wait_s = 300;  // all waits of one request together
  double first_backoff_s = 0.5;
  double max_backoff_s = 8;
  double max_rate_backoff_s = 60;  // a quota's window is a minute
};

// The retries of one request.
class RetryPolicy {
 public:
  RetryPolicy(RetryLimits limits, IdSource& ids) : limits_(limits), ids_(ids) {}

  // Seconds until the next try; nullopt when there is none, and `why` says the reason.
  // Call it once for each failed try.
  std::optional<double> NextWait(ErrorClass error, const HttpHeaders& headers, int64_t wall_nanos,
                                 std::string& why);
  [[nodiscard]] double waited_s() const { return waited_s_; }

 private:
  double Backoff(int tries, double most);
  double Chance();  // in [0, 1)

  const RetryLimits limits_;
  IdSource& ids_;
  int failed_ = 0;
  int rate_limited_ = 0;
  double waited_s_ = 0;
};

}  // namespace kerf::llm
