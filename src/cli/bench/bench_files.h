// Which task files a bench is about, and the lines it keeps of those that are done.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "cli/bench/bench_result.h"

namespace kerf::cli {

struct BenchFile {
  std::string path;
  std::string name;  // "19_ReLU", with its folder when another one has the same
};

// A folder stands for the task files in it and below it; files there without a Model are left out,
// and so are hidden folders. Numbers in names count as numbers: 2_x comes before 10_x.
Result<std::vector<BenchFile>> FindBenchFiles(FileSystem& fs,
                                              const std::vector<std::string>& words);
bool NaturalLess(std::string_view a, std::string_view b);

// LOG_DIR/bench.jsonl: a durable line for each task that has ended; of several for one task the
// last counts. A torn last line is of a process that was killed and counts for nothing.
class BenchStore {
 public:
  static constexpr char kName[] = "bench.jsonl";

  BenchStore(FileSystem& fs, const std::string& log_dir)
      : fs_(fs), path_(JoinPath(log_dir, kName)) {}

  // By file_sha256 and path. kInvalidInput when lines were made with other settings.
  Result<std::map<std::string, BenchTask>> Read(const BenchSettings& settings) const;
  [[nodiscard]] bool Exists() const;
  Status Add(const BenchTask& task, const BenchSettings& settings);
  static std::string Key(const std::string& file_sha256, const std::string& path);

 private:
  FileSystem& fs_;
  const std::string path_;
};

// The newest folder below `log_dir` that holds a bench.
Result<std::string> NewestBench(FileSystem& fs, const std::string& log_dir);

}  // namespace kerf::cli
