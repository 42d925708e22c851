// What tests that run real references share: an interpreter, or the reason to skip.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "loop/task/interpreter.h"

namespace kerf::task {

// KERF_PYTHON, then .venv of the repository (KERF_SOURCE_DIR is set by CMake), then the others.
inline Result<Interpreter> InterpreterForTests(FileSystem& fs, Framework framework) {
  InterpreterSearch search = SearchHere(fs, "");
  search.cwd = KERF_SOURCE_DIR;
  return FindInterpreter(search, framework);
}

}  // namespace kerf::task
