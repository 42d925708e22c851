// Writes what a model is asked for a design.
//
//   KERF_ASSIGN_OR_RETURN(const llm::Prompt prompt,
//                         Designer(prompts).Ask({spec, ActionType::kDoDesigner, hardware}));
#pragma once

#include <string>

#include "artifact/action.h"
#include "artifact/task_spec.h"
#include "base/result.h"
#include "llm/prompt_library.h"

namespace kerf::design {

struct DesignRequest {
  const TaskSpec& spec;
  ActionType action = ActionType::kDoDesigner;  // or kFixDesigner
  std::string hardware;
  std::string design;       // the present one, to be repaired
  std::string suggestions;  // of this repair; may be empty
  std::string reflection;
  std::string documents;  // of the user's, for the model to read
};

class Designer {
 public:
  explicit Designer(const llm::PromptLibrary& prompts) : prompts_(prompts) {}

  [[nodiscard]] Result<llm::Prompt> Ask(const DesignRequest& request) const;
  [[nodiscard]] Result<llm::Prompt> AskForCheck(const DesignRequest& request) const;
  // AIKG's name of who asks: "aul_designer", "aul_designer_fix".
  static std::string Agent(ActionType action);

 private:
  const llm::PromptLibrary& prompts_;
};

}  // namespace kerf::design
