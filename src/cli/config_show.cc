// kerf config show: the effective configuration, and where each value comes from.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/cache_dir.h"
#include "cli/config.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "llm/endpoint.h"

namespace kerf::cli {
namespace {

struct ConfigRow {
  std::string key;
  std::string value;
};

void AddPreset(const std::string& name, const Preset& preset, std::vector<ConfigRow>& rows) {
  std::string text = preset.provider + ":" + preset.model;
  if (!preset.api_base.empty()) text += " at " + llm::ShownUrl(preset.api_base);
  if (!preset.api_key_env.empty()) {
    // Only whether there is one: a key is never printed.
    const bool set = ProcessVariable(preset.api_key_env).has_value();
    text += ", key in " + preset.api_key_env + (set ? " (set)" : " (not set)");
  }
  rows.push_back({"presets." + name, text});
}

std::vector<ConfigRow> Rows(const Config& config) {
  std::vector<ConfigRow> rows = {{"model", config.model.empty() ? "synth" : config.model},
                                 {"log_dir", config.log_dir},
                                 {"language", config.language},
                                 {"prompts", config.prompts},
                                 {"prices", config.prices},
                                 {"task_type", config.task_type},
                                 {"first", config.first},
                                 {"limit_steps", std::to_string(config.limit_steps)},
                                 {"jobs", config.jobs == 0 ? "" : std::to_string(config.jobs)}};
  rows.push_back({"max_tokens_total", config.max_tokens_total.has_value()
                                          ? std::to_string(*config.max_tokens_total)
                                          : ""});
  rows.push_back(
      {"max_cost", config.max_cost.has_value() ? fmt::format("${:.2f}", *config.max_cost) : ""});
  const auto times = [](const std::optional<int64_t>& count) {
    return count.has_value() ? std::to_string(*count) : "";
  };
  rows.push_back({"profile_settings.run_times", times(config.run_times)});
  rows.push_back({"profile_settings.warmup_times", times(config.warmup_times)});
  rows.push_back(
      {"verify_timeout", config.verify_timeout == 0 ? "" : std::to_string(config.verify_timeout)});
  for (const auto& [role, folder] : config.docs_dir) rows.push_back({"docs_dir." + role, folder});
  for (const auto& [agent, model] : config.agent_model_config) {
    rows.push_back({"agent_model_config." + agent, model});
  }
  for (const auto& [name, preset] : config.presets) AddPreset(name, preset, rows);
  for (const char* variable : {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"}) {
    if (const auto value = ProcessVariable(variable))
      rows.push_back({variable, llm::ShownUrl(*value)});
  }
  for (const char* variable : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}) {
    rows.push_back({variable, ProcessVariable(variable).has_value() ? "(set)" : ""});
  }
  return rows;
}

std::string Origin(const Config& config, const std::string& key) {
  const auto found = config.origins.find(key);
  if (found != config.origins.end()) return found->second;
  return key.starts_with("OPENAI_") || key.starts_with("ANTHROPIC_") ? "environment" : "default";
}

Result<int> RunConfigShow(const Args& args, Context& context) {
  const auto variable = [](const char* name) { return ProcessVariable(name).value_or(""); };
  KERF_ASSIGN_OR_RETURN(const Config config,
                        LoadConfig(context.fs, args.Get("--config"), variable));
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  Table table({{"KEY"}, {"VALUE"}, {"FROM"}});
  for (const ConfigRow& row : Rows(config)) {
    const std::string origin = Origin(config, row.key);
    table.AddRow({{row.key}, {row.value.empty() ? "–" : row.value}, {origin}});
    values[row.key] = {{"value", row.value}, {"from", origin}};
  }
  context.out.Data(args.Has("--json") ? DumpJson({{"ok", true}, {"values", values}}) + "\n"
                                      : table.Render(context.out));
  return kExitDone;
}

}  // namespace

Verb ConfigShowVerb() {
  return {.name = "config show",
          .summary = "Show the effective configuration and where each value comes from",
          .details =
              "Flags of `kerf run` go before environment variables (KERF_MODEL, KERF_LOG_DIR,\n"
              "KERF_LANGUAGE, KERF_PROMPTS), these before --config FILE, or before ./kerf.yaml\n"
              "and ~/.config/kerf/config.yaml. Keys are never shown. docs/models.md has all keys.",
          .positionals = {},
          .flags = {{.name = "--config", .value_name = "FILE", .help = "YAML"}, JsonFlag()},
          .examples = {{"kerf config show --config kerf.yaml", ""}},
          .run = RunConfigShow};
}

}  // namespace kerf::cli
