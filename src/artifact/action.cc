#include "artifact/action.h"

namespace kerf {
namespace {

struct Words {
  ActionType action;
  const char* name;
  const char* value;
};

constexpr Words kWords[] = {
    {ActionType::kDoDesigner, "DO_DESIGNER", "DoDesigner"},
    {ActionType::kFixDesigner, "FIX_DESIGNER", "FixDesigner"},
    {ActionType::kDoCoder, "DO_CODER", "DoCoder"},
    {ActionType::kFixCoder, "FIX_CODER", "FixCoder"},
    {ActionType::kDoCoderDirect, "DO_CODER_DIRECT", "DoCoderDirect"},
    {ActionType::kVerify, "VERIFY", "Verify"},
    {ActionType::kExit, "EXIT", "Exit"},
};

}  // namespace

const char* ActionName(ActionType action) { return kWords[static_cast<int>(action)].name; }

const char* ActionValue(ActionType action) { return kWords[static_cast<int>(action)].value; }

std::optional<ActionType> ParseAction(std::string_view text) {
  for (const Words& words : kWords) {
    if (text == words.name || text == words.value) return words.action;
  }
  return std::nullopt;
}

bool IsDesigner(ActionType action) {
  return action == ActionType::kDoDesigner || action == ActionType::kFixDesigner;
}

bool IsCoder(ActionType action) {
  return action == ActionType::kDoCoder || action == ActionType::kFixCoder ||
         action == ActionType::kDoCoderDirect;
}

const char* ConductorCheck(ActionType judged) {
  if (IsDesigner(judged)) return "CheckDesigner";
  if (IsCoder(judged)) return "CheckCoder";
  return judged == ActionType::kVerify ? "AnalyzeError" : nullptr;
}

}  // namespace kerf
