// Reads a scene test through python/kerf/scene_reader.py, which needs Python's standard library and
// nothing of the module's own imports.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "artifact/scene.h"
#include "base/file_system.h"
#include "base/subprocess.h"
#include "sandbox/sandbox.h"

namespace kerf::scene {

// The reader's JSON; `file` is for messages.
Result<Scene> ParseScene(const std::string& file, std::string_view text);

struct SceneRequest {
  std::string module;     // a path
  std::string case_name;  // also evaluates generate_args for it; "Class::Case" or "Case"
  std::string python;     // an interpreter
  std::string script;     // scene_reader.py on the disk
  std::function<Result<ProcessOutcome>(const Command&)> run = RunProcess;
};

// Runs the module instead (python/kerf/scene_import.py), in the sandbox: no network, no files but
// the distribution's, kerf's scripts and `root`, a folder that holds the module.
struct SceneImport {
  std::string module;  // absolute, below root
  std::string root;    // absolute
  std::string case_name;
  std::string resources;  // the folder that holds python/kerf
  sandbox::Mode mode = sandbox::Mode::kRequired;
};
Result<Scene> ImportScene(const SceneImport& request);

// kInvalidInput, with file and line, when the module is no Python.
Result<Scene> ReadScene(FileSystem& fs, const SceneRequest& request);

}  // namespace kerf::scene
