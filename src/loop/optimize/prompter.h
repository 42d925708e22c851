// What a model is asked about a case: prompts/LANGUAGE/optimize_*.txt.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "llm/prompt_library.h"
#include "loop/optimize/case_state.h"
#include "loop/optimize/data_case.h"

namespace kerf::optimize {

class Prompter {
 public:
  // Both outlive it. `hardware` is the machine in words.
  Prompter(const llm::PromptLibrary& prompts, std::string hardware)
      : prompts_(prompts), hardware_(std::move(hardware)) {}

  // For code. `complaint`: why the last answer could not be used; may be empty.
  [[nodiscard]] Result<llm::Prompt> AskForCode(const Case& one, const CaseState& state,
                                               const Plan& plan,
                                               const std::string& complaint) const;
  // For thoughts about a trial.
  [[nodiscard]] Result<llm::Prompt> AskForReflection(const Case& one, const Trial& trial) const;

 private:
  [[nodiscard]] Result<llm::PromptValues> Values(const Case& one) const;

  const llm::PromptLibrary& prompts_;
  const std::string hardware_;
};

}  // namespace kerf::optimize
