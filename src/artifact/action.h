// What a step of the loop does, in AIKG's words: every action has a name (DO_DESIGNER) and a value
// (DoDesigner).
#pragma once

#include <optional>
#include <string_view>

namespace kerf {

enum class ActionType {
  kDoDesigner,
  kFixDesigner,
  kDoCoder,
  kFixCoder,
  kDoCoderDirect,
  kVerify,
  kExit,
};

const char* ActionName(ActionType action);   // "DO_DESIGNER"
const char* ActionValue(ActionType action);  // "DoDesigner"
// Accepts names and values.
std::optional<ActionType> ParseAction(std::string_view text);

bool IsDesigner(ActionType action);
bool IsCoder(ActionType action);

// What the conductor's record of a step is called: "CheckDesigner", "CheckCoder", "AnalyzeError".
// nullptr for EXIT, which nobody judges.
const char* ConductorCheck(ActionType judged);

}  // namespace kerf
