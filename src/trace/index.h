// The full-text index over one run: a cache that may be deleted at any time.
// docs/decisions/0004-search-index.md.
//
//   KERF_ASSIGN_OR_RETURN(auto index, TraceIndex::Open(fs, clock, "logs/run1", {}));
//   KERF_ASSIGN_OR_RETURN(IndexReport report, index->Update());
//   KERF_ASSIGN_OR_RETURN(SearchPage page, Search(*index, request));  // search.h
//
// Not thread-safe; any number of threads and processes may each open their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"
#include "trace/index_update.h"

namespace kerf::trace {

struct IndexReport {
  int64_t steps = 0;  // in the index; counted by Rebuild() only, because counting takes time
  int64_t added = 0;
  int64_t removed = 0;
  // False: another process was writing the index; what is in it can be searched, the newest steps
  // may be missing.
  bool complete = true;
  // Texts that could not be read, of steps that were looked at this time.
  int64_t unread = 0;
  // What may hold steps and could not be looked into, with the reason.
  std::vector<std::pair<std::string, std::string>> skipped;
};

class TraceIndex {
 public:
  struct Options {
    // Where indexes of directories go that cannot be written to; empty: $XDG_CACHE_HOME, or
    // ~/.cache.
    std::string cache_home;
    std::function<void(const IndexProgress&)> progress;
  };

  // Opens LOG_DIR/.kerf/index.sqlite, or makes one; in the cache directory when that place cannot
  // be written to. What is there and is no index of this version is replaced.
  static Result<std::unique_ptr<TraceIndex>> Open(FileSystem& fs, Clock& clock,
                                                  const std::string& run_path, Options options);

  Result<IndexReport> Update();
  Result<IndexReport> Rebuild();

  [[nodiscard]] const std::string& run_path() const { return run_path_; }
  [[nodiscard]] const std::string& path() { return store_->database().path(); }
  FileSystem& fs() { return fs_; }
  IndexStore& store() { return *store_; }

 private:
  TraceIndex(FileSystem& fs, Clock& clock, std::string run_path, Options options,
             std::unique_ptr<IndexStore> store);
  Status Recreate();

  FileSystem& fs_;
  Clock& clock_;
  const std::string run_path_;
  const Options options_;
  std::unique_ptr<IndexStore> store_;
};

// What a user means by a directory: the runs to search in, and the operator when it is one's
// folder.
struct SearchTarget {
  std::vector<std::string> runs;
  std::string op;
};
// Like FindRuns, but quick: what has an index is a run, without a look into its thousand folders.
Result<SearchTarget> FindSearchTarget(FileSystem& fs, const std::string& path);

}  // namespace kerf::trace
