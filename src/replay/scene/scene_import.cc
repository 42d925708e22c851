#include <unistd.h>

#include "replay/scene/scene_module.h"

namespace kerf::scene {
namespace {

constexpr const char* kPython = "/usr/bin/python3";
constexpr const char* kInsideRoot = "/scene";
constexpr const char* kInsideScripts = "/kerf";

// A path as the module saw it, on this side again.
void Outside(const std::string& root, std::string& path) {
  const std::string inside = kInsideRoot;
  if (path == inside || path.rfind(inside + "/", 0) == 0) path = root + path.substr(inside.size());
}

void MapBack(const std::string& root, Scene& scene) {
  Outside(root, scene.module);
  for (SceneProblem& problem : scene.problems) Outside(root, problem.file);
  for (SceneClass& one : scene.classes) {
    for (SceneIncore& incore : one.incores) {
      Outside(root, incore.source);
      for (std::string& dir : incore.include_dirs) Outside(root, dir);
    }
    for (SceneProblem& problem : one.problems) Outside(root, problem.file);
    if (one.args_problem) Outside(root, one.args_problem->file);
  }
}

sandbox::Limits ImportLimits() {
  sandbox::Limits limits;
  limits.wall_time = std::chrono::seconds(60);
  limits.cpu_time = std::chrono::seconds(60);
  limits.memory_bytes = uint64_t{2} << 30;
  return limits;
}

}  // namespace

Result<Scene> ImportScene(const SceneImport& request) {
  if (::access(kPython, X_OK) != 0) {
    return Unavailable(std::string("--import needs the distribution's Python, ") + kPython);
  }
  const std::string below = request.root + "/";
  if (request.module.rfind(below, 0) != 0) {
    return InvalidInput("--import: " + request.module + " does not lie below " + request.root);
  }
  KERF_ASSIGN_OR_RETURN(const sandbox::SandboxLevel level,
                        sandbox::ChooseLevel(request.mode, sandbox::Probe()));
  const bool namespaces = level.has_namespaces();
  const std::string root = namespaces ? kInsideRoot : request.root;
  const std::string scripts = namespaces ? kInsideScripts : request.resources;
  sandbox::Policy policy = sandbox::Policy::ForSystemPrograms();
  policy.Read(request.root, root).Read(request.resources, scripts);
  policy.Variable("PYTHONDONTWRITEBYTECODE", "1").Variable("PYTHONNOUSERSITE", "1");
  std::vector<std::string> argv = {kPython, "-I", scripts + "/python/kerf/scene_import.py",
                                   root + "/" + request.module.substr(below.size())};
  if (!request.case_name.empty()) argv.insert(argv.end(), {"--case", request.case_name});
  const sandbox::Sandbox box(policy, ImportLimits(), request.mode);
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome, box.Run(argv));
  if (!outcome.succeeded()) {
    return InvalidInput("Cannot load test module: running " + request.module +
                        " in the sandbox ended with " + sandbox::Describe(outcome) + ": " +
                        Brief(outcome.stderr_text, 300));
  }
  KERF_ASSIGN_OR_RETURN(Scene scene, ParseScene("scene_import.py", outcome.stdout_text));
  MapBack(request.root, scene);
  if (scene.classes.empty() && !scene.problems.empty()) {
    return InvalidInput("Cannot load test module: " + scene.problems[0].ToString());
  }
  return scene;
}

}  // namespace kerf::scene
