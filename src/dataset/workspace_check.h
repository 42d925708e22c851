// Holds an extracted workspace against what it was extracted from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::dataset {

struct CheckedCase {
  std::string folder;
  std::string name;
  std::vector<std::string> wrong;  // sentences; empty when all is right
  std::vector<std::string> added;  // paths that are not kerf's
};

struct WorkspaceReport {
  std::vector<CheckedCase> cases;
  std::vector<std::string> other;  // folders without a case.json
  [[nodiscard]] uint64_t wrong() const;
};

// Each file against its hash in case.json; each source record against its hash; and each text
// against the one made again from the source. `source_dir`: where the sources lie when case.json's
// paths do not lead there; empty: as case.json says.
Result<WorkspaceReport> CheckWorkspace(FileSystem& fs, const std::string& workspace,
                                       const std::string& source_dir);

}  // namespace kerf::dataset
