// The models of a run: which one answers which agent, with one ledger around all of them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "cli/config.h"
#include "llm/endpoint.h"
#include "llm/ledger.h"
#include "llm/model_spec.h"
#include "llm/provider.h"
#include "loop/conduct/synth_provider.h"

namespace kerf::cli {

class Models {
 public:
  // What they are made from; outlives them.
  struct Ports {
    FileSystem& fs;
    Clock& clock;
    IdSource& ids;
    bool loose = false;  // recorded replies by order, not by request
    // For the synthesizer: where it keeps graphs and plans, what it plans for.
    std::string cache_dir;
    int threads = 1;
    sandbox::Mode mode = sandbox::Mode::kBest;
  };
  // kUnavailable, with what to set, when an endpoint's key is missing.
  static Result<std::unique_ptr<Models>> Make(const Config& config, const Ports& ports);
  ~Models();

  // What answers `agent`.
  llm::Provider& Of(const std::string& agent);
  // As the user named it: "openai:gpt-5".
  [[nodiscard]] const std::string& NameOf(const std::string& agent) const;
  // Whether designs and code come from the synthesizer, which neither checks nor analyzes.
  [[nodiscard]] bool only_synth() const { return only_synth_; }
  // Tells the synthesizer which of its kernels was the best.
  void Remember(const std::string& code, double speedup);
  llm::Ledger& ledger() { return ledger_; }
  void Stop();

 private:
  struct Network;

  Models(const Ports& ports, llm::PriceTable prices, llm::BudgetLimits limits);
  Status Add(const std::string& name, const Config& config);
  Status LetSynthBegin(const Config& config);
  Result<std::unique_ptr<llm::Provider>> MakeProvider(const llm::ModelSpec& spec,
                                                      const llm::EndpointConfig& config);
  Result<std::unique_ptr<llm::Provider>> MakeEndpoint(const llm::ModelSpec& spec,
                                                      const llm::EndpointConfig& config);

  const Ports ports_;
  llm::Ledger ledger_;
  std::string default_;
  std::map<std::string, std::string> name_of_;  // agent → name
  bool only_synth_ = true;
  std::unique_ptr<Network> network_;
  conduct::SynthProvider* synth_ = nullptr;  // in providers_, when it is used
  std::map<std::string, std::unique_ptr<llm::Provider>> providers_;  // by name
  // Before all of them, when the synthesizer writes the first candidates.
  std::unique_ptr<llm::Provider> first_;
};

}  // namespace kerf::cli
