// Sessions that AIKG recorded, as replies in their order.
//
//   KERF_ASSIGN_OR_RETURN(std::unique_ptr<Provider> provider, MakeImportProvider(text, "a.json"));
//
// One JSON object; each record stands in it twice, under "<name>:<n>@<m>" and under a hash of its
// content. "_node_snapshots" names the node (agent) of each n: "coder@0".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/recorded_provider.h"

namespace kerf::llm {

// By n, each once; the agent is empty when no snapshot names it.
Result<std::vector<RecordedReply>> ReadAikgRecording(std::string_view json,
                                                     const std::string& name);

// A loose RecordedProvider: kerf's prompts are not AIKG's, so replies go by agent and order.
Result<std::unique_ptr<Provider>> MakeImportProvider(std::string_view json,
                                                     const std::string& name);

}  // namespace kerf::llm
