// The files of a run besides its trace: what it was asked to do, and the pairs it has written.
// docs/formats/optimize.md, "Order of writing" and "Resume".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "loop/optimize/pair.h"
#include "loop/optimize/trial.h"

namespace kerf::optimize {

struct Settings {
  std::string data_sha256;
  Rules rules;
  std::string impl;  // as the user gave it; empty: from the data
  std::string backend;
  std::string arch;
  std::string language = "en";
  bool measure = true;
  bool reflect = true;  // false: the only model is the synthesizer
};

// Paths of a run: ROOT_3.jsonl, ROOT_mem_3.json, ROOT_trace.
std::string JsonlPath(const std::string& root, int64_t iteration);
std::string MemPath(const std::string& root, int64_t iteration);
std::string TracePath(const std::string& root);

class RunFiles {
 public:
  // A new run: kInvalidInput when there is one already, or pairs of that name. kUnavailable when
  // another process is at it.
  static Result<RunFiles> Begin(FileSystem& fs, const std::string& root, const Settings& settings);
  // One that goes on. kNotFound without one; kCorrupt when a complete pair is not as it was
  // written.
  static Result<RunFiles> Resume(FileSystem& fs, const std::string& root);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  // The last iteration whose pair is complete; -1 when there is none.
  [[nodiscard]] int64_t last_complete() const;

  // Both or nothing: the jsonl comes last, and where it is, its mem file is whole.
  Status Write(int64_t iteration, const PairTexts& texts, bool complete);

 private:
  struct Written {
    bool complete = false;
    std::string jsonl_sha256;
    std::string mem_sha256;
  };

  RunFiles(FileSystem& fs, std::string root) : fs_(&fs), root_(std::move(root)) {}
  Status Lock();
  Status ReadIterations();
  Status CheckPairs() const;
  [[nodiscard]] std::string Private(const char* name) const;

  FileSystem* fs_;
  std::string root_;
  Settings settings_;
  std::map<int64_t, Written> written_;
  std::unique_ptr<FileLock> lock_;
};

}  // namespace kerf::optimize
