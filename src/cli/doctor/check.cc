#include "cli/doctor/check.h"

namespace kerf::cli {
namespace {

bool IsVersionDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string OutputOf(Machine& machine, std::vector<std::string> argv) {
  // All checks run at once and doctor promises an answer in two seconds.
  const Result<ProcessOutcome> outcome = machine.Run({.argv = std::move(argv),
                                                      .stdout_limit = 65536,
                                                      .stderr_limit = 65536,
                                                      .timeout = std::chrono::milliseconds(1400),
                                                      .grace = std::chrono::milliseconds(100)});
  if (!outcome.ok() || outcome->exit_code != 0) return "";
  return outcome->stdout_text + outcome->stderr_text;
}

std::string VersionIn(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsVersionDigit(text[i]) || (i > 0 && (IsVersionDigit(text[i - 1]) || text[i - 1] == '.')))
      continue;
    size_t end = i;
    bool dotted = false;
    while (end < text.size() &&
           (IsVersionDigit(text[end]) ||
            (text[end] == '.' && end + 1 < text.size() && IsVersionDigit(text[end + 1])))) {
      dotted = dotted || text[end] == '.';
      ++end;
    }
    if (dotted) return std::string(text.substr(i, end - i));
  }
  return "";
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace kerf::cli
