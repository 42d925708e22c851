// What --model and the configuration name: "synth", "openai:gpt-5", "recorded:runs/a".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kerf::llm {

enum class ModelKind { kSynth, kOpenAi, kAnthropic, kRecorded, kScripted, kImport };

const char* ModelKindName(ModelKind kind);  // "synth", "openai", …

struct ModelSpec {
  ModelKind kind = ModelKind::kSynth;
  std::string value;  // the model, directory or file; empty for synth

  [[nodiscard]] std::string Text() const;  // as it was written
};

// kInvalidInput with the forms there are and the nearest right one.
Result<ModelSpec> ParseModelSpec(std::string_view text);

}  // namespace kerf::llm
