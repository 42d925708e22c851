// Asks one interpreter what it is and whether it can import a framework.
#pragma once

#include <string>

#include "loop/task/interpreter.h"

namespace kerf::task {

struct ProbeAnswer {
  Interpreter interpreter;
  // Why it is of no use, empty when it is: "no torch", "cannot import torch: …", "does not start".
  std::string problem;
};

// From the cache when nothing has changed. Never fails: an interpreter that cannot be asked is of
// no use, which is an answer.
ProbeAnswer ProbeInterpreter(const InterpreterSearch& search, const std::string& path,
                             Framework framework);

}  // namespace kerf::task
