// Candidates as `kerf verify` gets them: a file, or a stream of JSON lines.
#pragma once

#include <optional>
#include <string>

#include "artifact/candidate.h"
#include "base/file_system.h"
#include "base/result.h"

namespace kerf::cli {

// By the file's name: .cc and .cpp are cpp, .cu is cuda_c, .hip is hip, .py is triton.
std::optional<Impl> ImplOfFile(const std::string& path);

Result<Candidate> ReadCandidate(FileSystem& fs, const std::string& path, const std::string& impl,
                                const std::string& op_name);

struct StreamedCandidate {
  std::string id = "null";  // JSON text, as it came; "null" when there was none
  Result<Candidate> candidate = InvalidInput("nothing was read");
};

// One line: {"id": anything, "source": "…", "impl": "cpp", "name": "a.cc"}; `path` instead of
// `source` names a file. A line that is no candidate keeps its id, so that the answer finds its
// way.
StreamedCandidate ParseStreamedCandidate(FileSystem& fs, const std::string& line,
                                         const std::string& impl, const std::string& op_name);

}  // namespace kerf::cli
