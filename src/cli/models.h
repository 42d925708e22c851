// The models of a run: which one answers which agent, with one ledger around all of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "cli/config.h"
#include "llm/ledger.h"
#include "llm/provider.h"

namespace kerf::cli {

class Models {
 public:
  struct Options {
    bool loose = false;  // recorded replies by order, not by request
    std::function<std::string(const char*)> variable;
  };
  // `fs`, `clock` and `ids` outlive it. kUnavailable with what to set when an endpoint's key is
  // missing.
  static Result<std::unique_ptr<Models>> Make(const Config& config, const Options& options,
                                              FileSystem& fs, Clock& clock, IdSource& ids);
  ~Models();

  // What answers `agent`.
  llm::Provider& Of(const std::string& agent);
  // As the user named it: "openai:gpt-5".
  [[nodiscard]] const std::string& SpecOf(const std::string& agent) const;
  // Whether designs and code come from the synthesizer, which neither checks nor analyzes.
  [[nodiscard]] bool only_synth() const { return only_synth_; }
  llm::Ledger& ledger() { return ledger_; }
  void Stop();

 private:
  Models(llm::PriceTable prices, llm::BudgetLimits limits);

  llm::Ledger ledger_;
  std::string default_spec_;
  std::map<std::string, std::string> spec_of_;                       // agent → spec
  std::map<std::string, std::unique_ptr<llm::Provider>> providers_;  // by spec
  bool only_synth_ = false;
};

}  // namespace kerf::cli
