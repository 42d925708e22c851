// Counts tokens and money of a run, exactly, and stops before the call that would exceed a limit.
//
//   Ledger ledger(prices, {.max_tokens_total = 200000});
//   KERF_ASSIGN_OR_RETURN(Ledger::Hold hold, ledger.Reserve("gpt-5", estimate));
//   … ask …
//   ledger.Settle(hold, "coder_fix", "relu/0", charges);
//
// Thread-safe. BudgetedProvider does this around any provider.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "llm/prices.h"
#include "llm/provider.h"

namespace kerf::llm {

struct BudgetLimits {
  std::optional<int64_t> max_tokens_total;  // input and output
  std::optional<int64_t> max_cost;          // nano-dollars
};

// What one attempt used. `cost` is given when it is known without a table (0 for the synthesizer).
struct Charge {
  std::string model;
  Usage usage;
  std::optional<int64_t> cost;
};

struct Account {
  int64_t calls = 0;     // that ended, well or not
  int64_t failed = 0;    // of those
  int64_t attempts = 0;  // retries included
  Usage usage;           // sums; `source` is kEstimated as soon as one of them was
  int64_t cost = 0;      // nano-dollars, of what could be priced
  // Tokens whose price nobody knows: when it is not 0, `cost` is not all.
  int64_t unpriced_tokens = 0;

  [[nodiscard]] int64_t tokens() const { return usage.input_total + usage.output_total; }
};

class Ledger {
 public:
  struct Hold {
    int64_t tokens = 0;
    int64_t cost = 0;
  };

  explicit Ledger(PriceTable prices, BudgetLimits limits = {});

  // Sets aside what a call may use at most, as far as that is known. kDenied when that does not fit
  // beside what was used and what is set aside; IsBudgetError() tells such an Error from others.
  // Also kDenied when max_cost is set and the model's price is unknown: the limit could not be
  // kept.
  // `known_cost`: without a table.
  Result<Hold> Reserve(const std::string& model, const Usage& estimate,
                       std::optional<int64_t> known_cost = std::nullopt);
  // The same, but waits while only what is set aside for calls under way is in the way; those of
  // tasks that have begun go first. `granted` is called once, perhaps before this returns.
  using Granted = std::function<void(Result<Hold>)>;
  void ReserveOrWait(const std::string& model, const Usage& estimate,
                     std::optional<int64_t> known_cost, const std::string& owner, Granted granted);
  // Those who wait get an error, and nobody waits any more.
  void RefuseWaiting();
  // Replaces the hold by what was really used. Every hold is settled once.
  void Settle(const Hold& hold, const std::string& agent, const std::string& owner,
              const std::vector<Charge>& charges, bool failed);
  // What was used before a run was interrupted, from its trace.
  void Add(const std::string& agent, const std::string& owner, const std::vector<Charge>& charges);

  // nullopt when one of them has no price.
  [[nodiscard]] std::optional<int64_t> CostOf(const std::vector<Charge>& charges) const;

  [[nodiscard]] Account Total() const;
  [[nodiscard]] std::map<std::string, Account> ByAgent() const;
  [[nodiscard]] std::map<std::string, Account> ByOwner() const;
  [[nodiscard]] const PriceTable& prices() const { return prices_; }
  [[nodiscard]] const BudgetLimits& limits() const { return limits_; }
  // {"total":{…},"agents":{…},"tasks":{…},"prices":"2026-11-01"}
  [[nodiscard]] std::string ToJson() const;

 private:
  struct Waiting {
    Hold hold;
    std::string owner;
    Granted granted;
  };

  Result<Hold> HoldFor(const std::string& model, const Usage& estimate,
                       std::optional<int64_t> known_cost) const;
  // Called with mu_ held.
  [[nodiscard]] Status Fits(const Hold& hold, const Hold& held) const;
  std::vector<std::pair<Waiting, Result<Hold>>> TakeReady();
  void Book(Account& account, const std::vector<Charge>& charges, bool failed) const;

  const PriceTable prices_;
  const BudgetLimits limits_;

  mutable std::mutex mu_;
  // Guarded by mu_.
  Hold held_;
  std::vector<Waiting> waiting_;
  bool closed_ = false;
  Account total_;
  std::map<std::string, Account> by_agent_;
  std::map<std::string, Account> by_owner_;
};

// A limit, not a failure: the loop ends and keeps what it has.
bool IsBudgetError(const Error& error);

}  // namespace kerf::llm
