#include "llm/ledger.h"

#include <algorithm>

#include "base/json_writer.h"

namespace kerf::llm {
namespace {

constexpr const char* kBudgetPrefix = "budget: ";

void AddUsage(Usage& sum, const Usage& usage) {
  sum.input_total += usage.input_total;
  sum.input_cache_read += usage.input_cache_read;
  sum.input_cache_write += usage.input_cache_write;
  sum.output_total += usage.output_total;
  sum.output_reasoning += usage.output_reasoning;
  if (usage.source == Usage::Source::kEstimated || sum.source == Usage::Source::kNone) {
    sum.source = usage.source;
  }
}

void WriteAccount(JsonWriter& json, const Account& account) {
  json.BeginObject();
  json.Key("calls").Int(account.calls).Key("failed").Int(account.failed);
  json.Key("attempts").Int(account.attempts);
  json.Key("input_tokens").Int(account.usage.input_total);
  json.Key("cached_input_tokens").Int(account.usage.input_cache_read);
  json.Key("output_tokens").Int(account.usage.output_total);
  json.Key("reasoning_tokens").Int(account.usage.output_reasoning);
  json.Key("estimated").Bool(account.usage.source == Usage::Source::kEstimated);
  json.Key("cost_nano_dollars").Int(account.cost);
  json.Key("unpriced_tokens").Int(account.unpriced_tokens);
  json.EndObject();
}

void WriteAccounts(JsonWriter& json, const std::map<std::string, Account>& accounts) {
  json.BeginObject();
  for (const auto& [name, account] : accounts) {
    json.Key(name);
    WriteAccount(json, account);
  }
  json.EndObject();
}

}  // namespace

Ledger::Ledger(PriceTable prices, BudgetLimits limits)
    : prices_(std::move(prices)), limits_(limits) {}

Result<Ledger::Hold> Ledger::HoldFor(const std::string& model, const Usage& estimate,
                                     std::optional<int64_t> known_cost) const {
  Hold hold{estimate.input_total + estimate.output_total, 0};
  if (!limits_.max_cost.has_value()) return hold;
  const std::optional<int64_t> cost =
      known_cost.has_value() ? known_cost : prices_.Cost(model, estimate);
  if (!cost.has_value()) {
    return Denied(kBudgetPrefix + ("the price of model '" + model) +
                  "' is not known, so --max-cost cannot be kept; add it to the price file or "
                  "limit tokens with --max-tokens-total");
  }
  hold.cost = *cost;
  return hold;
}

Status Ledger::Fits(const Hold& hold, const Hold& held) const {
  if (limits_.max_tokens_total.has_value() &&
      total_.tokens() + held.tokens + hold.tokens > *limits_.max_tokens_total) {
    return Denied(kBudgetPrefix + std::to_string(total_.tokens()) + " tokens used, " +
                  std::to_string(held.tokens) + " set aside; this call may take " +
                  std::to_string(hold.tokens) + " and --max-tokens-total is " +
                  std::to_string(*limits_.max_tokens_total));
  }
  if (limits_.max_cost.has_value() && total_.cost + held.cost + hold.cost > *limits_.max_cost) {
    return Denied(kBudgetPrefix + FormatDollars(total_.cost) + " spent, " +
                  FormatDollars(held.cost) + " set aside; this call may cost " +
                  FormatDollars(hold.cost) + " and --max-cost is " +
                  FormatDollars(limits_.max_cost));
  }
  return {};
}

Result<Ledger::Hold> Ledger::Reserve(const std::string& model, const Usage& estimate,
                                     std::optional<int64_t> known_cost) {
  KERF_ASSIGN_OR_RETURN(const Hold hold, HoldFor(model, estimate, known_cost));
  const std::lock_guard lock(mu_);
  KERF_RETURN_IF_ERROR(Fits(hold, held_));
  held_.tokens += hold.tokens;
  held_.cost += hold.cost;
  return hold;
}

void Ledger::ReserveOrWait(const std::string& model, const Usage& estimate,
                           std::optional<int64_t> known_cost, const std::string& owner,
                           Granted granted) {
  Result<Hold> hold = HoldFor(model, estimate, known_cost);
  if (hold.ok()) {
    const std::lock_guard lock(mu_);
    if (const Status fits = Fits(*hold, held_); fits.ok()) {
      held_.tokens += hold->tokens;
      held_.cost += hold->cost;
    } else if (!closed_ && Fits(*hold, {}).ok()) {
      waiting_.push_back({*hold, owner, std::move(granted)});
      return;
    } else {
      hold = fits.error();
    }
  }
  granted(std::move(hold));
}

std::vector<std::pair<Ledger::Waiting, Result<Ledger::Hold>>> Ledger::TakeReady() {
  std::vector<std::pair<Waiting, Result<Hold>>> ready;
  // What a task has cost already is lost when it does not go on.
  std::stable_partition(waiting_.begin(), waiting_.end(),
                        [&](const Waiting& one) { return by_owner_.contains(one.owner); });
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    const Status fits = Fits(one->hold, held_);
    const Status ever = Fits(one->hold, {});
    if (!fits.ok() && ever.ok() && !closed_) {
      ++one;
      continue;
    }
    Result<Hold> answer = one->hold;
    if (fits.ok() && !closed_) {
      held_.tokens += one->hold.tokens;
      held_.cost += one->hold.cost;
    } else {
      answer = closed_ ? Unavailable("stopped") : fits.error();
    }
    ready.emplace_back(std::move(*one), std::move(answer));
    one = waiting_.erase(one);
  }
  return ready;
}

void Ledger::RefuseWaiting() {
  std::vector<std::pair<Waiting, Result<Hold>>> ready;
  {
    const std::lock_guard lock(mu_);
    closed_ = true;
    ready = TakeReady();
  }
  for (auto& [one, answer] : ready) one.granted(std::move(answer));
}

void Ledger::Book(Account& account, const std::vector<Charge>& charges, bool failed) const {
  account.calls += 1;
  account.failed += failed ? 1 : 0;
  account.attempts += static_cast<int64_t>(charges.size());
  for (const Charge& charge : charges) {
    AddUsage(account.usage, charge.usage);
    const std::optional<int64_t> cost =
        charge.cost.has_value() ? charge.cost : prices_.Cost(charge.model, charge.usage);
    account.cost += cost.value_or(0);
    if (!cost.has_value()) {
      account.unpriced_tokens += charge.usage.input_total + charge.usage.output_total;
    }
  }
}

void Ledger::Settle(const Hold& hold, const std::string& agent, const std::string& owner,
                    const std::vector<Charge>& charges, bool failed) {
  std::vector<std::pair<Waiting, Result<Hold>>> ready;
  {
    const std::lock_guard lock(mu_);
    held_.tokens -= hold.tokens;
    held_.cost -= hold.cost;
    Book(total_, charges, failed);
    Book(by_agent_[agent], charges, failed);
    Book(by_owner_[owner], charges, failed);
    ready = TakeReady();
  }
  for (auto& [one, answer] : ready) one.granted(std::move(answer));
}

void Ledger::Add(const std::string& agent, const std::string& owner,
                 const std::vector<Charge>& charges) {
  Settle({}, agent, owner, charges, false);
}

std::optional<int64_t> Ledger::CostOf(const std::vector<Charge>& charges) const {
  int64_t sum = 0;
  for (const Charge& charge : charges) {
    const std::optional<int64_t> cost =
        charge.cost.has_value() ? charge.cost : prices_.Cost(charge.model, charge.usage);
    if (!cost.has_value()) return std::nullopt;
    sum += *cost;
  }
  return sum;
}

Account Ledger::Total() const {
  const std::lock_guard lock(mu_);
  return total_;
}

std::map<std::string, Account> Ledger::ByAgent() const {
  const std::lock_guard lock(mu_);
  return by_agent_;
}

std::map<std::string, Account> Ledger::ByOwner() const {
  const std::lock_guard lock(mu_);
  return by_owner_;
}

std::string Ledger::ToJson() const {
  std::string out;
  JsonWriter json(out);
  const std::lock_guard lock(mu_);
  json.BeginObject().Key("total");
  WriteAccount(json, total_);
  json.Key("agents");
  WriteAccounts(json, by_agent_);
  json.Key("tasks");
  WriteAccounts(json, by_owner_);
  json.Key("prices").String(prices_.version()).EndObject();
  return out;
}

bool IsBudgetError(const Error& error) {
  return error.code == ErrorCode::kDenied && error.message.starts_with(kBudgetPrefix);
}

}  // namespace kerf::llm
