#include "replay/scene/scene_select.h"

#include <algorithm>

#include "base/file_system.h"

namespace kerf::scene {
namespace {

template <typename Items, typename Name>
std::string NamesOf(const Items& items, const Name& name) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + name(item);
  return text.empty() ? "none" : text;
}

std::string ProblemsOf(const SceneClass& one) {
  if (one.problems.empty()) return "";
  return " (not read: " + one.problems[0].ToString() +
         "; --import runs the module instead, --kernel-source with --arg-spec needs none)";
}

std::string IncoreText(const SceneIncore& incore) {
  return incore.name + (incore.func_id ? " (func_id " + std::to_string(*incore.func_id) + ")" : "");
}

Result<std::vector<const SceneClass*>> Classes(const Scene& scene, const std::string& wanted) {
  std::vector<const SceneClass*> found;
  for (const SceneClass& one : scene.classes) {
    if (wanted.empty() ? one.level == 2 : one.name == wanted) found.push_back(&one);
  }
  // A module of level 3 only: its callables hold in-core kernels all the same.
  if (found.empty() && wanted.empty()) {
    for (const SceneClass& one : scene.classes) found.push_back(&one);
  }
  if (!found.empty()) return found;
  if (!wanted.empty()) {
    return NotFound(scene.module + ": no class " + wanted + "; there are " +
                    NamesOf(scene.classes, [](const SceneClass& one) { return one.name; }));
  }
  const std::string why = scene.problems.empty() ? "" : ": " + scene.problems[0].ToString();
  return NotFound(scene.module + ": No level-2 SceneTestCase class found" + why);
}

bool EndsWithPath(const std::string& path, const std::string& suffix) {
  if (path == suffix) return true;
  return path.size() > suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0 &&
         path[path.size() - suffix.size() - 1] == '/';
}

std::vector<SceneIncore> BySource(const SceneClass& one, const std::string& wanted) {
  std::vector<SceneIncore> exact;
  std::vector<SceneIncore> suffix;
  const std::string tail = wanted.rfind("./", 0) == 0 ? wanted.substr(2) : wanted;
  for (const SceneIncore& incore : one.incores) {
    if (incore.source == wanted) exact.push_back(incore);
    if (EndsWithPath(incore.source, tail)) suffix.push_back(incore);
  }
  return exact.empty() ? suffix : exact;
}

Error NoMatch(const SceneClass& one) {
  return NotFound("Kernel selector did not match any CALLABLE['incores'] entry of " + one.name +
                  "; there are " + NamesOf(one.incores, IncoreText) + ProblemsOf(one));
}

// Ids are a callable's own: the callables of a level-3 class may use one for different kernels.
Result<SceneIncore> ByFuncId(const SceneClass& one, int64_t id) {
  std::vector<SceneIncore> found;
  for (const SceneIncore& incore : one.incores) {
    const bool again = std::any_of(found.begin(), found.end(), [&](const SceneIncore& other) {
      return other.source == incore.source && other.core_type == incore.core_type;
    });
    if (incore.func_id == id && !again) found.push_back(incore);
  }
  if (found.empty()) return NoMatch(one);
  if (found.size() == 1) return found[0];
  return InvalidInput("--func-id " + std::to_string(id) + " matches several: " +
                      NamesOf(found, [](const SceneIncore& incore) { return incore.source; }) +
                      "; choose one with --kernel or --kernel-source");
}

}  // namespace

Result<SceneChoice> SelectCase(const Scene& scene, const std::string& name, Platform platform,
                               const std::string& runtime) {
  const size_t colons = name.rfind("::");
  const std::string class_name = colons == std::string::npos ? "" : name.substr(0, colons);
  const std::string case_name = colons == std::string::npos ? name : name.substr(colons + 2);
  KERF_ASSIGN_OR_RETURN(const std::vector<const SceneClass*> classes, Classes(scene, class_name));
  std::vector<SceneChoice> found;
  for (const SceneClass* one : classes) {
    for (const SceneCase& scene_case : one->cases) {
      if (scene_case.name == case_name) found.push_back({one, &scene_case});
    }
  }
  if (found.size() > 1) {
    return InvalidInput(
        "Multiple SceneTestCase classes found: " +
        NamesOf(found, [](const SceneChoice& one) { return one.scene_class->name; }) +
        "; write --case " + found[0].scene_class->name + "::" + case_name);
  }
  if (found.empty()) {
    std::string cases;
    for (const SceneClass* one : classes) {
      for (const SceneCase& scene_case : one->cases) {
        cases += (cases.empty() ? "" : ", ") + scene_case.name;
      }
    }
    return NotFound("Unknown case '" + case_name + "'; available cases: " +
                    (cases.empty() ? "none" : cases) + ProblemsOf(*classes[0]));
  }
  const SceneChoice& choice = found[0];
  const std::string family = PlatformName(platform);
  const auto& platforms = choice.scene_case->platforms;
  const bool fits = std::any_of(platforms.begin(), platforms.end(),
                                [&](const std::string& one) { return one.rfind(family, 0) == 0; });
  if (!platforms.empty() && !fits) {
    return InvalidInput("Platform family '" + family + "' does not match case platforms [" +
                        NamesOf(platforms, [](const std::string& one) { return one; }) +
                        "]; choose another with --platform");
  }
  if (!runtime.empty() && !choice.scene_class->runtime.empty() &&
      runtime != choice.scene_class->runtime) {
    return InvalidInput("--runtime " + runtime + ": " + choice.scene_class->name + " runs on " +
                        choice.scene_class->runtime);
  }
  return choice;
}

Status CheckSelector(const KernelSelector& selector) {
  const int given = (selector.name.empty() ? 0 : 1) + (selector.func_ids.empty() ? 0 : 1) +
                    (selector.source.empty() ? 0 : 1);
  if (given == 1) return {};
  return InvalidInput("Exactly one of --kernel, --func-id, or --kernel-source is required");
}

Result<std::vector<SceneIncore>> SelectIncores(const SceneClass& scene_class,
                                               const KernelSelector& selector) {
  KERF_RETURN_IF_ERROR(CheckSelector(selector));
  std::vector<SceneIncore> found;
  if (!selector.source.empty()) {
    found = BySource(scene_class, selector.source);
    const bool same = std::all_of(found.begin(), found.end(), [&](const SceneIncore& incore) {
      return incore.source == found[0].source;
    });
    if (!same) {
      return InvalidInput("--kernel-source " + selector.source + " matches several: " +
                          NamesOf(found, [](const SceneIncore& one) { return one.source; }) +
                          "; write more of the path");
    }
    if (found.size() > 1) found.resize(1);  // the same source on several cores is one kernel
  } else if (!selector.name.empty()) {
    for (const SceneIncore& incore : scene_class.incores) {
      if (incore.name == selector.name) found.push_back(incore);
    }
    if (found.size() > 1) {
      return InvalidInput("--kernel " + selector.name + " matches several: " +
                          NamesOf(found, IncoreText) + "; choose one with --func-id");
    }
  } else {
    for (const int64_t id : selector.func_ids) {
      KERF_ASSIGN_OR_RETURN(const SceneIncore incore, ByFuncId(scene_class, id));
      found.push_back(incore);
    }
  }
  if (found.empty()) return NoMatch(scene_class);
  return found;
}

}  // namespace kerf::scene
