#include "cli/models.h"

#include <algorithm>
#include <cmath>

#include "cli/recorded_replies.h"
#include "device/probe.h"
#include "llm/budgeted_provider.h"
#include "llm/endpoint.h"
#include "llm/http_engine.h"
#include "llm/http_provider.h"
#include "llm/import_provider.h"
#include "llm/model_spec.h"
#include "llm/rate_limiter.h"
#include "llm/recorded_provider.h"
#include "llm/scripted_provider.h"
#include "loop/conduct/first_candidate.h"
#include "resource/resource.h"

namespace kerf::cli {
namespace {

constexpr char kDefaultModel[] = "synth";

// kerf's own, and those of the user's file, which win.
Result<llm::PriceTable> Prices(FileSystem& fs, const std::string& path) {
  llm::PriceTable prices;
  for (const resource::File& file : resource::Files("prices/models.json")) {
    KERF_ASSIGN_OR_RETURN(prices, llm::PriceTable::Parse(file.bytes, std::string(file.path)));
  }
  if (path.empty()) return prices;
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
  KERF_ASSIGN_OR_RETURN(const llm::PriceTable more, llm::PriceTable::Parse(text, path));
  prices.Add(more);
  return prices;
}

llm::BudgetLimits Limits(const Config& config) {
  llm::BudgetLimits limits;
  limits.max_tokens_total = config.max_tokens_total;
  if (config.max_cost.has_value()) {
    limits.max_cost = static_cast<int64_t>(std::llround(*config.max_cost * 1e9));
  }
  return limits;
}

// What a name stands for: a preset of the configuration, or a spec.
struct Named {
  llm::ModelSpec spec;
  llm::EndpointConfig endpoint;
};

Result<Named> Resolve(const std::string& name, const Config& config) {
  const auto preset = config.presets.find(name);
  if (preset == config.presets.end()) {
    KERF_ASSIGN_OR_RETURN(llm::ModelSpec spec, llm::ParseModelSpec(name));
    return Named{std::move(spec), {}};
  }
  const Preset& found = preset->second;
  const auto kind =
      found.provider == "anthropic" ? llm::ModelKind::kAnthropic : llm::ModelKind::kOpenAi;
  return Named{{kind, found.model}, {found.api_base, found.api_key_env, found.sampling, ""}};
}

bool IsEndpoint(llm::ModelKind kind) {
  return kind == llm::ModelKind::kOpenAi || kind == llm::ModelKind::kAnthropic;
}

}  // namespace

// What the models behind endpoints share; started when the first one is there.
struct Models::Network {
  explicit Network(Clock& clock) : limits(clock, {}) {}
  std::unique_ptr<llm::HttpEngine> engine;
  llm::RateLimits limits;
};

Models::Models(const Ports& ports, llm::PriceTable prices, llm::BudgetLimits limits)
    : ports_(ports), ledger_(std::move(prices), limits) {}

Models::~Models() {
  Stop();
  providers_.clear();  // before the network they use
}

Result<std::unique_ptr<llm::Provider>> Models::MakeEndpoint(const llm::ModelSpec& spec,
                                                            const llm::EndpointConfig& config) {
  KERF_ASSIGN_OR_RETURN(llm::Endpoint endpoint, llm::ResolveEndpoint(spec, config));
  if (network_ == nullptr) {
    network_ = std::make_unique<Network>(ports_.clock);
    KERF_ASSIGN_OR_RETURN(network_->engine, llm::HttpEngine::Start());
  }
  return std::unique_ptr<llm::Provider>(std::make_unique<llm::HttpProvider>(
      std::move(endpoint),
      llm::HttpProvider::Ports{*network_->engine, network_->limits, ports_.clock, ports_.ids}));
}

Result<std::unique_ptr<llm::Provider>> Models::MakeProvider(const llm::ModelSpec& spec,
                                                            const llm::EndpointConfig& config) {
  switch (spec.kind) {
    case llm::ModelKind::kOpenAi:
    case llm::ModelKind::kAnthropic:
      return MakeEndpoint(spec, config);
    case llm::ModelKind::kScripted: {
      KERF_ASSIGN_OR_RETURN(const std::string text, ports_.fs.ReadFile(spec.value));
      KERF_ASSIGN_OR_RETURN(auto provider, llm::ScriptedProvider::Parse(text, spec.value));
      return std::unique_ptr<llm::Provider>(std::move(provider));
    }
    case llm::ModelKind::kImport: {
      KERF_ASSIGN_OR_RETURN(const std::string text, ports_.fs.ReadFile(spec.value));
      return llm::MakeImportProvider(text, spec.value);
    }
    case llm::ModelKind::kRecorded: {
      KERF_ASSIGN_OR_RETURN(auto records, ReadRecordedReplies(ports_.fs, spec.value));
      llm::RecordedProvider::Options options;
      options.loose = ports_.loose;
      options.source = spec.value;
      return std::unique_ptr<llm::Provider>(
          std::make_unique<llm::RecordedProvider>(std::move(records), std::move(options)));
    }
    case llm::ModelKind::kSynth: {
      // Capturing is the interpreter's work, on one processor each; verdicts need some as well.
      const int processors = device::UsableProcessors();
      conduct::SynthProvider::Options options{ports_.cache_dir, ports_.threads,
                                              std::clamp(processors / 2, 1, 8), ports_.mode};
      auto provider = std::make_unique<conduct::SynthProvider>(ports_.fs, std::move(options));
      synth_ = provider.get();
      return std::unique_ptr<llm::Provider>(std::move(provider));
    }
  }
  return Unavailable("unknown kind of model");
}

void Models::Remember(const std::string& code, double speedup) {
  if (synth_ != nullptr) synth_->Remember(code, speedup);
}

Status Models::Add(const std::string& name, const Config& config) {
  if (providers_.count(name) != 0) return {};
  KERF_ASSIGN_OR_RETURN(const Named named, Resolve(name, config));
  KERF_ASSIGN_OR_RETURN(auto provider, MakeProvider(named.spec, named.endpoint));
  llm::BudgetedProvider::Options options;
  options.model = named.spec.value;
  options.output_tokens = named.endpoint.sampling.max_tokens.value_or(options.output_tokens);
  options.free = !IsEndpoint(named.spec.kind);
  // Known now, and not only when every task has run its reference.
  if (ledger_.limits().max_cost.has_value() && !options.free &&
      !ledger_.prices().Find(options.model).has_value()) {
    return InvalidInput("the price of model '" + options.model +
                        "' is not known, so --max-cost cannot be kept; name a file with it "
                        "(prices: in the configuration), or limit tokens: --max-tokens-total");
  }
  only_synth_ = only_synth_ && named.spec.kind == llm::ModelKind::kSynth;
  providers_[name] =
      std::make_unique<llm::BudgetedProvider>(std::move(provider), ledger_, std::move(options));
  return {};
}

Result<std::unique_ptr<Models>> Models::Make(const Config& config, const Ports& ports) {
  KERF_ASSIGN_OR_RETURN(llm::PriceTable prices, Prices(ports.fs, config.prices));
  std::unique_ptr<Models> models(new Models(ports, std::move(prices), Limits(config)));
  models->default_ = config.model.empty() ? kDefaultModel : config.model;
  models->name_of_ = config.agent_model_config;
  KERF_RETURN_IF_ERROR(models->Add(models->default_, config));
  for (const auto& [agent, name] : models->name_of_) {
    KERF_RETURN_IF_ERROR(models->Add(name, config));
  }
  KERF_RETURN_IF_ERROR(models->LetSynthBegin(config));
  return models;
}

Status Models::LetSynthBegin(const Config& config) {
  if (only_synth_ || config.first == "model") return {};
  if (config.first.empty()) {
    KERF_ASSIGN_OR_RETURN(const Named named, Resolve(default_, config));
    if (config.task_type != "profile" || !IsEndpoint(named.spec.kind)) return {};
  }
  KERF_RETURN_IF_ERROR(Add(kDefaultModel, config));
  first_ = std::make_unique<conduct::FirstCandidate>(
      *providers_.at(kDefaultModel),
      [this](const std::string& agent) -> llm::Provider& { return *providers_.at(NameOf(agent)); });
  return {};
}

const std::string& Models::NameOf(const std::string& agent) const {
  const auto found = name_of_.find(agent);
  return found == name_of_.end() ? default_ : found->second;
}

llm::Provider& Models::Of(const std::string& agent) {
  return first_ != nullptr ? *first_ : *providers_.at(NameOf(agent));
}

void Models::Stop() {
  for (const auto& [name, provider] : providers_) provider->Stop();
}

}  // namespace kerf::cli
