#include "llm/model_spec.h"

#include <array>
#include <vector>

#include "base/suggest.h"

namespace kerf::llm {
namespace {

struct KindRow {
  ModelKind kind;
  const char* name;
  const char* value;  // what follows the colon; nullptr: nothing
};
constexpr std::array<KindRow, 6> kKinds = {
    KindRow{ModelKind::kSynth, "synth", nullptr},
    KindRow{ModelKind::kOpenAi, "openai", "MODEL"},
    KindRow{ModelKind::kAnthropic, "anthropic", "MODEL"},
    KindRow{ModelKind::kRecorded, "recorded", "DIR"},
    KindRow{ModelKind::kScripted, "scripted", "FILE"},
    KindRow{ModelKind::kImport, "import", "FILE"},
};

std::string Form(const KindRow& row) {
  return row.value == nullptr ? row.name : std::string(row.name) + ":" + row.value;
}

std::string AllForms() {
  std::string forms;
  for (const KindRow& row : kKinds) forms += (forms.empty() ? "" : ", ") + Form(row);
  return forms;
}

// A bare model name is the commonest mistake.
std::string Hint(std::string_view word, std::string_view text) {
  std::vector<std::string> names;
  for (const KindRow& row : kKinds) names.emplace_back(row.name);
  if (std::string near = DidYouMean(word, names); !near.empty()) return near;
  if (text.find(':') != std::string_view::npos) return "";
  const bool claude = text.starts_with("claude");
  return std::string("; did you mean ") + (claude ? "anthropic:" : "openai:") + std::string(text) +
         "?";
}

}  // namespace

const char* ModelKindName(ModelKind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row.name;
  }
  return "";
}

std::string ModelSpec::Text() const {
  return value.empty() ? ModelKindName(kind) : std::string(ModelKindName(kind)) + ":" + value;
}

Result<ModelSpec> ParseModelSpec(std::string_view text) {
  if (text.empty()) return InvalidInput("the model is empty; use one of " + AllForms());
  const size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  for (const KindRow& row : kKinds) {
    if (word != row.name) continue;
    const std::string value(colon == std::string_view::npos ? "" : text.substr(colon + 1));
    if (row.value == nullptr && colon != std::string_view::npos) {
      return InvalidInput("model '" + std::string(text) + "': synth takes nothing after it");
    }
    if (row.value != nullptr && value.empty()) {
      return InvalidInput("model '" + std::string(text) + "' lacks its " + row.value + "; write " +
                          Form(row));
    }
    return ModelSpec{row.kind, value};
  }
  return InvalidInput("model '" + std::string(text) + "' is not known; use one of " + AllForms() +
                      Hint(word, text));
}

}  // namespace kerf::llm
