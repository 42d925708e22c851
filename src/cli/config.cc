#include "cli/config.h"

#include "cli/config_reader.h"
#include "llm/model_spec.h"

namespace kerf::cli {
namespace {

constexpr char kProjectFile[] = "kerf.yaml";

// What is read when no file is named; later ones win.
std::vector<std::string> UsualPlaces(const std::function<std::string(const char*)>& variable) {
  std::string home = variable("XDG_CONFIG_HOME");
  if (home.empty() && !variable("HOME").empty()) home = JoinPath(variable("HOME"), ".config");
  std::vector<std::string> places;
  if (!home.empty()) places.push_back(JoinPath(home, "kerf/config.yaml"));
  places.emplace_back(kProjectFile);
  return places;
}

void ReadVariables(const std::function<std::string(const char*)>& variable, Config& config) {
  const auto take = [&](const char* name, const char* key, std::string& into) {
    if (const std::string value = variable(name); !value.empty()) {
      into = value;
      config.origins[key] = std::string("variable ") + name;
    }
  };
  take("KERF_MODEL", "model", config.model);
  take("KERF_LOG_DIR", "log_dir", config.log_dir);
  take("KERF_LANGUAGE", "language", config.language);
  take("KERF_PROMPTS", "prompts", config.prompts);
}

// What would otherwise only show when a run begins. A folder of prompts may have other languages.
Status CheckValues(const Config& config) {
  const auto refuse = [&](const std::string& key, const std::string& why) {
    const auto origin = config.origins.find(key);
    return InvalidInput((origin == config.origins.end() ? "" : origin->second + ": ") + why);
  };
  if (config.prompts.empty() && config.language != "en" && config.language != "zh") {
    return refuse("language", "language must be en or zh, not '" + config.language + "'");
  }
  const auto check_model = [&](const std::string& key, const std::string& name) -> Status {
    if (name.empty() || config.presets.contains(name)) return {};
    const auto spec = llm::ParseModelSpec(name);
    return spec.ok() ? Status() : refuse(key, spec.error().message);
  };
  KERF_RETURN_IF_ERROR(check_model("model", config.model));
  for (const auto& [agent, model] : config.agent_model_config) {
    KERF_RETURN_IF_ERROR(check_model("agent_model_config." + agent, model));
  }
  return {};
}

}  // namespace

const std::vector<std::string>& KnownAgents() {
  static const std::vector<std::string> agents = [] {
    std::vector<std::string> names = {"aul_designer",      "aul_designer_fix",  "conductor_check",
                                      "conductor_analyze", "api_generator",     "swft_coder_api",
                                      "task_writer",       "optimize_generate", "optimize_debug",
                                      "optimize_improve",  "optimize_reflect"};
    for (const Impl impl :
         {Impl::kCpp, Impl::kCudaC, Impl::kHip, Impl::kTorchExt, Impl::kTriton, Impl::kSwft}) {
      names.push_back(std::string(ImplName(impl)) + "_coder");
      names.push_back(std::string(ImplName(impl)) + "_coder_fix");
    }
    return names;
  }();
  return agents;
}

Result<Config> LoadConfig(FileSystem& fs, const std::string& path,
                          const std::function<std::string(const char*)>& variable) {
  Config config;
  if (!path.empty()) {
    KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
    KERF_RETURN_IF_ERROR(ReadConfigText(path, text, /*trusted=*/true, config));
  } else {
    for (const std::string& place : UsualPlaces(variable)) {
      const Result<std::string> text = fs.ReadFile(place);
      if (!text.ok() && text.error().code == ErrorCode::kNotFound) continue;
      if (!text.ok()) return text.error();
      KERF_RETURN_IF_ERROR(ReadConfigText(place, *text, /*trusted=*/place != kProjectFile, config));
    }
  }
  ReadVariables(variable, config);
  KERF_RETURN_IF_ERROR(CheckValues(config));
  return config;
}

}  // namespace kerf::cli
