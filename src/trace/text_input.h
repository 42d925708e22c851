// A StepInput whose texts may stand in the buffer they were read into.
#pragma once

#include <string>
#include <utility>

#include "artifact/step.h"
#include "base/text.h"

namespace kerf::trace {

struct TextInput {
  TextInput() = default;
  TextInput(StepInput input)  // NOLINT(google-explicit-constructor)
      : kind(input.kind),
        action(input.action),
        res(std::move(input.res)),
        prompt(std::move(input.prompt)),
        reasoning(std::move(input.reasoning)),
        verify_res(std::move(input.verify_res)),
        verify_log(std::move(input.verify_log)),
        profile(std::move(input.profile)),
        meta(std::move(input.meta)) {}

  RecordKind kind = RecordKind::kDesignerOrCoder;
  ActionType action = ActionType::kDoDesigner;
  Text res;
  Text prompt;
  Text reasoning;
  Text verify_res;
  Text verify_log;
  Text profile;
  std::string meta;
};

}  // namespace kerf::trace
