#include "loop/code/coder.h"

namespace kerf::code {

Result<llm::Prompt> Coder::Render(const std::string& name, const CodeRequest& request) const {
  llm::PromptValues values = {{"op_name", request.spec.op_name},
                              {"task_desc", request.spec.task_desc},
                              {"framework", request.spec.framework},
                              {"backend", request.spec.backend},
                              {"arch", request.spec.arch},
                              {"impl", ImplName(request.spec.impl)},
                              {"hardware", request.hardware},
                              {"design", request.design},
                              {"code", request.code},
                              {"suggestions", request.suggestions},
                              {"error_log", request.error_log},
                              {"measurement", request.measurement},
                              {"reflection", request.reflection},
                              {"documents", request.documents}};
  const std::string convention = std::string("convention_") + ImplName(request.spec.impl);
  KERF_ASSIGN_OR_RETURN(const llm::Prompt called, prompts_.Render(convention, values));
  values.emplace_back("convention", called.text);
  return prompts_.Render(name, values);
}

Result<llm::Prompt> Coder::Ask(const CodeRequest& request) const {
  KERF_CHECK(IsCoder(request.action), "a coder was asked for something else");
  if (request.action == ActionType::kDoCoderDirect) return Render("coder_direct", request);
  if (request.action == ActionType::kDoCoder) return Render("coder", request);
  return Render(request.measurement.empty() ? "coder_fix" : "coder_improve", request);
}

Result<llm::Prompt> Coder::AskForCheck(const CodeRequest& request) const {
  return Render("check_coder", request);
}

Result<llm::Prompt> Coder::AskForAnalysis(const CodeRequest& request) const {
  return Render("analyze_error", request);
}

std::string Coder::Agent(ActionType action, Impl impl) {
  const std::string agent = std::string(ImplName(impl)) + "_coder";
  return action == ActionType::kFixCoder ? agent + "_fix" : agent;
}

}  // namespace kerf::code
