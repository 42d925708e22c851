#include "cli/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/suggest.h"
#include "llm/model_spec.h"

namespace kerf::cli {
namespace {

constexpr char kProjectFile[] = "kerf.yaml";

// Thrown inside this file only: yaml-cpp throws anyway, and a reader of nested keys is shorter so.
struct Refusal {
  std::string message;
};

class Reader {
 public:
  // `trusted`: the user named the file or keeps it at home. One that lies in the working folder may
  // have come with somebody else's repository: it must not say where keys are sent.
  Reader(std::string path, bool trusted, Config& config)
      : path_(std::move(path)), trusted_(trusted), config_(config) {}

  void Read(const YAML::Node& root) {
    if (root.IsNull()) return;
    if (!root.IsMap()) Refuse(root, "the configuration must be a mapping");
    for (const auto& entry : root) ReadMember(Key(entry.first), entry.second);
  }

 private:
  static const std::vector<std::string>& Keys() {
    static const std::vector<std::string> keys = {
        "model",   "agent_model_config", "presets",     "log_dir",  "language",
        "prompts", "profile_settings",   "limit_steps", "max_step", "task_type",
        "jobs",    "max_tokens_total",   "max_cost",    "docs_dir"};
    return keys;
  }

  [[noreturn]] void Refuse(const YAML::Node& node, const std::string& why) const {
    throw Refusal{path_ + ":" + std::to_string(node.Mark().line + 1) + ": " + why};
  }

  std::string Key(const YAML::Node& node) const {
    if (!node.IsScalar()) Refuse(node, "a key must be a word");
    return node.Scalar();
  }

  void RefuseKey(const YAML::Node& node, const std::string& key,
                 const std::vector<std::string>& known) const {
    Refuse(node, "unknown key '" + key + "'" + DidYouMean(key, known));
  }

  template <typename T>
  T As(const YAML::Node& node, const char* what) const {
    try {
      return node.as<T>();
    } catch (const YAML::Exception&) {
      Refuse(node, std::string("expected ") + what);
    }
  }
  std::string Text(const YAML::Node& node) const { return As<std::string>(node, "a text"); }
  int64_t Count(const YAML::Node& node) const {
    const auto count = As<int64_t>(node, "a whole number");
    if (count < 0) Refuse(node, "expected a number of 0 or more");
    return count;
  }

  void Note(const std::string& key, const YAML::Node& node) {
    config_.origins[key] = path_ + ":" + std::to_string(node.Mark().line + 1);
  }

  void ReadMember(const std::string& key, const YAML::Node& node) {
    if (key == "agent_model_config") return ReadAgents(node);
    if (key == "presets") return ReadPresets(node);
    if (key == "profile_settings") return ReadProfile(node);
    if (key == "docs_dir") {
      Refuse(node,
             "kerf's documents are prompts: put changed ones into a folder and name it in "
             "'prompts' (see prompts/README.md)");
    }
    if (key == "model") {
      config_.model = Text(node);
    } else if (key == "log_dir") {
      config_.log_dir = ExpandHome(Text(node));
    } else if (key == "language") {
      config_.language = Text(node);
    } else if (key == "prompts") {
      config_.prompts = ExpandHome(Text(node));
    } else if (key == "task_type") {
      config_.task_type = Text(node);
    } else if (key == "limit_steps" || key == "max_step") {
      config_.limit_steps = Count(node);
      return Note("limit_steps", node);
    } else if (key == "jobs") {
      config_.jobs = Count(node);
    } else if (key == "max_tokens_total") {
      config_.max_tokens_total = Count(node);
    } else if (key == "max_cost") {
      config_.max_cost = As<double>(node, "a sum of dollars");
      if (*config_.max_cost < 0) Refuse(node, "expected 0 dollars or more");
    } else {
      RefuseKey(node, key, Keys());
    }
    Note(key, node);
  }

  void ReadAgents(const YAML::Node& node) {
    if (!node.IsMap()) Refuse(node, "agent_model_config must map agents to models");
    for (const auto& entry : node) {
      const std::string agent = Key(entry.first);
      const auto& known = KnownAgents();
      if (std::find(known.begin(), known.end(), agent) == known.end()) {
        Refuse(entry.first, "unknown agent '" + agent + "'" + DidYouMean(agent, known));
      }
      config_.agent_model_config[agent] = Text(entry.second);
      Note("agent_model_config." + agent, entry.second);
    }
  }

  void ReadProfile(const YAML::Node& node) {
    if (!node.IsMap()) Refuse(node, "profile_settings must be a mapping");
    for (const auto& entry : node) {
      const std::string key = Key(entry.first);
      if (key == "run_times") {
        config_.run_times = Count(entry.second);
      } else if (key == "warmup_times") {
        config_.warmup_times = Count(entry.second);
      } else {
        RefuseKey(entry.first, key, {"run_times", "warmup_times"});
      }
      Note("profile_settings." + key, entry.second);
    }
  }

  void ReadPresets(const YAML::Node& node) {
    if (!node.IsMap()) Refuse(node, "presets must map names to models");
    for (const auto& entry : node) {
      const std::string name = Key(entry.first);
      if (!entry.second.IsMap()) Refuse(entry.second, "a preset must be a mapping");
      Preset preset;
      for (const auto& member : entry.second) {
        ReadPresetMember(Key(member.first), member.second, preset);
      }
      if (preset.model.empty()) Refuse(entry.second, "preset '" + name + "' has no model");
      config_.presets[name] = std::move(preset);
      Note("presets." + name, entry.second);
    }
  }

  void ReadPresetMember(const std::string& key, const YAML::Node& node, Preset& preset) {
    static const std::vector<std::string> keys = {
        "provider",         "model",       "api_base",        "api_key_env",
        "max_tokens",       "temperature", "top_p",           "frequency_penalty",
        "presence_penalty", "seed",        "reasoning_effort"};
    llm::Sampling& sampling = preset.sampling;
    if (key == "provider") {
      preset.provider = Text(node);
      if (preset.provider != "openai" && preset.provider != "anthropic") {
        Refuse(node, "provider must be openai or anthropic");
      }
    } else if (key == "model") {
      preset.model = Text(node);
    } else if (!trusted_ && (key == "api_base" || key == "api_key_env")) {
      Refuse(
          node,
          key +
              " could send a key elsewhere; it is taken only from a file that is named: --config " +
              path_);
    } else if (key == "api_base") {
      preset.api_base = Text(node);
    } else if (key == "api_key_env") {
      preset.api_key_env = Text(node);
    } else if (key == "api_key") {
      Refuse(node, "keys do not belong into files: name the variable that holds it in api_key_env");
    } else if (key == "max_tokens") {
      sampling.max_tokens = Count(node);
    } else if (key == "seed") {
      sampling.seed = Count(node);
    } else if (key == "temperature") {
      sampling.temperature = As<double>(node, "a number");
    } else if (key == "top_p") {
      sampling.top_p = As<double>(node, "a number");
    } else if (key == "frequency_penalty") {
      sampling.frequency_penalty = As<double>(node, "a number");
    } else if (key == "presence_penalty") {
      sampling.presence_penalty = As<double>(node, "a number");
    } else if (key == "reasoning_effort") {
      sampling.reasoning_effort = Text(node);
    } else {
      RefuseKey(node, key, keys);
    }
  }

  const std::string path_;
  const bool trusted_;
  Config& config_;
};

Status ReadYaml(const std::string& path, const std::string& text, bool trusted, Config& config) {
  try {
    Reader(path, trusted, config).Read(YAML::Load(text));
  } catch (const Refusal& refusal) {
    return InvalidInput(refusal.message);
  } catch (const YAML::Exception& error) {
    return InvalidInput(path + ": " + error.what());
  }
  return {};
}

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
    KERF_RETURN_IF_ERROR(ReadYaml(path, text, /*trusted=*/true, config));
  } else {
    for (const std::string& place : UsualPlaces(variable)) {
      const Result<std::string> text = fs.ReadFile(place);
      if (!text.ok() && text.error().code == ErrorCode::kNotFound) continue;
      if (!text.ok()) return text.error();
      KERF_RETURN_IF_ERROR(ReadYaml(place, *text, /*trusted=*/place != kProjectFile, config));
    }
  }
  ReadVariables(variable, config);
  KERF_RETURN_IF_ERROR(CheckValues(config));
  return config;
}

}  // namespace kerf::cli
