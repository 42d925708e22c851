// Notices what has changed in a run since it was indexed, at the price of two calls of stat per
// operator.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"
#include "trace/index_store.h"

namespace kerf::trace {

// A file system may keep times in steps of up to two seconds (FAT, old NFS): what changed more
// recently than that may change again without a new time.
inline constexpr int64_t kCoarsestTimeNs = 2'000'000'000;

enum class RunChange {
  kNone,
  kTail,  // lines were appended to the journal
  kFull,  // anything else: read the operator from the beginning
};

// `known` is what the index has, `seen` what RunWatch::Observe gives.
RunChange Compare(const OpState& known, const OpState& seen);

class RunWatch {
 public:
  RunWatch(FileSystem& fs, Clock& clock, std::string run_path)
      : fs_(fs), clock_(clock), run_path_(std::move(run_path)) {}

  // Folders of the run that may be operators, sorted.
  Result<std::vector<std::string>> ListFolders();
  // Symbolic links that lay beside them.
  [[nodiscard]] const std::vector<std::string>& links() const { return links_; }
  // What stat says about one of them now.
  Result<OpState> Observe(const std::string& name);
  // Of AIKG's verification results, which lie beside the operators; 0 when there are none.
  Result<int64_t> ResultsStamp();

 private:
  int64_t FolderStamp(const std::string& dir, bool has_journal);

  FileSystem& fs_;
  Clock& clock_;
  const std::string run_path_;
  std::vector<std::string> links_;
};

}  // namespace kerf::trace
