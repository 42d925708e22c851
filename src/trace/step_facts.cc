#include "trace/step_facts.h"

#include <cmath>

#include "base/json_reader.h"

namespace kerf::trace {
namespace {

// A profile is somebody else's document: a bound keeps a strange one from filling the screen.
constexpr size_t kMaxFacts = 20'000;

class Flattener {
 public:
  explicit Flattener(std::string_view json) : reader_(json) {}

  bool Run(const std::string& prefix, std::vector<Fact>& facts) {
    Read(prefix, facts);
    return reader_.Finish();
  }

 private:
  void Read(const std::string& path, std::vector<Fact>& facts) {
    const JsonType type = reader_.Peek();
    if (type == JsonType::kObject) {
      std::string key;
      for (reader_.BeginObject(); reader_.NextKey(key);) {
        std::string inner = path;
        if (!inner.empty()) inner += '.';
        Read(inner += key, facts);
      }
    } else if (type == JsonType::kArray) {
      size_t index = 0;
      for (reader_.BeginArray(); reader_.NextElement(); ++index) {
        Read(path + "[" + std::to_string(index) + "]", facts);
      }
    } else {
      ReadLeaf(path, type, facts);
    }
  }

  void ReadLeaf(const std::string& path, JsonType type, std::vector<Fact>& facts) {
    Fact fact{path, "", std::nullopt, type == JsonType::kString};
    if (fact.is_string) {
      if (!reader_.ReadString(fact.text)) return;
    } else {
      std::string_view raw;
      if (!reader_.ReadRaw(raw)) return;
      fact.text = raw;
      double value = 0;
      if (type == JsonType::kNumber && JsonReader(raw).ReadDouble(value) && std::isfinite(value)) {
        fact.number = value;
      }
    }
    if (facts.size() < kMaxFacts) facts.push_back(std::move(fact));
  }

  JsonReader reader_;
};

std::optional<int64_t> Count(const Fact& fact) {
  // Above 2^53 a count is a mistake, and not every reader of JSON could hold it.
  if (!fact.number.has_value() || *fact.number < 0 || *fact.number > 9007199254740992.0 ||
      *fact.number != std::floor(*fact.number)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*fact.number);
}

std::optional<double> NotNegative(const Fact& fact) {
  return fact.number.has_value() && *fact.number >= 0 ? fact.number : std::nullopt;
}

}  // namespace

std::vector<Fact> FlattenFacts(std::string_view json, const std::string& prefix) {
  std::vector<Fact> facts;
  if (json.empty()) return facts;
  if (!Flattener(json).Run(prefix, facts))
    facts = {{prefix, std::string(json), std::nullopt, true}};
  return facts;
}

StepFacts ReadStepFacts(const Step& step) {
  StepFacts known;
  if (step.meta.empty()) return known;
  for (Fact& fact : FlattenFacts(step.meta, "")) {
    const std::string& path = fact.path;
    if (path == "duration_ms") known.duration_ms = NotNegative(fact);
    if (path == "cost_usd") known.cost_usd = NotNegative(fact);
    if (path == "speedup") known.speedup = fact.number;
    if (path == "tokens.input") known.input_tokens = Count(fact);
    if (path == "tokens.output") known.output_tokens = Count(fact);
    if (path == "tokens.cached") known.cached_tokens = Count(fact);
    if (path == "tokens.reasoning") known.reasoning_tokens = Count(fact);
    if (path == "model" && fact.is_string) known.model = fact.text;
    if (path == "provider" && fact.is_string) known.provider = fact.text;
    if (path == "device" && fact.is_string) known.device = fact.text;
    if (path == "finish_reason" && fact.is_string) known.finish_reason = fact.text;
    if (path == "error" && fact.is_string) known.error = fact.text;
    if (path.starts_with("params.")) {
      fact.path.erase(0, 7);
      known.params.push_back(std::move(fact));
    }
  }
  return known;
}

std::string RoleOf(const Step& step) {
  if (step.kind == RecordKind::kVerifier) return "verifier";
  if (step.kind == RecordKind::kConductor) return "conductor";
  const std::optional<ActionType> action = ParseAction(step.action);
  if (!action.has_value()) return step.action;
  return IsDesigner(*action) ? "designer" : "coder";
}

}  // namespace kerf::trace
