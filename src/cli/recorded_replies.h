// The replies in a trace, for `--model recorded:DIR`.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "llm/recorded_provider.h"

namespace kerf::cli {

// Of all tasks of all runs at `path`, in the order of their steps.
Result<std::vector<llm::RecordedReply>> ReadRecordedReplies(FileSystem& fs,
                                                            const std::string& path);

}  // namespace kerf::cli
