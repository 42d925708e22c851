#include "llm/prices.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "base/json_reader.h"

namespace kerf::llm {
namespace {

// A dollar for a token is a mistake in the table.
constexpr double kDearest = 1.0;

bool ReadPrice(JsonReader& reader, std::optional<int64_t>& out) {
  if (reader.Peek() == JsonType::kNull) return reader.ReadNull();
  double dollars = 0;
  if (!reader.ReadDouble(dollars)) return false;
  if (!(dollars >= 0) || dollars > kDearest) return false;
  out = std::llround(dollars * 1e12);
  return true;
}

// One model's entry; nullopt for those that are not priced by tokens (images, audio).
std::optional<ModelPrice> ReadEntry(JsonReader& reader, bool& bad) {
  std::optional<int64_t> input, output, read, write;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    bool fine = true;
    if (key == "input_cost_per_token") {
      fine = ReadPrice(reader, input);
    } else if (key == "output_cost_per_token") {
      fine = ReadPrice(reader, output);
    } else if (key == "cache_read_input_token_cost") {
      fine = ReadPrice(reader, read);
    } else if (key == "cache_creation_input_token_cost") {
      fine = ReadPrice(reader, write);
    } else {
      reader.Skip();
    }
    bad = bad || !fine;
    if (!fine) return std::nullopt;
  }
  if (!input.has_value() || !output.has_value()) return std::nullopt;
  return ModelPrice{*input, *output, read.value_or(*input), write.value_or(*input)};
}

std::string_view WithoutDate(std::string_view model) {
  const auto digits = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  // -20250929
  if (model.size() > 9 && model[model.size() - 9] == '-' &&
      digits(model.substr(model.size() - 8))) {
    return model.substr(0, model.size() - 9);
  }
  // -2025-08-07
  if (model.size() > 11) {
    const std::string_view tail = model.substr(model.size() - 11);
    if (tail[0] == '-' && tail[5] == '-' && tail[8] == '-' && digits(tail.substr(1, 4)) &&
        digits(tail.substr(6, 2)) && digits(tail.substr(9))) {
      return model.substr(0, model.size() - 11);
    }
  }
  return model;
}

}  // namespace

Result<PriceTable> PriceTable::Parse(std::string_view json, const std::string& name) {
  PriceTable table;
  bool bad = false;
  std::string bad_model;
  const auto read_models = [&](JsonReader& reader, const std::string& model) {
    if (reader.Peek() != JsonType::kObject) return reader.Skip();
    if (std::optional<ModelPrice> price = ReadEntry(reader, bad)) table.prices_[model] = *price;
    if (bad && bad_model.empty()) bad_model = model;
    return !bad;
  };
  JsonReader reader(json);
  std::string key;
  for (reader.BeginObject(); !bad && reader.NextKey(key);) {
    if (key == "version" && reader.Peek() == JsonType::kString) {
      reader.ReadString(table.version_);
    } else if (key == "models") {
      std::string model;
      for (reader.BeginObject(); !bad && reader.NextKey(model);) read_models(reader, model);
    } else {
      read_models(reader, key);  // LiteLLM's table has no frame
    }
  }
  if (bad) {
    return InvalidInput(name + ": the prices of '" + bad_model +
                        "' must be dollars per token, between 0 and 1");
  }
  if (!reader.Finish()) return InvalidInput(name + ": " + reader.error());
  if (table.version_.empty()) table.version_ = Sha256Hex(json).substr(0, 12);
  return table;
}

void PriceTable::Add(const PriceTable& other) {
  for (const auto& [model, price] : other.prices_) prices_[model] = price;
  version_ = version_.empty() ? other.version_ : version_ + "+" + other.version_;
}

std::optional<ModelPrice> PriceTable::Find(std::string_view model) const {
  const auto vendor = model.rfind('/');
  const std::string_view bare = vendor == std::string_view::npos ? model : model.substr(vendor + 1);
  for (const std::string_view name : {model, WithoutDate(model), bare, WithoutDate(bare)}) {
    if (const auto found = prices_.find(name); found != prices_.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<int64_t> PriceTable::Cost(std::string_view model, const Usage& usage) const {
  const std::optional<ModelPrice> price = Find(model);
  if (!price.has_value()) return std::nullopt;
  // Cached tokens are a part of the total; what a server says of them cannot exceed it.
  const int64_t read = std::min(usage.input_cache_read, usage.input_total);
  const int64_t write = std::min(usage.input_cache_write, usage.input_total - read);
  __extension__ typedef __int128 Wide;
  const Wide pico = Wide{usage.input_total - read - write} * price->input +
                    Wide{read} * price->cache_read + Wide{write} * price->cache_write +
                    Wide{usage.output_total} * price->output;
  const Wide nano = (pico + 999) / 1000;
  return static_cast<int64_t>(std::min(nano, Wide{std::numeric_limits<int64_t>::max() / 4}));
}

std::string FormatDollars(std::optional<int64_t> nano_dollars) {
  if (!nano_dollars.has_value()) return "unknown";
  // Four digits behind the point; rounded, and never down to nothing.
  int64_t tenth_milli = (*nano_dollars + 50000) / 100000;
  if (tenth_milli == 0 && *nano_dollars > 0) tenth_milli = 1;
  std::string digits = std::to_string(tenth_milli);
  if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
  digits.insert(digits.size() - 4, ".");
  return "$" + digits;
}

}  // namespace kerf::llm
