// Names of folders from names in data, which are hostile: whatever comes in, one plain folder name
// comes out (docs/formats/debug_workspace.md, Folder names).
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kerf::dataset {

// Deterministic; never empty, never "." or "..", no separators, at most 120 bytes, valid UTF-8.
std::string SafeFolderName(std::string_view name);

// Gives each name a folder of its own, also where letters' case does not count.
class FolderNames {
 public:
  std::string Next(std::string_view name);

 private:
  std::set<std::string> taken_;  // in lower case
};

}  // namespace kerf::dataset
