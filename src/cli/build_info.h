// What this binary was built from. The values come from CMake (build_info.cc.in).
#pragma once

#include <string>

namespace kerf::cli {

struct BuildInfo {
  std::string version;     // "0.1.0"
  std::string revision;    // of the git checkout, "-dirty" when it had changes; empty outside one
  std::string compiler;    // "g++ 12.2.0"
  std::string build_type;  // "Release"
};

BuildInfo GetBuildInfo();

// "kerf 0.1.0 (43e6634f2a10, g++ 12.2.0, Release)"
std::string VersionLine();

}  // namespace kerf::cli
