// Which Python runs a task.
//
// Several interpreters share a machine, and a package that one has is unseen by the others. So each
// is asked, in this order, until one can import the framework: KERF_PYTHON; .venv/bin/python and
// .venv-mindspore/bin/python of the current folder and those above it, and of the checkout kerf was
// built in; each python3 in PATH; /usr/bin/python3. Answers are kept in the cache until the
// interpreter or a folder it imports from changes, because importing torch takes seconds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/cache_dir.h"
#include "base/file_system.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "loop/task/task_file.h"

namespace kerf::task {

struct Interpreter {
  std::string path;             // as it was found; may be a script that starts the right one
  std::string executable;       // sys.executable: a virtual environment's is a link
  std::string real_executable;  // without links
  std::string python_version;
  std::string framework;
  std::string framework_version;
  std::string prefix;        // sys.prefix, the virtual environment's folder
  std::string base_prefix;   // the installation behind it
  std::string user_base;     // where `pip install --user` puts packages; empty when not used
  std::string include_path;  // Python.h, for what compiles against it
  std::string library_path;  // LD_LIBRARY_PATH when it was asked, which it may need again
  std::vector<std::string> import_paths;  // sys.path
  // What must be in view for the framework to be imported, besides the distribution's own folders:
  // absolute, none below another.
  std::vector<std::string> read_paths;
};

struct InterpreterSearch {
  FileSystem& fs;
  std::string cache_dir;  // answers are kept in its folder interpreters/; empty: nowhere
  std::string cwd;        // absolute
  std::string binary_dir;
  GetVariable variable = ProcessVariable;
  std::function<Result<ProcessOutcome>(const Command&)> run = RunProcess;
};

// For this process: its current folder and its executable's.
InterpreterSearch SearchHere(FileSystem& fs, const std::string& cache_dir);

// Existing executables in the order in which they are asked, without doubles.
std::vector<std::string> InterpreterCandidates(const InterpreterSearch& search);

// kUnavailable, with everything that was tried and the command that installs the framework, when no
// interpreter has it.
Result<Interpreter> FindInterpreter(const InterpreterSearch& search, Framework framework);

}  // namespace kerf::task
