#include "cli/config_reader.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/suggest.h"

namespace kerf::cli {
namespace {

// Thrown inside this file only: yaml-cpp throws anyway, and a reader of nested keys is shorter so.
struct Refusal {
  std::string message;
};

class Reader {
 public:
  Reader(std::string path, bool trusted, Config& config)
      : path_(std::move(path)), trusted_(trusted), config_(config) {}

  void Read(const YAML::Node& root) {
    if (root.IsNull()) return;
    if (!root.IsMap()) Refuse(root, "the configuration must be a mapping");
    for (const Member& member : Members(root)) ReadMember(member);
  }

 private:
  static const std::vector<std::string>& Keys() {
    static const std::vector<std::string> keys = {
        "model",   "agent_model_config", "presets",     "log_dir",  "language",
        "prompts", "profile_settings",   "limit_steps", "max_step", "task_type",
        "jobs",    "max_tokens_total",   "max_cost",    "docs_dir", "default_preset",
        "prices",  "verify_timeout",     "first"};
    return keys;
  }

  [[noreturn]] void Refuse(const YAML::Node& node, const std::string& why) const {
    throw Refusal{path_ + ":" + std::to_string(node.Mark().line + 1) + ": " + why};
  }

  struct Member {
    std::string key;
    YAML::Node at;  // the key itself, for its place
    YAML::Node value;
  };
  // In the file's order. The library keeps both of two equal keys, and whoever wrote them sees one.
  std::vector<Member> Members(const YAML::Node& map) const {
    std::vector<Member> members;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) Refuse(entry.first, "a key must be a word");
      const std::string& key = entry.first.Scalar();
      for (const Member& earlier : members) {
        if (earlier.key != key) continue;
        Refuse(entry.first, "'" + key + "' is there twice; the first is in line " +
                                std::to_string(earlier.at.Mark().line + 1));
      }
      members.push_back({key, entry.first, entry.second});
    }
    return members;
  }

  void RefuseKey(const Member& member, const std::vector<std::string>& known) const {
    Refuse(member.at, "unknown key '" + member.key + "'" + DidYouMean(member.key, known));
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

  void ReadMember(const Member& member) {
    const std::string& key = member.key;
    const YAML::Node& node = member.value;
    if (key == "agent_model_config") return ReadAgents(node);
    if (key == "presets") return ReadPresets(node);
    if (key == "profile_settings") return ReadProfile(node);
    if (key == "docs_dir") return ReadDocs(node);
    if (key == "model" || key == "default_preset") {
      config_.model = Text(node);
      return Note("model", node);
    }
    if (key == "log_dir") {
      config_.log_dir = ExpandHome(Text(node));
    } else if (key == "language") {
      config_.language = Text(node);
    } else if (key == "prompts") {
      config_.prompts = ExpandHome(Text(node));
    } else if (key == "prices") {
      config_.prices = ExpandHome(Text(node));
    } else if (key == "task_type") {
      config_.task_type = Text(node);
    } else if (key == "first") {
      config_.first = Text(node);
      if (config_.first != "synth" && config_.first != "model") {
        Refuse(node, "first must be synth or model");
      }
    } else if (key == "limit_steps" || key == "max_step") {
      config_.limit_steps = Count(node);
      return Note("limit_steps", node);
    } else if (key == "verify_timeout") {
      config_.verify_timeout = Count(node);
    } else if (key == "jobs") {
      config_.jobs = Count(node);
    } else if (key == "max_tokens_total") {
      config_.max_tokens_total = Count(node);
    } else if (key == "max_cost") {
      config_.max_cost = As<double>(node, "a sum of dollars");
      if (*config_.max_cost < 0) Refuse(node, "expected 0 dollars or more");
    } else if (node.IsMap() && (node["model"] || node["api_base"])) {
      return ReadPreset(member);  // AIKG's llm_config.yaml has them without a heading
    } else {
      RefuseKey(member, Keys());
    }
    Note(key, node);
  }

  void ReadAgents(const YAML::Node& node) {
    if (!node.IsMap()) Refuse(node, "agent_model_config must map agents to models");
    for (const Member& member : Members(node)) {
      const auto& known = KnownAgents();
      if (std::find(known.begin(), known.end(), member.key) == known.end()) {
        Refuse(member.at, "unknown agent '" + member.key + "'" + DidYouMean(member.key, known));
      }
      config_.agent_model_config[member.key] = Text(member.value);
      Note("agent_model_config." + member.key, member.value);
    }
  }

  // AIKG's folders of documents for each agent; one folder for both is short for that.
  void ReadDocs(const YAML::Node& node) {
    if (node.IsScalar()) {
      for (const char* role : {"designer", "coder"}) TakeDocs(role, node);
      return;
    }
    if (!node.IsMap()) Refuse(node, "docs_dir must map designer and coder to folders");
    for (const Member& member : Members(node)) {
      if (member.key == "sketch") continue;  // of an agent that kerf does not have
      if (member.key != "designer" && member.key != "coder") {
        RefuseKey(member, {"designer", "coder"});
      }
      TakeDocs(member.key, member.value);
    }
  }

  void TakeDocs(const std::string& role, const YAML::Node& node) {
    const std::string folder = ExpandHome(Text(node));
    if (!trusted_ && (folder.starts_with('/') || folder.find("..") != std::string::npos)) {
      Refuse(node,
             "a folder outside of this one would be sent to a model; it is taken only from a "
             "file that is named: --config " +
                 path_);
    }
    config_.docs_dir[role] = folder;
    Note("docs_dir." + role, node);
  }

  void ReadProfile(const YAML::Node& node) {
    if (!node.IsMap()) Refuse(node, "profile_settings must be a mapping");
    for (const Member& member : Members(node)) {
      if (member.key == "run_times") {
        config_.run_times = Count(member.value);
      } else if (member.key == "warmup_times") {
        config_.warmup_times = Count(member.value);
      } else {
        RefuseKey(member, {"run_times", "warmup_times"});
      }
      Note("profile_settings." + member.key, member.value);
    }
  }

  void ReadPresets(const YAML::Node& node) {
    if (!node.IsMap()) Refuse(node, "presets must map names to models");
    for (const Member& member : Members(node)) ReadPreset(member);
  }

  void ReadPreset(const Member& preset_node) {
    if (!preset_node.value.IsMap()) Refuse(preset_node.value, "a preset must be a mapping");
    Preset preset;
    for (const Member& member : Members(preset_node.value)) ReadPresetMember(member, preset);
    if (preset.model.empty()) {
      Refuse(preset_node.value, "preset '" + preset_node.key + "' has no model");
    }
    config_.presets[preset_node.key] = std::move(preset);
    Note("presets." + preset_node.key, preset_node.value);
  }

  void ReadPresetMember(const Member& member, Preset& preset) {
    const std::string& key = member.key;
    const YAML::Node& node = member.value;
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
      RefuseKey(member, keys);
    }
  }

  const std::string path_;
  const bool trusted_;
  Config& config_;
};

}  // namespace

Status ReadConfigText(const std::string& path, const std::string& text, bool trusted,
                      Config& config) {
  try {
    Reader(path, trusted, config).Read(YAML::Load(text));
  } catch (const Refusal& refusal) {
    return InvalidInput(refusal.message);
  } catch (const YAML::Exception& error) {
    return InvalidInput(path + ": " + error.what());
  }
  return {};
}

}  // namespace kerf::cli
