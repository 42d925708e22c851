// Puts a ledger around a provider: asks it before each call, tells it after each, and writes the
// cost into the reply.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llm/ledger.h"
#include "llm/provider.h"

namespace kerf::llm {

class BudgetedProvider : public Provider {
 public:
  struct Options {
    // As the price table has it: "gpt-5". Empty: it uses no tokens (the synthesizer).
    std::string model;
    // The most a reply can take: max_tokens of the sampling. Without one a call is estimated at
    // this, and may use more.
    int64_t output_tokens = 8192;
    // No price is needed: replies cost nothing unless they, or their model's price, say otherwise.
    bool free = false;
  };

  // `ledger` outlives the provider.
  BudgetedProvider(std::unique_ptr<Provider> inner, Ledger& ledger, Options options);

  void Ask(Request request, Done done) override;
  void Stop() override {
    ledger_.RefuseWaiting();
    inner_->Stop();
  }
  [[nodiscard]] std::string name() const override { return inner_->name(); }

 private:
  void AskWith(Ledger::Hold hold, Request request, Done done);
  [[nodiscard]] Usage Estimate(const Request& request) const;
  [[nodiscard]] std::vector<Charge> Charges(const Result<Reply>& reply,
                                            std::vector<Attempt> attempts) const;

  const Options options_;
  Ledger& ledger_;
  const std::unique_ptr<Provider> inner_;
};

}  // namespace kerf::llm
