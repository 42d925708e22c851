// What `kerf optimize` came to, in words and as JSON.
#pragma once

#include <string>

#include "cli/render/output.h"
#include "llm/ledger.h"
#include "loop/optimize/optimizer.h"

namespace kerf::cli {

struct OptimizeResult {
  std::string root;
  optimize::OptimizeReport report;
  llm::Account total;
  std::string ledger_json;
  bool interrupted = false;
};

std::string OptimizeText(const OptimizeResult& result, Output& out);
// One object and a line end.
std::string OptimizeJson(const OptimizeResult& result);
int OptimizeExitCode(const OptimizeResult& result);

}  // namespace kerf::cli
