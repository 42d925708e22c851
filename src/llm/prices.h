// What tokens cost. prices/models.json is the table that comes with kerf; LiteLLM's
// model_prices_and_context_window.json is read as well.
//
//   KERF_ASSIGN_OR_RETURN(PriceTable prices, PriceTable::Parse(text, "prices/models.json"));
//   std::optional<int64_t> nano_dollars = prices.Cost("gpt-5", reply.usage);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/provider.h"

namespace kerf::llm {

// Pico-dollars per token: 1250000 is $1.25 per million. Integers, so that sums are exact.
struct ModelPrice {
  int64_t input = 0;
  int64_t output = 0;
  int64_t cache_read = 0;   // the price of input when the table gives none
  int64_t cache_write = 0;  // likewise
};

class PriceTable {
 public:
  // Knows no model.
  PriceTable() = default;
  // `name` is for messages, and the version of a table that states none is its hash.
  static Result<PriceTable> Parse(std::string_view json, const std::string& name);

  // Those of `other` win.
  void Add(const PriceTable& other);
  // Under its own name, without a "vendor/" in front, without a date behind.
  [[nodiscard]] std::optional<ModelPrice> Find(std::string_view model) const;
  // Nano-dollars, rounded up once. nullopt when the price is not known: never 0.
  [[nodiscard]] std::optional<int64_t> Cost(std::string_view model, const Usage& usage) const;
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] size_t size() const { return prices_.size(); }

 private:
  std::map<std::string, ModelPrice, std::less<>> prices_;
  std::string version_;
};

// "$0.0123"; "unknown" for nullopt.
std::string FormatDollars(std::optional<int64_t> nano_dollars);

}  // namespace kerf::llm
