// Chooses one dispatch of a dump. Never guesses: what is ambiguous is an error that lists what is
// there.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/dump.h"

namespace kerf::dump {

struct DispatchQuery {
  std::set<int64_t> func_ids;
  std::optional<int64_t> dispatch_id;
  std::optional<uint64_t> task_id;
};

struct Selected {
  const Dispatch* dispatch = nullptr;
  std::vector<std::string> notes;  // "the first of 3 tasks that run func {4}"
};

// The result points into `dump`.
Result<Selected> SelectDispatch(const Dump& dump, const DispatchQuery& query);

}  // namespace kerf::dump
