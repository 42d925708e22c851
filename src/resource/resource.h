// Files that travel inside the kerf binary: the Python that runs references, headers that
// candidates include. Which folders: embed_resources() in src/resource/CMakeLists.txt.
//
//   for (const resource::File& file : resource::Files("include/")) …
//   KERF_ASSIGN_OR_RETURN(const std::string folder, resource::Extract(fs, cache_dir));
//   Run(folder + "/python/kerf/reference_runner.py");
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::resource {

struct File {
  std::string_view path;  // relative to the repository: "python/kerf/reference_runner.py"
  std::string_view bytes;
};

// Those whose path begins with `prefix`, sorted.
std::vector<File> Files(std::string_view prefix = "");

// 64 hex digits over paths and contents: changes whenever a file does.
std::string ContentHash(std::string_view prefix = "");

// Puts all files on the disk below `cache_dir`, in a folder named by their content, and returns it.
// Files that are there already are compared byte by byte, and put right when they differ.
// Everything is readable for everybody, because a sandboxed program may run as nobody; folders
// above are not touched. Safe when several processes extract at once.
Result<std::string> Extract(FileSystem& fs, const std::string& cache_dir);

}  // namespace kerf::resource
