#include "cli/models.h"

#include <cmath>

#include "llm/budgeted_provider.h"
#include "llm/model_spec.h"
#include "llm/scripted_provider.h"
#include "resource/resource.h"

namespace kerf::cli {
namespace {

constexpr char kDefaultModel[] = "synth";

// What a maker of providers may need.
struct Workshop {
  const Config& config;
  const Models::Options& options;
  FileSystem& fs;
  Clock& clock;
  IdSource& ids;
};

Result<std::unique_ptr<llm::Provider>> MakeScripted(const std::string& file, FileSystem& fs) {
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(file));
  KERF_ASSIGN_OR_RETURN(auto provider, llm::ScriptedProvider::Parse(text, file));
  return std::unique_ptr<llm::Provider>(std::move(provider));
}

Result<std::unique_ptr<llm::Provider>> MakeProvider(const llm::ModelSpec& spec,
                                                    const Workshop& shop) {
  switch (spec.kind) {
    case llm::ModelKind::kScripted:
      return MakeScripted(spec.value, shop.fs);
    default:
      return Unavailable("--model " + spec.Text() + " is not there yet");
  }
}

Result<llm::PriceTable> OwnPrices() {
  for (const resource::File& file : resource::Files("prices/models.json")) {
    return llm::PriceTable::Parse(file.bytes, std::string(file.path));
  }
  return llm::PriceTable();
}

}  // namespace

Models::Models(llm::PriceTable prices, llm::BudgetLimits limits)
    : ledger_(std::move(prices), limits) {}

Models::~Models() { Stop(); }

Result<std::unique_ptr<Models>> Models::Make(const Config& config, const Options& options,
                                             FileSystem& fs, Clock& clock, IdSource& ids) {
  KERF_ASSIGN_OR_RETURN(llm::PriceTable prices, OwnPrices());
  llm::BudgetLimits limits;
  limits.max_tokens_total = config.max_tokens_total;
  if (config.max_cost.has_value()) {
    limits.max_cost = static_cast<int64_t>(std::llround(*config.max_cost * 1e9));
  }
  std::unique_ptr<Models> models(new Models(std::move(prices), limits));
  models->default_spec_ = config.model.empty() ? kDefaultModel : config.model;
  models->spec_of_ = config.agent_model_config;
  const Workshop shop{config, options, fs, clock, ids};
  std::vector<std::string> specs = {models->default_spec_};
  for (const auto& [agent, spec] : models->spec_of_) specs.push_back(spec);
  models->only_synth_ = true;
  for (const std::string& text : specs) {
    if (models->providers_.count(text) != 0) continue;
    KERF_ASSIGN_OR_RETURN(const llm::ModelSpec spec, llm::ParseModelSpec(text));
    KERF_ASSIGN_OR_RETURN(auto provider, MakeProvider(spec, shop));
    const bool free =
        spec.kind != llm::ModelKind::kOpenAi && spec.kind != llm::ModelKind::kAnthropic;
    models->only_synth_ = models->only_synth_ && spec.kind == llm::ModelKind::kSynth;
    models->providers_[text] = std::make_unique<llm::BudgetedProvider>(
        std::move(provider), models->ledger_,
        llm::BudgetedProvider::Options{.model = spec.value, .free = free});
  }
  return models;
}

const std::string& Models::SpecOf(const std::string& agent) const {
  const auto found = spec_of_.find(agent);
  return found == spec_of_.end() ? default_spec_ : found->second;
}

llm::Provider& Models::Of(const std::string& agent) { return *providers_.at(SpecOf(agent)); }

void Models::Stop() {
  for (const auto& [spec, provider] : providers_) provider->Stop();
}

}  // namespace kerf::cli
