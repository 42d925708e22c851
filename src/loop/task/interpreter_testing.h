// What tests that run real references share: an interpreter, or the reason to skip.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "loop/task/interpreter.h"

namespace kerf::task {

// KERF_PYTHON, for MindSpore KERF_MINDSPORE_PYTHON, then the environments of the repository
// (KERF_SOURCE_DIR is set by CMake), then the others.
inline Result<Interpreter> InterpreterForTests(FileSystem& fs, Framework framework) {
  InterpreterSearch search = SearchHere(fs, "");
  search.cwd = KERF_SOURCE_DIR;
  if (framework == Framework::kMindspore && search.variable("KERF_MINDSPORE_PYTHON")) {
    search.variable = [](const std::string& name) {
      return ProcessVariable(name == "KERF_PYTHON" ? "KERF_MINDSPORE_PYTHON" : name);
    };
  }
  return FindInterpreter(search, framework);
}

}  // namespace kerf::task
