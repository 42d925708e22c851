// A scene test: the module that lists in-core kernels and the cases that run them, as
// python/kerf/scene_reader.py read it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_place.h"

namespace kerf {

// What could not be evaluated, and where.
struct SceneProblem {
  std::string file;
  int64_t line = 0;
  std::string what;
  [[nodiscard]] std::string ToString() const {
    return file + ":" + std::to_string(line) + ": " + what;
  }
};

struct SceneIncore {
  std::optional<int64_t> func_id;
  std::string name;
  std::string source;                  // absolute
  std::string core_type;               // "aic", "aiv"; empty when the module does not say
  std::vector<std::string> signature;  // "IN", "OUT", "INOUT", "SCALAR"
  std::vector<std::string> include_dirs;
};

struct SceneCase {
  std::string name;
  std::vector<std::string> platforms;
  JsonNode params;  // an object
};

// One argument of generate_args.
struct SceneArg {
  bool is_tensor = true;
  std::string name;
  std::string dtype;  // a tensor's
  std::vector<int64_t> shape;
  JsonNode fill;      // null: unknown values
  std::string ctype;  // a scalar's: "c_float"; empty for plain Python numbers
  JsonNode value;
};

struct SceneClass {
  std::string name;
  int64_t line = 0;
  std::optional<int64_t> level;
  std::string runtime;
  std::vector<std::string> orchestration_signature;
  std::vector<SceneIncore> incores;
  std::vector<SceneCase> cases;
  std::vector<SceneProblem> problems;
  std::optional<std::vector<SceneArg>> args;  // of the case that was asked for
  std::optional<SceneProblem> args_problem;
};

struct Scene {
  std::string module;  // absolute
  std::vector<SceneClass> classes;
  std::vector<SceneProblem> problems;
};

}  // namespace kerf
