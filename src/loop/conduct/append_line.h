// Lines of a run's own files, which several processes may append to.
#pragma once

#include <string>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::conduct {

// `line` with its newline, whole, whoever else appends; makes the folder.
inline Status AppendLine(FileSystem& fs, const std::string& path, const std::string& line) {
  KERF_RETURN_IF_ERROR(fs.CreateDirs(ParentPath(path)));
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs.OpenAppend(path));
  KERF_RETURN_IF_ERROR(file->Lock());
  Status written = file->Write(line);
  file->Unlock();
  return written;
}

}  // namespace kerf::conduct
