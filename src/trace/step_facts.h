// What a step's meta and profile say, in one place: the well-known members by name, and every value
// by its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/step.h"

namespace kerf::trace {

// A leaf of a JSON document: {"tokens":{"input":7}} gives "tokens.input", elements of an array
// "[0]".
struct Fact {
  std::string path;
  std::string text;              // as written; strings without their quotes
  std::optional<double> number;  // finite
  bool is_string = false;
};

// Leaves in the order of the text, at most some ten thousand. `prefix` goes in front of every path.
// A text that is no JSON gives one fact with the prefix as its path; an empty one none.
std::vector<Fact> FlattenFacts(std::string_view json, const std::string& prefix);

// The members of meta that kerf knows (docs/formats/trace.md section 2); one of another type than
// expected counts as absent.
struct StepFacts {
  std::string model;
  std::string provider;
  std::string device;
  std::string finish_reason;
  std::string error;
  std::optional<double> duration_ms;  // never negative
  std::optional<double> cost_usd;
  std::optional<double> speedup;
  std::optional<int64_t> input_tokens;
  std::optional<int64_t> output_tokens;
  std::optional<int64_t> cached_tokens;
  std::optional<int64_t> reasoning_tokens;
  std::vector<Fact> params;  // "temperature", "seed" …
};

StepFacts ReadStepFacts(const Step& step);

// "designer", "coder", "verifier", "conductor"; the word in the file name for a role that AIKG
// added later.
std::string RoleOf(const Step& step);

}  // namespace kerf::trace
