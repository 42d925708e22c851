#include "replay/scene/scene_module.h"

#include "base/json_place.h"

namespace kerf::scene {
namespace {

Result<std::string> TextOr(const JsonPlace& object, const char* name) {
  const auto place = object.Find(name);
  if (!place) return std::string();
  return place->String();
}

// Lists of texts; what is none of them was reported as a problem by the reader.
std::vector<std::string> Texts(const JsonPlace& object, const char* name) {
  std::vector<std::string> texts;
  const auto place = object.Find(name);
  if (!place) return texts;
  for (const JsonPlace& item : place->Items()) {
    if (item.is(JsonType::kString)) texts.push_back(item.node().text);
  }
  return texts;
}

Result<SceneProblem> ReadProblem(const JsonPlace& place) {
  SceneProblem problem;
  KERF_ASSIGN_OR_RETURN(problem.file, TextOr(place, "file"));
  KERF_ASSIGN_OR_RETURN(problem.what, TextOr(place, "what"));
  if (const auto line = place.Find("line")) {
    KERF_ASSIGN_OR_RETURN(problem.line, line->Int());
  }
  return problem;
}

Result<std::vector<SceneProblem>> ReadProblems(const JsonPlace& object) {
  std::vector<SceneProblem> problems;
  const auto list = object.Find("problems");
  if (!list) return problems;
  for (const JsonPlace& place : list->Items()) {
    KERF_ASSIGN_OR_RETURN(SceneProblem problem, ReadProblem(place));
    problems.push_back(std::move(problem));
  }
  return problems;
}

Result<SceneIncore> ReadIncore(const JsonPlace& place) {
  SceneIncore incore;
  if (const auto id = place.Find("func_id"); id && id->IsWhole()) {
    KERF_ASSIGN_OR_RETURN(incore.func_id, id->Int());
  }
  KERF_ASSIGN_OR_RETURN(incore.name, TextOr(place, "name"));
  KERF_ASSIGN_OR_RETURN(incore.source, TextOr(place, "source"));
  KERF_ASSIGN_OR_RETURN(incore.core_type, TextOr(place, "core_type"));
  incore.signature = Texts(place, "signature");
  incore.include_dirs = Texts(place, "extra_include_dirs");
  return incore;
}

Result<SceneCase> ReadCase(const JsonPlace& place) {
  SceneCase one;
  KERF_ASSIGN_OR_RETURN(one.name, TextOr(place, "name"));
  one.platforms = Texts(place, "platforms");
  one.params.type = JsonType::kObject;
  if (const auto params = place.Find("params"); params && params->is(JsonType::kObject)) {
    one.params = params->node();
  }
  return one;
}

Result<SceneArg> ReadArg(const JsonPlace& place) {
  SceneArg arg;
  KERF_ASSIGN_OR_RETURN(const std::string kind, TextOr(place, "kind"));
  arg.is_tensor = kind == "tensor";
  KERF_ASSIGN_OR_RETURN(arg.name, TextOr(place, "name"));
  KERF_ASSIGN_OR_RETURN(arg.dtype, TextOr(place, "dtype"));
  KERF_ASSIGN_OR_RETURN(arg.ctype, TextOr(place, "ctype"));
  if (const auto shape = place.Find("shape")) {
    KERF_ASSIGN_OR_RETURN(arg.shape, shape->Ints());
  }
  if (const auto fill = place.Find("fill")) arg.fill = fill->node();
  if (const auto value = place.Find("value")) arg.value = value->node();
  return arg;
}

template <typename T>
Status ReadList(const JsonPlace& object, const char* name, Result<T> (*read)(const JsonPlace&),
                std::vector<T>& out) {
  const auto list = object.Find(name);
  if (!list) return {};
  KERF_ASSIGN_OR_RETURN(const std::vector<JsonPlace> places, list->Array());
  for (const JsonPlace& place : places) {
    KERF_ASSIGN_OR_RETURN(T value, read(place));
    out.push_back(std::move(value));
  }
  return {};
}

Result<SceneClass> ReadClass(const JsonPlace& place) {
  SceneClass one;
  KERF_ASSIGN_OR_RETURN(one.name, TextOr(place, "name"));
  KERF_ASSIGN_OR_RETURN(one.runtime, TextOr(place, "runtime"));
  if (const auto line = place.Find("line")) {
    KERF_ASSIGN_OR_RETURN(one.line, line->Int());
  }
  if (const auto level = place.Find("level"); level && level->IsWhole()) {
    KERF_ASSIGN_OR_RETURN(one.level, level->Int());
  }
  if (const auto orchestration = place.Find("orchestration")) {
    one.orchestration_signature = Texts(*orchestration, "signature");
  }
  KERF_RETURN_IF_ERROR(ReadList(place, "incores", ReadIncore, one.incores));
  KERF_RETURN_IF_ERROR(ReadList(place, "cases", ReadCase, one.cases));
  KERF_ASSIGN_OR_RETURN(one.problems, ReadProblems(place));
  if (place.Find("args")) {
    one.args.emplace();
    KERF_RETURN_IF_ERROR(ReadList(place, "args", ReadArg, *one.args));
  }
  if (const auto problem = place.Find("args_problem")) {
    KERF_ASSIGN_OR_RETURN(one.args_problem, ReadProblem(*problem));
  }
  return one;
}

}  // namespace

Result<Scene> ParseScene(const std::string& file, std::string_view text) {
  KERF_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(file, text));
  Scene scene;
  KERF_ASSIGN_OR_RETURN(const JsonPlace module, document.root().Member("module"));
  KERF_ASSIGN_OR_RETURN(scene.module, module.String());
  KERF_RETURN_IF_ERROR(ReadList(document.root(), "classes", ReadClass, scene.classes));
  KERF_ASSIGN_OR_RETURN(scene.problems, ReadProblems(document.root()));
  return scene;
}

Result<Scene> ReadScene(FileSystem& fs, const SceneRequest& request) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(request.module));
  if (!info) return NotFound("Cannot load test module: " + request.module + " is not there");
  if (info->kind == FileKind::kDirectory) {
    return InvalidInput("Cannot load test module: " + request.module + " is a folder");
  }
  Command command{.argv = {request.python, "-I", "-S", request.script, request.module},
                  .timeout = std::chrono::seconds(60)};
  if (!request.case_name.empty()) {
    command.argv.insert(command.argv.end(), {"--case", request.case_name});
  }
  KERF_ASSIGN_OR_RETURN(const ProcessOutcome outcome, request.run(command));
  if (outcome.timed_out) {
    return TimedOut("Cannot load test module: reading " + request.module + " took over a minute");
  }
  if (outcome.exit_code != 0) {
    return Unavailable("Cannot load test module: " + request.python + " failed to read " +
                       request.module + ": " + Brief(outcome.stderr_text, 400));
  }
  KERF_ASSIGN_OR_RETURN(Scene scene, ParseScene("scene_reader.py", outcome.stdout_text));
  if (scene.classes.empty() && !scene.problems.empty()) {
    return InvalidInput("Cannot load test module: " + scene.problems[0].ToString());
  }
  return scene;
}

}  // namespace kerf::scene
