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
  std::string id;  // JSON text, as it came; "null" when there was none
  Candidate candidate;
};

// One line: {"id": anything, "source": "…", "impl": "cpp", "name": "a.cc"}; `path` instead of
// `source` names a file.
Result<StreamedCandidate> ParseStreamedCandidate(FileSystem& fs, const std::string& line,
                                                 const std::string& impl,
                                                 const std::string& op_name);

}  // namespace kerf::cli
