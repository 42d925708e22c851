#include "trace/step_texts.h"

#include "artifact/step.h"

namespace kerf::trace {
namespace {

Part PartOf(const std::string& name) {
  const std::string parameter = StepFileParameter({name, 0, "", ""});
  if (parameter == "prompt") return Part::kPrompt;
  if (parameter == "reasoning") return Part::kReasoning;
  if (parameter == "error_log" || parameter == "verify_res" || parameter == "profile") {
    return Part::kLog;
  }
  return Part::kResult;  // also the reply and the parsed result that AKG agents keep
}

}  // namespace

const char* PartName(Part part) {
  switch (part) {
    case Part::kResult:
      return "result";
    case Part::kLog:
      return "log";
    case Part::kReasoning:
      return "reasoning";
    case Part::kPrompt:
      return "prompt";
  }
  return "";
}

PartText ReadPart(FileSystem& fs, const std::string& op_dir, const std::vector<std::string>& names,
                  Part part) {
  PartText whole;
  for (const std::string& name : names) {
    if (PartOf(name) != part) continue;
    Result<std::string> text = fs.ReadRange(JoinPath(op_dir, name), 0, kSearchedBytes);
    if (!whole.files.empty()) whole.text += '\n';
    whole.files.push_back({whole.text.size(), name});
    if (!text.ok()) {
      whole.failure = text.error();
      continue;
    }
    if (whole.text.empty()) {
      whole.text = std::move(*text);
    } else {
      whole.text += *text;
    }
  }
  return whole;
}

}  // namespace kerf::trace
