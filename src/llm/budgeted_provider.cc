#include "llm/budgeted_provider.h"

#include <utility>
#include <vector>

#include "llm/attempt_log.h"
#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

std::vector<Charge> ChargesOf(const std::vector<Attempt>& attempts, const std::string& model,
                              std::optional<int64_t> cost) {
  std::vector<Charge> charges;
  for (const Attempt& attempt : attempts) charges.push_back({model, attempt.usage, cost});
  return charges;
}

}  // namespace

BudgetedProvider::BudgetedProvider(std::unique_ptr<Provider> inner, Ledger& ledger, Options options)
    : options_(std::move(options)), ledger_(ledger), inner_(std::move(inner)) {}

// What a call may use at most, as far as anybody knows.
Usage BudgetedProvider::Estimate(const Request& request) const {
  if (options_.model.empty()) return {};
  return {.input_total = EstimateTokens(request.messages),
          .output_total = options_.output_tokens,
          .source = Usage::Source::kEstimated};
}

// Under the name it was asked by, else under the one that answered.
std::vector<Charge> BudgetedProvider::Charges(const Result<Reply>& reply,
                                              std::vector<Attempt> attempts) const {
  const std::optional<int64_t> free = options_.free ? std::optional<int64_t>(0) : std::nullopt;
  if (!reply.ok()) return ChargesOf(attempts, options_.model, free);
  if (attempts.empty()) attempts.push_back({.usage = reply->usage});
  if (reply->cost.has_value()) {
    // A provider that knows its cost (recorded, scripted) says it once for all attempts.
    std::vector<Charge> charges = ChargesOf(attempts, options_.model, 0);
    charges.back().cost = reply->cost;
    return charges;
  }
  for (const std::string& model : {options_.model, reply->model}) {
    if (ledger_.prices().Find(model).has_value()) return ChargesOf(attempts, model, std::nullopt);
  }
  return ChargesOf(attempts, options_.model, free);
}

void BudgetedProvider::Ask(Request request, Done done) {
  // `spec` and `last` are lent for the time of Ask() only; whoever needs them waits for nobody.
  const Usage estimate = Estimate(request);
  const std::optional<int64_t> cost = options_.free ? std::optional<int64_t>(0) : std::nullopt;
  const std::string owner = request.owner;
  ledger_.ReserveOrWait(options_.model, estimate, cost, owner,
                        [this, request = std::move(request),
                         done = std::move(done)](Result<Ledger::Hold> hold) mutable {
                          if (!hold.ok()) return done(std::move(hold).error());
                          AskWith(*hold, std::move(request), std::move(done));
                        });
}

void BudgetedProvider::AskWith(Ledger::Hold hold, Request request, Done done) {
  const std::shared_ptr<AttemptLog> attempts = AttemptLog::Attach(request);
  const std::string agent = request.agent;
  const std::string owner = request.owner;
  inner_->Ask(std::move(request),
              [this, attempts, hold, agent, owner, done = std::move(done)](Result<Reply> reply) {
                const std::vector<Charge> charges = Charges(reply, attempts->list());
                if (reply.ok()) {
                  const bool priced = !charges.back().cost.has_value();
                  reply->cost = ledger_.CostOf(charges);
                  if (priced && reply->cost.has_value())
                    reply->price_version = ledger_.prices().version();
                }
                ledger_.Settle(hold, agent, owner, charges, !reply.ok());
                done(std::move(reply));
              });
}

}  // namespace kerf::llm
