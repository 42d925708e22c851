#include "llm/budgeted_provider.h"

#include <mutex>
#include <utility>
#include <vector>

#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

// Attempts of one call, collected while it runs: an Error does not carry them.
struct Attempts {
  std::mutex mu;
  std::vector<Attempt> list;  // guarded by mu
};

std::vector<Charge> ChargesOf(const std::vector<Attempt>& attempts, const std::string& model,
                              bool free) {
  std::vector<Charge> charges;
  for (const Attempt& attempt : attempts) {
    charges.push_back({model, attempt.usage, free ? std::optional<int64_t>(0) : std::nullopt});
  }
  return charges;
}

}  // namespace

BudgetedProvider::BudgetedProvider(std::unique_ptr<Provider> inner, Ledger& ledger, Options options)
    : options_(std::move(options)), ledger_(ledger), inner_(std::move(inner)) {}

void BudgetedProvider::Ask(Request request, Done done) {
  Usage estimate;
  if (!options_.free) {
    estimate = {.input_total = EstimateTokens(request.messages),
                .output_total = options_.output_tokens,
                .source = Usage::Source::kEstimated};
  }
  Result<Ledger::Hold> hold = options_.free ? Result<Ledger::Hold>(Ledger::Hold{})
                                            : ledger_.Reserve(options_.model, estimate);
  if (!hold.ok()) return done(std::move(hold).error());
  auto attempts = std::make_shared<Attempts>();
  auto outer = std::move(request.on_attempt);
  request.on_attempt = [attempts, outer = std::move(outer)](const Attempt& attempt) {
    {
      const std::lock_guard lock(attempts->mu);
      attempts->list.push_back(attempt);
    }
    if (outer) outer(attempt);
  };
  const std::string agent = request.agent;
  const std::string owner = request.owner;
  inner_->Ask(std::move(request), [this, attempts, hold = *hold, agent, owner,
                                   done = std::move(done)](Result<Reply> reply) {
    std::vector<Charge> charges;
    {
      const std::lock_guard lock(attempts->mu);
      charges = ChargesOf(attempts->list, options_.model, options_.free);
    }
    if (reply.ok()) {
      // A provider that knows its cost (recorded, scripted) says it once for all attempts.
      if (charges.empty()) {
        charges = ChargesOf({Attempt{.http_status = 0, .usage = reply->usage}}, options_.model,
                            options_.free);
      }
      if (reply->cost.has_value()) {
        for (Charge& charge : charges) charge.cost = 0;
        charges.back().cost = reply->cost;
      }
      if (!charges.back().cost.has_value()) reply->price_version = ledger_.prices().version();
      reply->cost = ledger_.CostOf(charges);
    }
    ledger_.Settle(hold, agent, owner, charges, !reply.ok());
    done(std::move(reply));
  });
}

}  // namespace kerf::llm
