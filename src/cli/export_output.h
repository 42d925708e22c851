// Where an export goes: standard output, or a file that appears whole or not at all.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"
#include "cli/render/output.h"

namespace kerf::cli {

class ExportOutput {
 public:
  virtual ~ExportOutput() = default;
  virtual Status Write(std::string_view bytes) = 0;
  // Everything was written. Without it nothing stays behind.
  virtual Status Commit() = 0;
};

std::unique_ptr<ExportOutput> MakeStdoutExport(Output& out);
// Refuses folders and symbolic links. Something like /dev/null or a pipe is written to directly.
Result<std::unique_ptr<ExportOutput>> MakeFileExport(FileSystem& fs, const std::string& path);

// Whether the user means a folder: one is there, or the path ends with '/'.
bool IsFolderPath(FileSystem& fs, const std::string& path);

// "[RUN_]OP_TASK.json", not longer than a file name may be, and never twice the same.
class TaskFileNames {
 public:
  std::string Next(const std::string& run, const std::string& op, const std::string& task);

 private:
  std::set<std::string> used_;
};

}  // namespace kerf::cli
