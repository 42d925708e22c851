// From a catalog to folders on the disk: which cases, by how many threads, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/case_files.h"
#include "dataset/catalog.h"

namespace kerf::dataset {

struct Selection {
  bool all = false;
  bool best_ever = false;          // unsolved in all rounds
  std::optional<LastStatus> only;  // kCall, kExe or kPerf
  std::vector<std::string> cases;  // names, with or without ".py", or folders
};

// Folders of all cases, in their order: a case keeps its folder whatever is selected.
std::vector<std::string> AssignFolders(const std::vector<CaseEntry>& cases);

// Places of the selected cases. A wanted name that is not there is an error.
Result<std::vector<size_t>> Select(const std::vector<CaseEntry>& cases,
                                   const std::vector<std::string>& folders,
                                   const Selection& selection);

struct ExtractOptions {
  std::string output;
  CaseOptions files;
  bool page = true;
  uint64_t page_limit = uint64_t{32} << 20;  // bytes of texts in the page
  bool sync = false;
  int threads = 1;
};

struct ExtractReport {
  uint64_t fresh = 0;
  uint64_t updated = 0;
  uint64_t unchanged = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t odd = 0;                  // cases with notes
  std::vector<std::string> refused;  // one sentence for each case that was not written
  std::vector<std::string> notes;
};

Result<ExtractReport> Extract(const Catalog& catalog, const CaseSources& sources,
                              const std::vector<size_t>& selected,
                              const std::vector<std::string>& folders,
                              const ExtractOptions& options);

}  // namespace kerf::dataset
