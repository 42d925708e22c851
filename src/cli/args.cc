#include <algorithm>
#include <charconv>

#include "cli/verb.h"

namespace kerf::cli {

bool Args::Has(const std::string& flag) const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [&](const auto& entry) { return entry.first == flag; });
}

std::string Args::Get(const std::string& flag) const {
  const std::vector<std::string> values = All(flag);
  return values.empty() ? std::string() : values.back();
}

std::optional<int64_t> Args::GetNumber(const std::string& flag) const {
  const std::string text = Get(flag);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> Args::All(const std::string& flag) const {
  for (const auto& [name, values] : flags_) {
    if (name == flag) return values;
  }
  return {};
}

std::string Args::Positional(size_t index) const {
  return index < positionals_.size() ? positionals_[index] : std::string();
}

void Args::Set(const std::string& flag, std::vector<std::string> values) {
  for (auto& [name, present] : flags_) {
    if (name == flag) {
      present = std::move(values);
      return;
    }
  }
  flags_.emplace_back(flag, std::move(values));
}

Flag JsonFlag() {
  return {.name = "--json",
          .value_name = "",
          .help = "Print the result as JSON on stdout; an error is printed there too"};
}

}  // namespace kerf::cli
