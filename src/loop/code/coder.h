// Writes what a model is asked for code.
#pragma once

#include <string>

#include "artifact/action.h"
#include "artifact/task_spec.h"
#include "base/result.h"
#include "llm/prompt_library.h"

namespace kerf::code {

struct CodeRequest {
  const TaskSpec& spec;
  ActionType action = ActionType::kDoCoder;
  std::string hardware;
  std::string design;  // empty in coder-only mode
  std::string code;    // the present one, to be repaired or made faster
  std::string suggestions;
  std::string error_log;
  std::string measurement;  // not empty: the code is right and is to become faster
  std::string reflection;
  std::string documents;  // of the user's, for the model to read
};

class Coder {
 public:
  explicit Coder(const llm::PromptLibrary& prompts) : prompts_(prompts) {}

  [[nodiscard]] Result<llm::Prompt> Ask(const CodeRequest& request) const;
  [[nodiscard]] Result<llm::Prompt> AskForCheck(const CodeRequest& request) const;
  [[nodiscard]] Result<llm::Prompt> AskForAnalysis(const CodeRequest& request) const;
  // AIKG's name of who asks, for any implementation: "triton_coder", "cpp_coder_fix".
  static std::string Agent(ActionType action, Impl impl);

 private:
  [[nodiscard]] Result<llm::Prompt> Render(const std::string& name,
                                           const CodeRequest& request) const;
  const llm::PromptLibrary& prompts_;
};

}  // namespace kerf::code
