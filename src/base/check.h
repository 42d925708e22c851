// KERF_CHECK(condition, "sentence"): a bug in kerf stops the program at once, with the place and
// the sentence, and exit code 70. Never for bad input: that is an Error.
#pragma once

namespace kerf {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const char* sentence);

}  // namespace kerf

#define KERF_CHECK(condition, sentence)                              \
  do {                                                               \
    if (!(condition)) {                                              \
      ::kerf::CheckFailed(__FILE__, __LINE__, #condition, sentence); \
    }                                                                \
  } while (false)
