// One attempt at a case, and the rules by which a case takes them. docs/formats/optimize.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kerf::optimize {

// What a line of descent asks for.
enum class Mode { kFirst, kDebug, kImprove, kFresh };

inline const char* ModeName(Mode mode) {
  constexpr const char* kNames[] = {"first", "debug", "improve", "fresh"};
  return kNames[static_cast<size_t>(mode)];
}

struct Rules {
  int64_t descendants = 1;    // lines of a case
  int64_t population = 5;     // ancestors kept
  int64_t debug_limit = 5;    // repairs in a row
  int64_t reflect_limit = 1;  // lines of a case that are reflected on, in each iteration
  bool use_predict = false;   // the record's own code is the first attempt of line 0
  bool synth = false;         // kerf's synthesizer is asked for the first attempt of line 0
};

struct Trial {
  int64_t iteration = 0;
  int64_t line = 0;
  int64_t step = 0;  // of its VERIFY record
  Mode mode = Mode::kFirst;
  std::string code;  // empty: no reply could be used, and `log` says why
  std::string strategy;
  std::string reflection;
  bool pass_call = false;
  bool pass_exe = false;
  // Every result was right and nothing is to be held against it: it may be an ancestor.
  bool correct = false;
  std::string status;  // "wrong_value"
  std::string reason;
  std::string summary;  // one line
  std::string log;
  std::string measurement;        // in words, for prompts
  std::optional<double> speedup;  // measured, and to be believed
};

}  // namespace kerf::optimize
