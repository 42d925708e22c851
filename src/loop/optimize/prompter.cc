#include "loop/optimize/prompter.h"

#include <fmt/core.h>

#include "loop/conduct/reflection.h"

namespace kerf::optimize {
namespace {

constexpr size_t kMostLog = 12288;
constexpr size_t kMostReflection = 8192;
constexpr size_t kMostAncestors = 65536;

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  constexpr size_t kMost = 300;
  return text.size() <= kMost ? text : text.substr(0, kMost) + " …";
}

std::string HowFast(const Trial& trial) {
  if (!trial.speedup.has_value()) return "right, not measured";
  return fmt::format("right, {:.4f} times the original's speed", *trial.speedup);
}

// Best first. What does not fit is left out from the end: those are the worst.
std::string AncestorsText(const CaseState& state) {
  std::string text;
  int number = 0;
  for (const Trial& trial : state.ancestors()) {
    std::string part =
        fmt::format("## {}: {}\n\n```\n{}\n```\n", ++number, HowFast(trial), trial.code);
    if (!trial.strategy.empty()) part += "Strategy: " + trial.strategy + "\n";
    if (!trial.measurement.empty() && trial.speedup.has_value()) part += trial.measurement;
    if (!trial.reflection.empty()) {
      part += "Analysis: " + conduct::Shorten(trial.reflection, kMostReflection) + "\n";
    }
    if (number > 1 && text.size() + part.size() > kMostAncestors) break;
    text += part + "\n";
  }
  return text;
}

// What failed, newest first, equal ones once.
std::string FailuresText(const CaseState& state) {
  constexpr int kMost = 10;
  std::string text;
  int count = 0;
  const std::vector<Trial>& trials = state.trials();
  for (auto trial = trials.rbegin(); trial != trials.rend() && count < kMost; ++trial) {
    if (trial->correct) continue;
    std::string line = "- " + trial->status + ": " + OneLine(trial->summary);
    if (!trial->strategy.empty()) line += "; tried: " + OneLine(trial->strategy);
    if (text.find(line + "\n") != std::string::npos) continue;
    text += line + "\n";
    ++count;
  }
  return text;
}

}  // namespace

Result<llm::PromptValues> Prompter::Values(const Case& one) const {
  const TaskSpec& spec = one.spec;
  llm::PromptValues values = {{"op_name", spec.op_name},
                              {"framework", spec.framework},
                              {"backend", spec.backend},
                              {"arch", spec.arch},
                              {"impl", ImplName(spec.impl)},
                              {"hardware", hardware_},
                              {"instruction", one.instruction},
                              // The label is the task where there is no order to carry out.
                              {"label", one.is_task() || one.instruction.empty() ? one.label : ""},
                              {"signatures", one.is_task() ? "" : Signatures(one.label)}};
  const std::string convention =
      (one.is_task() ? "convention_" : "optimize_convention_") + std::string(ImplName(spec.impl));
  llm::PromptValues called = values;
  called.emplace_back("task_desc", one.label);
  KERF_ASSIGN_OR_RETURN(const llm::Prompt text, prompts_.Render(convention, called));
  values.emplace_back("convention", text.text);
  return values;
}

Result<llm::Prompt> Prompter::AskForCode(const Case& one, const CaseState& state, const Plan& plan,
                                         const std::string& complaint) const {
  KERF_ASSIGN_OR_RETURN(llm::PromptValues values, Values(one));
  const Trial none;
  const Trial& last = plan.last != nullptr ? *plan.last : none;
  values.emplace_back("code", last.code);
  values.emplace_back("error_log",
                      conduct::Shorten(last.log.empty() ? last.summary : last.log, kMostLog));
  values.emplace_back("reflection", conduct::Shorten(last.reflection, kMostReflection));
  values.emplace_back("ancestors", AncestorsText(state));
  values.emplace_back("failures", FailuresText(state));
  const std::string name = plan.mode == Mode::kDebug     ? "optimize_debug"
                           : plan.mode == Mode::kImprove ? "optimize_improve"
                                                         : "optimize_generate";
  KERF_ASSIGN_OR_RETURN(llm::Prompt prompt, prompts_.Render(name, values));
  if (complaint.empty()) return prompt;
  KERF_ASSIGN_OR_RETURN(const llm::Prompt again,
                        prompts_.Render("complaint", {{"complaint", complaint}}));
  prompt.text += "\n" + again.text;
  return prompt;
}

Result<llm::Prompt> Prompter::AskForReflection(const Case& one, const Trial& trial) const {
  KERF_ASSIGN_OR_RETURN(llm::PromptValues values, Values(one));
  values.emplace_back("code", trial.code);
  values.emplace_back("strategy", trial.strategy);
  values.emplace_back(
      "error_log", trial.correct
                       ? ""
                       : conduct::Shorten(trial.log.empty() ? trial.summary : trial.log, kMostLog));
  values.emplace_back("measurement", !trial.correct              ? ""
                                     : trial.speedup.has_value() ? trial.measurement
                                                                 : HowFast(trial));
  return prompts_.Render("optimize_reflect", values);
}

}  // namespace kerf::optimize
