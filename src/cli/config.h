// The configuration of `kerf run`: a YAML file with AIKG's keys and kerf's own, environment
// variables and flags; each value with where it comes from. docs/models.md lists the keys.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "llm/provider.h"

namespace kerf::cli {

// A model with its endpoint, as AIKG's presets have it.
struct Preset {
  std::string provider = "openai";  // or "anthropic"
  std::string model;
  std::string api_base;     // empty: from the environment, else the vendor's
  std::string api_key_env;  // the name of a variable, never a key
  llm::Sampling sampling;
};

struct Config {
  std::string model;                                      // a spec or a preset's name
  std::map<std::string, std::string> agent_model_config;  // agent → spec or preset
  std::map<std::string, Preset> presets;
  std::string log_dir = "kerf_logs";
  std::string language = "en";
  std::string prompts;                          // a folder; empty: kerf's own
  std::string prices;                           // a file beside kerf's own
  std::map<std::string, std::string> docs_dir;  // "designer", "coder" → a folder
  std::string task_type = "precision_only";
  std::string first;  // "synth", "model": who writes the first candidate; empty: synth to be beaten
  int64_t limit_steps = 10;
  int64_t jobs = 0;  // 0: from the machine
  std::optional<int64_t> max_tokens_total;
  std::optional<double> max_cost;  // dollars
  int64_t verify_timeout = 0;      // seconds of one call of a candidate; 0: from the reference
  // AIKG's. kerf decides itself how often it measures (docs/timing.md), and says so when these are
  // set.
  std::optional<int64_t> run_times;
  std::optional<int64_t> warmup_times;

  // "limit_steps" → "flag --limit-steps", "conf.yaml:7", "default".
  std::map<std::string, std::string> origins;
};

// All agents that may have a model of their own.
const std::vector<std::string>& KnownAgents();

// `path` may be empty: then kerf.yaml in the working directory and ~/.config/kerf/config.yaml are
// looked for. kInvalidInput with file, line and the nearest right key.
Result<Config> LoadConfig(FileSystem& fs, const std::string& path,
                          const std::function<std::string(const char*)>& variable);

}  // namespace kerf::cli
