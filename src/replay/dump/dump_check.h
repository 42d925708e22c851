// Is a dump what it says? Sizes against shapes, ranges against the payload file, counts against
// the records, slots against each other.
#pragma once

#include <string>
#include <vector>

#include "artifact/dump.h"

namespace kerf::dump {

struct Finding {
  bool damage = true;  // false: worth knowing, nothing wrong
  std::string where;
  std::string what;
};

// Why this tensor's payload cannot be used as an input, or nullopt: none, truncated, overwritten,
// a size that is not the shape's, a range outside the file, an unknown form.
std::optional<std::string> WhyNoPayload(const Dump& dump, const DumpArg& arg);

// The tensor a record describes; the error names its place, its claim and the truth.
Result<TensorArg> TensorOf(const DumpArg& arg);

// Two records of one slot, of both stages: why they cannot be of one argument, or nullopt.
std::optional<std::string> WhyNotTheSame(const DumpArg& one, const DumpArg& other);

std::vector<Finding> CheckDump(const Dump& dump);

}  // namespace kerf::dump
