#include "loop/design/designer.h"

namespace kerf::design {
namespace {

llm::PromptValues Values(const DesignRequest& request) {
  return {{"op_name", request.spec.op_name},     {"task_desc", request.spec.task_desc},
          {"framework", request.spec.framework}, {"backend", request.spec.backend},
          {"arch", request.spec.arch},           {"impl", ImplName(request.spec.impl)},
          {"hardware", request.hardware},        {"design", request.design},
          {"suggestions", request.suggestions},  {"reflection", request.reflection},
          {"documents", request.documents}};
}

}  // namespace

Result<llm::Prompt> Designer::Ask(const DesignRequest& request) const {
  KERF_CHECK(IsDesigner(request.action), "a designer was asked for something else");
  const bool repair = request.action == ActionType::kFixDesigner;
  return prompts_.Render(repair ? "designer_fix" : "designer", Values(request));
}

Result<llm::Prompt> Designer::AskForCheck(const DesignRequest& request) const {
  return prompts_.Render("check_designer", Values(request));
}

std::string Designer::Agent(ActionType action) {
  return action == ActionType::kFixDesigner ? "aul_designer_fix" : "aul_designer";
}

}  // namespace kerf::design
